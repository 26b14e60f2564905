import type { Diagnostic } from '../base/diagnostic.ts'
import { dim, good, bad, line, BLANK, type Block, type Line } from './block.ts'
import { counted } from '../base/text.ts'

/** The results of `ralph lint`. */
interface LintScreen {
  readonly diagnostics: readonly Diagnostic[]
  readonly errors: number
  readonly warnings: number
  /** The number of checked files, and the fixed files. */
  readonly checked: number
  readonly fixed: readonly string[]
  /** The tasks with a new number. */
  readonly renumbered: readonly { readonly from: string; readonly to: string; readonly file: string }[]
}

/** One line for each, `file:line:column severity rule message`, and their number. */
export function lintView(found: LintScreen): readonly Block[] {
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
    const [first] = byFile.values()
    if (found !== first) return []
    return [{ ...found, message: `${found.message} ${alsoIn([...byFile.values()].slice(1))}` }]
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
export function lintSummary({ diagnostics, errors, warnings, checked }: LintScreen): Block {
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
