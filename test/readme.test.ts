import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { COMMANDS } from '../src/cli/commands.ts'
import { GLOBAL_OPTIONS } from '../src/cli/global-options.ts'
import type { OptionSpec } from '../src/cli/command.ts'
import { optionUsage } from '../src/cli/help.ts'

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

test('docs/commands.md is made from the table of commands', async () => {
  const options = (all: readonly OptionSpec[]): string =>
    [
      '| option | |',
      '|---|---|',
      ...all.map((one) => `| \`${optionUsage(one)}\` | ${cell(one.about)} |`),
    ].join('\n')
  const cell = (text: string): string => text.replaceAll('|', '\\|')
  const sections = COMMANDS.map(({ name, args, summary, options: own, examples }) =>
    [
      `## ${name}`,
      `\`ralph ${`${name} ${args}`.trim()}\` ${summary}.`,
      ...(own.length > 0 ? [options(own)] : []),
      `\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
    ].join('\n\n'),
  )
  const head = `# The commands

What \`ralph <command> --help\` says, on one page. It is made from the same table.

They work from anywhere inside the project. Results go to standard output, everything else to standard error. The exit code is 0 when all was done as asked, 1 when the answer is no (nothing is eligible, lint found errors, a task ended blocked), 2 when the command line, the configuration or the environment is wrong, and 130 after an interrupt.

Every command takes

${options(GLOBAL_OPTIONS)}
`
  await expect(`${head}\n${sections.join('\n\n')}\n`).toMatchFileSnapshot('../docs/commands.md')
})

const pages = ['README.md', 'CHANGELOG.md', 'docs/lint/README.md'].concat(
  ['docs', 'docs/guides'].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : [])),
  ),
)

test('what the README links is in the package', () => {
  const { files } = JSON.parse(read('package.json')) as { files: string[] }
  const links = [...read('README.md').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1]!)
  const missing = links.filter((link) => !files.some((file) => link === file || link.startsWith(`${file}/`)))
  expect(missing).toEqual([])
})

test('the commands of the guides are commands, and their options are theirs', () => {
  const shown = pages
    .filter((page) => /guides|ci\.md/.test(page))
    .flatMap((page) => [...read(page).matchAll(/(?:^|[`(] ?|&& |- )ralph ([a-z]+)([^`#\n|>]*)/gm)])
  expect(shown.length).toBeGreaterThan(20)
  const everywhere = GLOBAL_OPTIONS.map(({ name }) => `--${name}`)
  for (const [line, name, rest = ''] of shown) {
    const command = COMMANDS.find((one) => one.name === name)
    expect(command, line).toBeDefined()
    const known = [...everywhere, ...command!.options.map((option) => `--${option.name}`)]
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

test.each(['README.md', 'docs/contributing.md', '.ci/run', '.github/workflows/ci.yml'])(
  '%s runs the commands that exist',
  (file) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = [...read(file).matchAll(/npm run (?:--silent )?([\w:]+)/g)].map((match) => match[1]!)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  },
)
