import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const src = fileURLToPath(new URL('../src/', import.meta.url))
const read = (file: string): string => readFileSync(posix.join(src, file), 'utf8')

interface Exported {
  readonly name: string
  /** As the file that has it calls it. */
  readonly own: string
  readonly file: string
}

/** What index.ts exports by name; of the events, which it exports all, the union of them. */
function exported(): readonly Exported[] {
  const found = [...read('index.ts').matchAll(/export (?:type )?(\{[^}]*\}|\*) from '\.\/([^']+)'/g)]
  return found.flatMap(([, names = '', file = '']) => {
    if (names === '*') return [{ name: 'RunEvent', own: 'RunEvent', file }]
    const each = names
      .slice(1, -1)
      .split(',')
      .map((part) => part.trim().replace(/^type /, ''))
      .filter(Boolean)
    return each.map((part) => {
      const [own = '', name = own] = part.split(' as ')
      return { name, own, file }
    })
  })
}

/** The declaration, and the sentence above it. */
function described({ own, file }: Exported): { readonly kind: string; readonly text: string } {
  const pattern = new RegExp(
    `(?:/\\*\\*((?:(?!\\*/)[^])*)\\*/\\n)?export (?:async )?(function|const|class|interface|type) ${own}\\b`,
  )
  const [, comment = '', kind = ''] = pattern.exec(read(file)) ?? []
  const lines = comment.split('\n').map((line) => line.replace(/^ *\* ?/, '').trim())
  return { kind, text: lines.filter(Boolean).join(' ') }
}

const GROUPS: readonly (readonly [heading: string, files: RegExp])[] = [
  [
    'Open and read a backlog',
    /^(?:cli\/library\/backlog|config|project|backlog\/(?:read|parse|vocabulary|model|json)|base\/(?:diagnostic|errors))/,
  ],
  ['Decide', /^backlog\/(?:select|lint)/],
  ['Edit', /^backlog\/(?:finish|draft)/],
  ['Draw', /^screen/],
  ['History', /^(?:history|cli\/library\/history|git)/],
  ['Run', /^(?:cli\/library\/run|engine\/events|base\/(?:denial|gate|outcome|usage))/],
]

const HEAD = `# The library

The functions of the commands, for other programs: typed, without printing and without ending the process. A failure that the caller can fix is a \`UserError\`: \`message\` says what happened, and \`fix\` what to do.

\`\`\`ts
import { openHistory, openProject, run } from 'ralph-tasks'

const project = await openProject('.')
console.log(project.selection.next?.id)

for await (const event of run(project, { loop: true, budget: 5 })) {
  if (event.type === 'task-completed') console.log(event.id, event.commit)
}

const done = await openHistory(await openProject('.')).completions('yesterday')
\`\`\`

A run is an async iterator of its events. \`pause\`, \`resume\`, \`stop\`, \`skip\` and \`answer\` control it, and a reader that stops reading ends it cleanly. Edits are texts: \`blockTask\` and similar functions return the new text of a task's file, with every other byte unchanged, and write nothing. [examples/dashboard.mjs](../examples/dashboard.mjs) is a small page that uses it.

It is an ES module; a CommonJS program loads it with \`await import('ralph-tasks')\`.
`

it('docs/library.md is made from what is exported', async () => {
  const all = exported()
  const sections = GROUPS.map(([heading, files]) => {
    const rows = all
      .filter(({ file }) => files.test(file))
      .map((one) => {
        const { kind, text } = described(one)
        expect(kind, `${one.name} is not declared in ${one.file}`).not.toBe('')
        expect(text, `${one.name} says nothing of itself`).not.toBe('')
        const shown = text.replaceAll('|', '\\|')
        return `| \`${one.name}\` | ${kind === 'const' ? 'value' : kind} | ${shown} |`
      })
    return `## ${heading}\n\n| name | is | what |\n|---|---|---|\n${rows.join('\n')}\n`
  })
  const told = sections.join('\n')
  for (const { name } of all) expect(told, `${name} is in no group`).toContain(`| \`${name}\` |`)
  await expect(`${HEAD}\n${told}`).toMatchFileSnapshot('../docs/library.md')
})
