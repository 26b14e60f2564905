import fc from 'fast-check'

/** What a generated document means, whatever its style. */
export interface Meaning {
  readonly title: string
  readonly status: 'TODO' | 'DONE' | 'BLOCKED'
  readonly depends: readonly number[]
  readonly touches: readonly string[]
  readonly milestone: string
  readonly produces: readonly string[]
  readonly blocked: boolean
}

/** A document and what it means. */
export interface Sample {
  readonly id: string
  readonly text: string
  readonly meaning: Meaning
}

const word = fc.constantFrom(
  'login',
  'form',
  'reset',
  '결제',
  'audit',
  'Größe',
  'v2',
  'a_b',
  'façade',
  '登录',
)
const title = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '))
const path = fc.constantFrom(
  'src/a.ts',
  'src/auth/log_in.ts',
  'lib/x-y.js',
  'docs/ü.md',
  'test/deep/er.test.ts',
)
const status = fc.constantFrom('TODO' as const, 'DONE' as const, 'BLOCKED' as const)

/** Any meaning that a task file can have. */
export const meanings: fc.Arbitrary<Meaning> = fc.record({
  title,
  status,
  depends: fc
    .uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 5 })
    .map((ids) => ids.sort((a, b) => a - b)),
  touches: fc.uniqueArray(path, { maxLength: 3 }),
  milestone: fc.constantFrom('1 — Authentication', '2 — Billing', '12 — Später'),
  produces: fc.uniqueArray(path, { maxLength: 4 }),
  blocked: fc.boolean(),
})

const pad = (number: number): string => `T-${String(number).padStart(3, '0')}`

const dependsText = fc.constantFrom<(ids: readonly number[]) => string>(
  (ids) => ids.map(pad).join(', '),
  (ids) => ids.map(pad).join('; '),
  (ids) => ids.map(pad).join('、'),
  (ids) => ids.map(pad).join(' and '),
  (ids) => ids.map(pad).join(' '),
  (ids) => ids.map((id) => `T-${id}`).join(', '),
  (ids) => ids.map((id) => `[${pad(id)}](${pad(id)}.md)`).join(', '),
  (ids) => ids.map((id) => `\`${pad(id)}\``).join(', '),
  (ids) => ids.map((id) => `${pad(id)} (for the form)`).join(', '),
  (ids) => runsOf(ids, '–'),
  (ids) => runsOf(ids, '..'),
  (ids) => runsOf(ids, ' to '),
)

function runsOf(ids: readonly number[], sign: string): string {
  const runs: number[][] = []
  for (const id of ids) {
    const last = runs.at(-1)
    if (last && last.at(-1) === id - 1) last.push(id)
    else runs.push([id])
  }
  return runs
    .map((run) => (run.length > 1 ? `${pad(run[0]!)}${sign}${pad(run.at(-1)!)}` : pad(run[0]!)))
    .join(', ')
}

const headingText = fc.constantFrom<(id: string, title: string) => string>(
  (id, text) => `# ${id}: ${text}`,
  (id, text) => `# ${id} — ${text}`,
  (id, text) => `# ${id} - ${text}`,
  (id, text) => `# ${id} · ${text}`,
  (id, text) => `# ${id}：${text}`,
  (id, text) => `# ${id} ${text}`,
  (id, text) => `# Task ${id}: ${text}`,
  (id, text) => `# ${id}: ${text} #`,
  (id, text) => `${id}: ${text}\n====`,
)

const none = fc.constantFrom('none', '(none)', 'N/A', '-', '—', '', 'None', 'None.', 'none (the first one)')

/** How a list of fields is laid out. */
type Block = (fields: readonly (readonly [string, string])[]) => string

const bulleted =
  (bullet: string, key: (name: string) => string, gap = '\n'): Block =>
  (fields) =>
    fields.map(([name, value]) => `${bullet} ${key(name)} ${value}`.trimEnd()).join(gap)

const block = fc.constantFrom<Block>(
  bulleted('-', (name) => `**${name}**:`),
  bulleted('*', (name) => `**${name}**:`),
  bulleted('+', (name) => `**${name}**:`),
  bulleted('-', (name) => `**${name}:**`),
  bulleted('-', (name) => `${name}:`),
  bulleted('-', (name) => `__${name}__:`),
  bulleted('-', (name) => `**${name.toUpperCase()}**：`),
  bulleted('-', (name) => `**${name.toLowerCase()}**:`, '\n\n'),
  bulleted('-  ', (name) => `**${name}**:`),
  (fields) => fields.map(([name, value]) => `**${name}**: ${value}`.trimEnd()).join('\n'),
  (fields) => fields.map(([name, value]) => `**${name}**: ${value}`.trimEnd()).join('  \n'),
  (fields) => fields.map(([name, value]) => `**${name}**: ${value}`.trimEnd()).join('\n\n'),
  (fields) =>
    ['| Field | Value |', '|---|---|', ...fields.map(([name, value]) => `| ${name} | ${value} |`)].join('\n'),
  (fields) =>
    ['| | |', '| :-- | --: |', ...fields.map(([name, value]) => `| **${name}** | ${value} |`)].join('\n'),
  (fields) =>
    fields.map(([name, value]) => `- **${name}**: ${value.replaceAll(', ', ',\n  ')}`.trimEnd()).join('\n'),
  (fields) => fields.map(([name, value]) => `- **${name}**: ${value} <!-- was: DONE, T-099 -->`).join('\n'),
)

