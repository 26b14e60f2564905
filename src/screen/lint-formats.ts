import type { ArtifactLocation, Log, Region, Result } from 'sarif'
import type { Diagnostic, Severity } from '../base/diagnostic.ts'
import type { Block } from './block.ts'
import { layOut } from './layout.ts'
import { printable } from './printable.ts'

/** The path from the top of the repository to the project: empty, or with a slash at its end. */
export interface InRepository {
  readonly prefix: string
}

/** Workflow commands that GitHub shows at the lines of a pull request. */
export function githubAnnotations(diagnostics: readonly Diagnostic[], { prefix }: InRepository): string {
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
export function jobSummary(title: string, blocks: readonly Block[]): string {
  const text = layOut(blocks, { columns: null, colour: false })
  return `### ${title}\n\n\`\`\`text\n${text.replaceAll('```', "'''")}\`\`\`\n`
}

/** The tool section of a SARIF log. */
interface SarifTool extends InRepository {
  readonly version: string
  readonly rules: readonly { readonly name: string; readonly severity: Severity }[]
}

/** lint's findings as SARIF 2.1.0, which forges and editors read. */
export function sarifLog(diagnostics: readonly Diagnostic[], { version, rules, prefix }: SarifTool): Log {
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
    rules: rules.map(({ name, severity }) => ({
      id: name,
      shortDescription: { text: `docs/lint/${name}.md` },
      defaultConfiguration: { level: severity },
    })),
  }
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  }
}

function regionOf({
  line,
  column,
  endLine,
  endColumn,
}: Pick<Diagnostic, 'line' | 'column' | 'endLine' | 'endColumn'>): Region {
  const end = endLine === undefined || endColumn === undefined ? {} : { endLine, endColumn }
  return { startLine: line, startColumn: column, ...end }
}
