import type { TaskEdits } from '../run/ports.ts'
import { blockTask, completeTask } from '../task/finish.ts'
import type { TaskVocabulary } from '../task/vocabulary.ts'

/** The edits of a run, in the words of the team. */
export function taskEdits(vocabulary: TaskVocabulary): TaskEdits {
  return {
    complete: (task, completion) => completeTask(task, completion, vocabulary),
    block: (task, blockage) => blockTask(task, blockage, vocabulary),
  }
}
