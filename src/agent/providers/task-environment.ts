import type { AgentRequest, Invocation } from '../port.ts'

/** What a program that is no agent of its own learns through its environment. */
export function taskEnvironment({ task, limits }: AgentRequest): Invocation['env'] {
  return {
    RALPH_TASK: task.id,
    RALPH_TASK_FILE: task.file,
    RALPH_ATTEMPT: String(task.attempt),
    RALPH_MAX_TURNS: String(limits.turns),
    RALPH_TIMEOUT: String(limits.seconds),
    RALPH_NOTES_FILE: task.notesFile,
  }
}
