import type { RunEvent } from '../../events/event.ts'
import type { TierChoice } from '../../select/tier.ts'
import type { Task } from '../../task/model.ts'
import { taskJson } from '../../select/task-json.ts'

/** One event of a run as the JSON of one line. */
export function runEventJson(event: RunEvent, tierOf: (task: Task) => TierChoice): object {
  switch (event.type) {
    case 'run-started':
      return { version: 1, ...event }
    case 'task-started':
      return { ...event, task: taskJson({ task: event.task, eligible: true, waiting: [] }, tierOf) }
    case 'task-completed': {
      const { seconds, ...rest } = event
      return { ...rest, duration: seconds }
    }
    default:
      return event
  }
}
