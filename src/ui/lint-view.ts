import type { Diagnostic } from '../base/diagnostic.ts'
import { bad, BLANK, dim, good, line, type Block, type Line } from './block.ts'
import { counted } from '../base/text.ts'

/** What `ralph lint` found. */
interface LintScreen {
  readonly diagnostics: readonly Diagnostic[]
  readonly errors: number
  readonly warnings: number
  /** How many files were looked at, and which were mended. */
  readonly checked: number
  readonly fixed: readonly string[]
}

/** One line each, `file:line:column severity rule message`, and how many. */
export function lintView(found: LintScreen): readonly Block[] {
  const { diagnostics, fixed } = found
  return [
    ...fixed.map((file) => line(good('fixed'), ` ${file}`)),
    ...diagnostics.map(lintLine),
    ...(diagnostics.length === 0 ? [] : [BLANK]),
    lintSummary(found),
  ]
}

/** How many there are. */
export function lintSummary({ diagnostics, errors, warnings, checked }: LintScreen): Block {
  if (diagnostics.length === 0) return line(`${counted(checked, 'task file')} checked, nothing wrong.`)
  const summary = [counted(errors, 'error'), counted(warnings, 'warning')].join(', ')
  return line(dim(`${summary} in ${counted(checked, 'task file')}`))
}

/** One diagnostic; it wraps below its place rather than lose the end of what it says. */
export function lintLine({ file, line, column, severity, rule, message }: Diagnostic): Block {
  const words = [
    [severity === 'error' ? bad(severity) : severity],
    [dim(rule)],
    ...message.split(' ').map((word): Line => [word]),
  ]
  return { kind: 'hang', head: [`${file}:${line}:${column} `], words, gap: ' ' }
}
