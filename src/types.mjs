// Lets the types in dist/types stand alone: what they take from valibot, which is bundled, lies beside them.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const types = join(root, 'dist/types')
const own = join(types, 'valibot.d.ts')
copyFileSync(join(root, 'node_modules/valibot/dist/index.d.mts'), own)
for (const name of readdirSync(types, { recursive: true, encoding: 'utf8' })) {
  const file = join(types, name)
  if (!name.endsWith('.d.ts') || file === own) continue
  const path = relative(dirname(file), own)
    .replaceAll('\\', '/')
    .replace(/\.d\.ts$/, '.js')
  const beside = path.startsWith('.') ? path : `./${path}`
  const text = readFileSync(file, 'utf8')
  const alone = text.replaceAll(
    /(from |import\()(['"])valibot\2/g,
    (_, before, quote) => `${before}${quote}${beside}${quote}`,
  )
  if (alone !== text) writeFileSync(file, alone)
}
