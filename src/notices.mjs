// Writes the licences of the packages that are bundled into dist/: `node src/notices.mjs <output>`.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The packages that the sources import, as the first parts of their specifiers. */
function importedPackages() {
  const src = join(root, 'src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const specifiers = files.flatMap((name) => {
    const text = readFileSync(join(src, name), 'utf8').replace(/^import type .*$/gm, '')
    return [...text.matchAll(/(?:from |import\()'([^'.][^']*)'/g)].map((match) => match[1])
  })
  const names = specifiers
    .filter((name) => !name.startsWith('node:'))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    )
  return [...new Set(names)].sort((a, b) => (a < b ? -1 : 1))
}

/** Where a package lies, looked up from one that needs it as Node does. */
function folderOf(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
    if (folder === dirname(folder)) return null
  }
}

/** The packages and all that they need, by name and version, with the text of each licence. */
function notices() {
  const found = new Map()
  const visit = (name, from) => {
    const folder = folderOf(name, from)
    if (folder === null) return
    const {
      version,
      license,
      dependencies = {},
    } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const title = `${name} ${version} (${license})`
    if (found.has(title)) return
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    found.set(
      title,
      file ? readFileSync(join(folder, file), 'utf8').trim() : 'No licence file is in the package.',
    )
    for (const needed of Object.keys(dependencies)) visit(needed, folder)
  }
  for (const name of importedPackages()) visit(name, root)
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([title, text]) => `${title}\n\n${text}\n`)
}

writeFileSync(
  process.argv[2],
  `The programs in this folder contain these packages.\n\n${notices().join(`\n${'-'.repeat(80)}\n\n`)}`,
)
