import { readFileSync } from 'node:fs'
import type { ArtifactLocation, Log, Region, Result } from 'sarif'
import type { Renumbered } from '../authoring/renumber.ts'
import { builtFile } from '../base/built-file.ts'
import type { Diagnostic, Severity } from '../base/diagnostic.ts'
import { counted } from '../base/text.ts'
import { dim, good, bad, line, BLANK, type Block, type Line, type View } from './block.ts'
import { layOut } from './layout.ts'
import { printable } from './printable.ts'

/** The results of `ralph lint`. */
interface LintResult {
  readonly diagnostics: readonly Diagnostic[]
  readonly errors: number
  readonly warnings: number
  /** The number of checked files, and the fixed files. */
  readonly checked: number
  readonly fixed: readonly string[]
  /** The tasks with a new number. */
  readonly renumbered: Renumbered
}

/** One line for each, `file:line:column severity rule message`, and their number. */
export function lintView(found: LintResult): View {
  const { diagnostics, fixed, renumbered } = found
  return [
    ...renumbered.map(({ from, to, file }) =>
      line(good('fixed'), ` ${from} is ${to} now, for the main branch has another ${from}: ${file}`),
    ),
    ...fixed.map((file) => line(good('fixed'), ` ${file}`)),
    ...groupAlike(diagnostics).map(lintLine),
    ...(diagnostics.length === 0 ? [] : [BLANK]),
    lintSummary(found),
  ]
}

/** Shows what is the same in many files only once, at the first place, with the other files' names. */
export function groupAlike(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const keyOf = ({ severity, rule, message }: Diagnostic): string => `${severity} ${rule} ${message}`
  const alike = new Map<string, Map<string, Diagnostic>>()
  for (const found of diagnostics) {
    const byFile = alike.get(keyOf(found)) ?? new Map<string, Diagnostic>()
    // A second place in one file would be lost behind the file's name.
    if (!byFile.has(found.file)) byFile.set(found.file, found)
    alike.set(keyOf(found), byFile)
  }
  return diagnostics.flatMap((found) => {
    const byFile = alike.get(keyOf(found))!
    if (byFile.size <= MOST_ALIKE || byFile.get(found.file) !== found) return [found]
    const [first, ...others] = byFile.values()
    return found === first ? [{ ...found, message: `${found.message} ${alsoIn(others)}` }] : []
  })
}

const MOST_ALIKE = 5
/** Each error has to be fixed, so nearly all are named. */
const MOST_NAMED = { error: 100, warning: 12 } as const

