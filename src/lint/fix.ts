import type { Task } from '../task/model.ts'
import type { TaskFile } from '../task/parse.ts'
import type { LintContext } from './context.ts'
import { inOrder } from '../select/claims.ts'
import { type Found, startFinding } from './lint.ts'
import type { Edit } from './rule.ts'

/** The files in which something has one right answer, mended until nothing is left that has; a second time there is nothing to mend. */
export async function fix(
  tasks: readonly Task[],
  context: LintContext,
  parse: (taskFile: TaskFile) => Promise<Task>,
): Promise<TaskFile[]> {
  let current = new Map(tasks.map((task) => [task.file, task]))
  const fixed = new Map<string, string>()
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const all = inOrder([...current.values()])
    const find = startFinding(all, context)
    const mended = all.flatMap((task) => mend(task, find(task)))
    if (mended.length === 0) return [...fixed].map(([file, text]) => ({ file, text }))
    current = new Map(current)
    for (const { file, text } of mended) {
      fixed.set(file, text)
      current.set(file, await parse({ file, text }))
    }
  }
  throw new Error(`fixes undo each other in ${[...fixed.keys()].join(', ')}`)
}

// A fix may uncover one more; a rule whose fix is no fix would go on for ever.
const MOST_ROUNDS = 20

function mend(task: Task, found: Found): TaskFile[] {
  const edits = found.flatMap(({ finding }) => finding.fix ?? [])
  if (edits.length === 0) return []
  return [{ file: task.file, text: (task.bom ? '\uFEFF' : '') + applyEdits(task.source, edits) }]
}

/** Of two edits that overlap the first in the text is made, and the other is found again in the next round. */
function applyEdits(source: string, edits: readonly Edit[]): string {
  const parts: string[] = []
  let end = 0
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start < end) continue
    parts.push(source.slice(end, edit.start), edit.text)
    end = edit.end
  }
  return parts.join('') + source.slice(end)
}
