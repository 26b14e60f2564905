/** Writes a task of the ordinary style in another one that is read leniently; which one the number tells. */
export function restyle(text: string, number: number): string {
  const change = STYLES[number % STYLES.length]!
  return change(text)
}

const FIELD = /^- \*\*([\w ]+)\*\*: (.*)$/gm

const STYLES: readonly ((text: string) => string)[] = [
  (text) => text.replace(FIELD, '* $1: $2').replaceAll('## Acceptance Criteria', '## AC'),
  (text) => text.replace(FIELD, '**$1**: $2'),
  (text) => text.replace(FIELD, '- __$1__: *$2*'),
  (text) => text.replace(/^(# T-\d+): /m, '$1 — ').replace(/(?<=Depends.*)T-\d+/g, '[$&]($&.md)'),
  (text) => text.replace(/^# (.*)$/m, '$1\n===='),
  (text) => text.replace(/^- \*\*Touches\*\*: (.*), /m, '- **Touches**: $1,\n  '),
  (text) => text.replace(/\n\n- \*\*Status/, '\n\n> Agreed on — see §2.\n\n- **Status'),
  (text) => text.replace(/\n\n- \*\*Status/, '\n\n<!-- - **Status**: BLOCKED -->\n\n- **Status'),
  (text) => text.replace(/^- \*\*Depends\*\*: T-.*$/m, '$& (see _there_)'),
  (text) => text.replace(/^(- \*\*Depends\*\*: .*), (T-\d+)$/m, '$1 and $2').replace(/^# T/m, '# Task T'),
  (text) => text.replace(/^(- \*\*Milestone\*\*): (\d+) — (.*)$/m, '$1： $2 — `$3`'),
  asTable,
  asFrontmatter,
  (text) => `\uFEFF${text.replaceAll('\n', '\r\n')}`,
]

function asTable(text: string): string {
  const rows = text.replace(FIELD, '| $1 | $2 |')
  return rows.replace(/^\| Status/m, '| Field | Value |\n|---|---|\n| Status')
}

function asFrontmatter(text: string): string {
  const fields = [...text.matchAll(FIELD)].map(([, key, value]) => `${key}: ${JSON.stringify(value)}\n`)
  return `---\n${fields.join('')}---\n\n${text.replace(/^- \*\*[\w ]+\*\*: .*\n/gm, '')}`
}
