import type { Task } from '../model.ts'
import { edited, type Splice } from '../markdown/splice.ts'
import type { LintContext, LintedTask } from './rule.ts'
import { type FoundDiagnostic, startFinding } from './lint.ts'

/** The files of a backlog, which need not be in memory together. */
interface TaskFiles {
  /** The facts of each task that the rules need, from its current file. */
  readonly read: () => Promise<readonly LintedTask[]>
  /** Calls `edit` for each task, writes the text that it returns, and returns the files that were written. */
  readonly rewrite: (textOf: (task: Task) => string | null) => Promise<readonly string[]>
}

/**
 * Applies fixes until there are none left, and returns the changed files; a second call changes nothing.
 */
export async function fix(
  tasks: readonly LintedTask[],
  files: TaskFiles,
  context: LintContext,
): Promise<readonly string[]> {
  const fixed = new Set<string>()
  let known = tasks
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const find = startFinding(known, context)
    const rewritten = await files.rewrite((task) => mended(task, find(task)))
    if (rewritten.length === 0) return [...fixed]
    for (const file of rewritten) fixed.add(file)
    known = await files.read()
  }
  throw new Error(`fixes undo each other in ${[...fixed].join(', ')}`)
}

// A fix may lead to another; the limit ends a rule whose fix does not work.
const MOST_ROUNDS = 20

function mended(task: Task, found: FoundDiagnostic): string | null {
  const fixes = found.flatMap(({ finding }) => finding.fix ?? [])
  return fixes.length === 0 ? null : edited(task, withoutOverlaps(fixes))
}

/** Of two that overlap, the first in the text is applied, and the other is found again in the next round. */
function withoutOverlaps(splices: readonly Splice[]): readonly Splice[] {
  let end = 0
  return splices
    .toSorted((a, b) => a.start - b.start || a.end - b.end)
    .filter((splice) => {
      if (splice.start < end) return false
      end = splice.end
      return true
    })
}
