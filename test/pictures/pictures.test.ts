import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { ralph } from '../cli/ralph.ts'
import { svgOf } from './svg.ts'

const shop = fileURLToPath(new URL('../cli/fixtures/shop', import.meta.url))
const [COLUMNS, ROWS] = [100, 40]

/** The pictures of README and docs are what the program shows; `npm run pictures` makes them anew. */
it.each([['next'], ['next', '--explain'], ['list']])('ralph %s %s', async (...argv) => {
  const args = argv.filter((arg) => arg !== undefined)
  const { stdout } = await ralph(args, { cwd: shop, columns: COLUMNS })
  const picture = await svgOf(stdout, { title: `ralph ${args.join(' ')}`, columns: COLUMNS, rows: ROWS })
  await expect(picture).toMatchFileSnapshot(`../../docs/pictures/${args.join('').replaceAll('--', '-')}.svg`)
})