const before = fc.constantFrom(
  '',
  '<!-- - **Status**: DONE -->\n\n',
  '> - **Status**: DONE\n\n',
  '---\n\n',
  '```\n- **Status**: DONE\n```\n\n',
)
const body = fc.constantFrom(
  '## Description\nWhat and why.\n',
  '## Description\n\n```md\n## Blocked\n- **Status**: DONE\n```\n',
  '## Description\n\n<!--\n## Blocked\n-->\n\n- a\n  - b\n',
  '## Description\n\n> ## Blocked\n\n    ## Blocked\n\n1. one\n   ```\n   ## Blocked\n   ```\n',
  'Notes\n---\n\ntext\n',
  '## Other\n- **Status**: DONE\n\n### Small\n- **Status**: DONE\n',
)

const quotedLine = fc.constantFrom<(key: string, value: string) => string>(
  (key, value) => `> - **${key}**: ${value}`,
  (key, value) => `> **${key}**: ${value}`,
  (key, value) => `> ${key}: ${value}`,
  (key, value) => `> ${key}：${value}`,
)

/** A document of any of the styles that are read leniently, with what it means. */
export const samples: fc.Arbitrary<Sample> = fc
  .record({
    meaning: meanings,
    number: fc.integer({ min: 61, max: 999 }),
    heading: headingText,
    block,
    dependsText,
    none,
    before,
    body,
    quoted: fc.boolean(),
    statusCase: fc.constantFrom(
      (text: string) => text,
      (text: string) => text.toLowerCase(),
      (text: string) => `\`${text}\``,
      (text: string) => `**${text}**`,
    ),
    dependsKey: fc.constantFrom('Depends', 'Dependencies', 'Depends on', 'Depends_on', 'Blocked by'),
    ending: fc.constantFrom('\n', '\r\n'),
    bom: fc.boolean(),
    final: fc.boolean(),
    asFrontmatter: fc.boolean(),
    producesAs: fc.constantFrom('section', 'field'),
    place: fc.constantFrom('block', 'block', 'section', 'quote'),
    quotedLine,
  })
  .map(({ meaning, number, ...style }) => {
    const id = pad(number)
    const touches = meaning.touches.map((touched) => (style.quoted ? `\`${touched}\`` : touched)).join(', ')
    const fields: [string, string][] = [
      ['Status', style.statusCase(meaning.status)],
      ['Milestone', meaning.milestone],
      [style.dependsKey, meaning.depends.length > 0 ? style.dependsText(meaning.depends) : style.none],
      ['Touches', touches],
    ]
    const yaml = [
      '---',
      `status: ${meaning.status}`,
      `depends_on: [${meaning.depends.map(pad).join(', ')}]`,
      `milestone: "${meaning.milestone}"`,
      `touches: [${meaning.touches.join(', ')}]`,
      '---',
      '',
    ].join('\n')
    const items = meaning.produces.map((made) => `- \`${made}\``).join('\n')
    const isField = style.producesAs === 'field' && meaning.produces.length > 0
    const asField = isField ? `\n\n- **Produces**:\n${items.replace(/^/gm, '  ')}\n` : ''
    const asSection = isField ? '' : `\n## Produces\n${items || 'none'}\n`
    const blockAt = (place: string, all: [string, string][]): string => {
      if (place === 'quote')
        return all.map(([key, value]) => style.quotedLine(key, value).trimEnd()).join('\n')
      return (place === 'section' ? '## Metadata\n\n' : '') + style.block(all)
    }
    const text = [
      style.asFrontmatter ? yaml : '',
      `${style.heading(id, meaning.title)}\n\n`,
      // What is quoted counts where nothing else says Status.
      style.asFrontmatter || style.place === 'block' ? style.before : '',
      style.asFrontmatter ? '' : blockAt(style.place, fields),
      asField,
      '\n\n',
      style.body,
      asSection,
      meaning.blocked ? '\n## BLOCKED\nNo key.\n' : '',
    ].join('')
    const ended = style.final ? text : text.trimEnd()
    return { id, meaning, text: (style.bom ? '\uFEFF' : '') + ended.replaceAll('\n', style.ending) }
  })
