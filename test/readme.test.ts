import { existsSync, readFileSync } from 'node:fs'
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

test.each([
  'README.md',
  'docs/architecture.md',
  'docs/contributing.md',
  'docs/task-format.md',
  'docs/runs.md',
])('the links of %s lead somewhere', (file) => {
  const links = [...read(file).matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1]!)
  const broken = links.filter((link) => !existsSync(join(root, posix.join(posix.dirname(file), link))))
  expect(broken).toEqual([])
})

test.each(['README.md', 'docs/contributing.md', '.ci/run', '.github/workflows/ci.yml'])('%s runs the commands that exist', (file) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const named = [...read(file).matchAll(/npm run (?:--silent )?([\w:]+)/g)].map((match) => match[1]!)
  expect(named.filter((name) => !(name in scripts))).toEqual([])
})
