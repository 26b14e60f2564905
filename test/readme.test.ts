import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { COMMANDS } from '../src/cli/commands.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

test('the command table of the README is that of the program', () => {
  const rows = COMMANDS.map(({ name, args, options, summary }) => {
    const flags = options.map(({ name, value }) => `\`--${name}${value ? ` ${value}` : ''}\``).join(' ')
    return `| \`ralph ${`${name} ${args}`.trim()}\` | ${summary}${flags ? `<br>${flags}` : ''} |`
  })
  const table = ['| command | does |', '|---|---|', ...rows].join('\n')
  expect(read('README.md')).toContain(`<!-- commands -->\n${table}\n<!-- /commands -->`)
})

const pages = ['README.md', 'CHANGELOG.md', 'docs/lint/README.md'].concat(
  readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
)

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

test.each(['README.md', 'docs/contributing.md', '.ci/run', '.github/workflows/ci.yml'])(
  '%s runs the commands that exist',
  (file) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = [...read(file).matchAll(/npm run (?:--silent )?([\w:]+)/g)].map((match) => match[1]!)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  },
)
