import type { Diagnostic } from '../base/diagnostic.ts'
import { bad, BLANK, dim, good, line, type Block, type Line } from './block.ts'
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

/** Shows the same warning for many files only once, with the other files' names; every error keeps its place. */
export function groupAlike(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const alike = new Map<string, Diagnostic[]>()
  for (const found of diagnostics) {
    const key = `${found.severity} ${found.rule} ${found.message}`
    const known = alike.get(key)
    if (known) known.push(found)
    else alike.set(key, [found])
  }
  const large = [...alike.values()].filter(
    (group) => group[0]?.severity === 'warning' && group.length > MOST_ALIKE,
  )
  const groupOf = new Map(large.flatMap((group) => group.map((found) => [found, group] as const)))
  return diagnostics.flatMap((found) => {
    const group = groupOf.get(found)
    if (!group) return [found]
    return found === group[0] ? [{ ...found, message: `${found.message} ${alsoIn(group.slice(1))}` }] : []
  })
}

const MOST_ALIKE = 5
const MOST_NAMED = 12

function alsoIn(others: readonly Diagnostic[]): string {
  const names = [...new Set(others.map(({ file }) => file.replace(/^.*\//, '').replace(/\.md$/i, '')))]
  const more = names.length > MOST_NAMED ? [`${names.length - MOST_NAMED} more`] : []
  return `(also in ${[...names.slice(0, MOST_NAMED), ...more].join(', ')})`
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
