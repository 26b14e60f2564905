import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { COMMANDS } from '../src/cli/commands.ts'
import { GLOBAL_OPTIONS } from '../src/cli/options/option.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const pages = ['README.md', 'CHANGELOG.md', 'test/bench/README.md'].concat(
  ['docs', 'docs/lint'].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : [])),
  ),
)

test('what the README links is in the package', () => {
  const { files } = JSON.parse(read('package.json')) as { files: string[] }
  const links = [...read('README.md').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1]!)
  const missing = links.filter((link) => !files.some((file) => link === file || link.startsWith(`${file}/`)))
  expect(missing).toEqual([])
})

test('the README fits on two screens, and says how to try and how to test', () => {
  const text = read('README.md')
  expect(text.split('\n').length).toBeLessThanOrEqual(120)
  for (const command of ['npm ci && npm run demo', 'npm cit'])
    expect(text).toContain(`\`\`\`sh\n${command}\n`)
})

/** The lines of shell and the short pieces of code of a page. */
function codeOf(page: string): readonly string[] {
  const text = read(page)
  const fences = [...text.matchAll(/^ *```(?:sh|yaml)\n([^]*?)^ *```/gm)].map((match) => match[1]!)
  const spans = [...text.replace(/^ *```[^]*?^ *```/gm, '').matchAll(/`([^`\n]+)`/g)].map(
    (match) => match[1]!,
  )
  return [...fences.flatMap((fence) => fence.split('\n')), ...spans]
}

test('the commands of the pages are commands, and their options are theirs', () => {
  const shown = pages
    .flatMap(codeOf)
    .flatMap((line) => [...line.matchAll(/(?:^|&& |- |\| |: )ralph ([a-z]+)([^#|>]*)/g)])
  expect(shown.length).toBeGreaterThan(100)
  const everywhere = GLOBAL_OPTIONS.map(({ name }) => `--${name}`)
  for (const [line, name, rest = ''] of shown) {
    const command = COMMANDS.find((one) => one.name === name)
    expect(command, line).toBeDefined()
    const known = [...everywhere, '--help', ...command!.options.map((option) => `--${option.name}`)]
    for (const [flag] of rest.matchAll(/--[a-z-]+/g)) expect(known, line).toContain(flag)
  }
})

test.each(pages)('the links of %s lead somewhere', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)]
  const broken = links.filter(([, path, anchor]) => {
    const target = path ? posix.join(posix.dirname(page), path) : page
    return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
  })
  expect(broken.map(([link]) => link)).toEqual([])
})

/** The names that GitHub gives the headings of a page. */
function anchorsOf(page: string): readonly string[] {
  const headings = [...read(page).matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!)
  return headings.map((text) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('every page can be reached from the first one', () => {
  const linked = new Set(['docs/README.md'])
  for (const page of linked)
    for (const [, path = ''] of read(page).matchAll(/\]\((?!https?:)([^)#]+\.md)/g))
      linked.add(posix.join(posix.dirname(page), path))
  expect(pages.filter((page) => page.startsWith('docs/') && !linked.has(page))).toEqual([])
})

test('every picture is on a page', () => {
  const text = pages.map(read).join('\n')
  const pictures = readdirSync(join(root, 'docs/pictures'))
  expect(pictures.filter((name) => !text.includes(`pictures/${name})`))).toEqual([])
})

test('the files that the architecture names are there', () => {
  const named = [...read('docs/architecture.md').matchAll(/`((?:src|test)\/[\w./-]+)`/g)]
  expect(named.map((match) => match[1]!).filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test.each(['README.md', 'docs/architecture.md', '.ci/run', '.github/workflows/ci.yml'])(
  '%s runs the commands that exist',
  (file) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = [...read(file).matchAll(/npm run (?:--silent )?([\w:]+)/g)].map((match) => match[1]!)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  },
)