function alsoIn(others: readonly Diagnostic[]): string {
  const names = others.map(({ file }) => file.replace(/^.*\//, '').replace(/\.md$/i, ''))
  const most = MOST_NAMED[others[0]?.severity ?? 'warning']
  const more = names.length > most ? [`${names.length - most} more`] : []
  return `(also in ${[...names.slice(0, most), ...more].join(', ')})`
}

/** The numbers of errors and warnings. */
export function lintSummary({ diagnostics, errors, warnings, checked }: LintResult): Block {
  if (diagnostics.length === 0) return line(`${counted(checked, 'task file')} checked, nothing wrong.`)
  const summary = [counted(errors, 'error'), counted(warnings, 'warning')].join(', ')
  return line(dim(`${summary} in ${counted(checked, 'task file')}`))
}

/** One diagnostic; a long message wraps below its place. */
export function lintLine({ file, line, column, severity, rule, message }: Diagnostic): Block {
  const words = [
    [severity === 'error' ? bad(severity) : severity],
    [dim(rule)],
    ...message.split(' ').map((word): Line => [word]),
  ]
  return { kind: 'hang', head: [`${file}:${line}:${column} `], words, gap: ' ' }
}

/**
 * Workflow commands that GitHub shows at the lines of a pull request; `prefix` is the path from the top of the repository
 * to the project: empty, or with a slash at its end.
 */
export function githubAnnotations(diagnostics: readonly Diagnostic[], prefix: string): string {
  const lines = diagnostics.map((diagnostic) => {
    const { file, line, column, severity, rule, message, endLine, endColumn } = diagnostic
    const properties = {
      file: `${prefix}${file}`,
      line,
      ...(endLine === undefined ? {} : { endLine }),
      // GitHub accepts columns only for a range on one line.
      ...(endLine === undefined || endLine === line ? { col: column } : {}),
      ...(endLine === line && endColumn !== undefined ? { endColumn } : {}),
      title: `ralph lint: ${rule}`,
    }
    return githubCommand(severity, properties, message)
  })
  return lines.join('')
}

/** One workflow command: `::error file=…,line=3::message`. */
export function githubCommand(
  severity: Severity,
  properties: Readonly<Record<string, string | number>>,
  message: string,
): string {
  const pairs = Object.entries(properties).map(([key, value]) => `${key}=${escapedProperty(String(value))}`)
  return `::${severity} ${pairs.join(',')}::${escaped(message)}\n`
}

/** Escapes characters that would end the command. */
function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapedProperty(text: string): string {
  return escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

/** A view as Markdown, for a job's summary. */
export function jobSummary(title: string, blocks: View): string {
  const text = layOut(blocks, { columns: null, colour: false })
  return `### ${title}\n\n\`\`\`text\n${text.replaceAll('```', "'''")}\`\`\`\n`
}

/** What SARIF says besides the findings. */
interface SarifFacts {
  readonly version: string
  /** The address of ralph's repository, which has the pages of the rules; absent before the package is published. */
  readonly homepage?: string
  readonly rules: readonly { readonly name: string; readonly severity: Severity }[]
  /** The path from the top of the repository to the project: empty, or with a slash at its end. */
  readonly prefix: string
}

/** lint's findings as SARIF 2.1.0, which forges and editors read. */
export function sarifLog(
  diagnostics: readonly Diagnostic[],
  { version, homepage, rules, prefix }: SarifFacts,
): Log {
  const indexes = new Map(rules.map(({ name }, index) => [name, index]))
  const artifactLocation = (file: string): ArtifactLocation => ({
    uri: `${prefix}${file}`.split('/').map(encodeURIComponent).join('/'),
    uriBaseId: '%SRCROOT%',
  })
  const results = diagnostics.map((diagnostic): Result => {
    const { file, severity, rule, message, fix } = diagnostic
    const ruleIndex = indexes.get(rule)
    return {
      ruleId: rule,
      ...(ruleIndex === undefined ? {} : { ruleIndex }),
      level: severity,
      message: { text: printable(message) },
      locations: [
        { physicalLocation: { artifactLocation: artifactLocation(file), region: regionOf(diagnostic) } },
      ],
      ...(fix && {
        fixes: [
          {
            description: { text: 'ralph lint --fix' },
            artifactChanges: [
              {
                artifactLocation: artifactLocation(file),
                replacements: [{ deletedRegion: regionOf(fix), insertedContent: { text: fix.text } }],
              },
            ],
          },
        ],
      }),
    }
  })
  const driver = {
    name: 'ralph',
    semanticVersion: version,
    rules: rules.map(({ name, severity }) => {
      const page = `docs/lint/${name}.md`
      // Its links lead to pages beside it.
      const text = readFileSync(builtFile(`../${page}`), 'utf8').replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
      return {
        id: name,
        shortDescription: { text: titleIn(text) },
        help: { text, markdown: text },
        ...(homepage && { helpUri: `${homepage.replace(/#.*/, '')}/blob/v${version}/${page}` }),
        defaultConfiguration: { level: severity },
      }
    }),
  }
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  }
}

/** The first sentence of a rule's page, without the severity. */
function titleIn(page: string): string {
  return /^An? (?:error|warning)[^.]*\. (.*?\.)(?= |$)/m.exec(page)?.[1] ?? ''
}

type Place = Pick<Diagnostic, 'line' | 'column' | 'endLine' | 'endColumn'>

function regionOf({ line, column, endLine, endColumn }: Place): Region {
  const end = endLine === undefined || endColumn === undefined ? {} : { endLine, endColumn }
  return { startLine: line, startColumn: column, ...end }
}
