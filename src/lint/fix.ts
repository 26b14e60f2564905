import type { Task } from '../task/model.ts'
import { edited, type Splice } from '../markdown/splice.ts'
import type { LintContext, LintedTask } from './rule.ts'
import { type FoundDiagnostic, startFinding } from './lint.ts'

/** The files of a backlog, none of which need be in memory while another is. */
export interface TaskFiles {
  /** What the rules need to know of each, as it is now. */
  readonly read: () => Promise<readonly LintedTask[]>
  /** Asks of each task for a new text, writes it where there is one, and tells which files it wrote. */
  readonly rewrite: (textOf: (task: Task) => string | null) => Promise<readonly string[]>
}

/**
 * Mends what has one right answer until nothing is left that has, and tells in which files; a second time there is
 * nothing to mend.
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

// A fix may uncover one more; a rule whose fix is no fix would go on for ever.
const MOST_ROUNDS = 20

function mended(task: Task, found: FoundDiagnostic): string | null {
  const fixes = found.flatMap(({ finding }) => finding.fix ?? [])
  return fixes.length === 0 ? null : edited(task, withoutOverlaps(fixes))
}

/** Of two that overlap the first in the text is made, and the other is found again in the next round. */
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
