// Writes the library's types as one file, which needs no package: what they take from valibot and others is in it.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const root = fileURLToPath(new URL('..', import.meta.url))
const types = await rolldown({
  input: join(root, 'node_modules/.cache/ralph/types/index.d.ts'),
  cwd: root,
  platform: 'node',
  external: [/^node:/],
  plugins: dts({ dtsInput: true, generator: 'oxc', tsconfig: false }),
})
await types.write({ file: join(root, 'dist/index.d.ts') })
