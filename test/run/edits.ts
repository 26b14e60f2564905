import type { TaskEdits } from '../../src/run/ports.ts'

/** The least that the edits of a task file must do. */
export const edits: TaskEdits = {
  complete: (task, { completed, commit, cost, notes }) => {
    const fields = [
      `- **Completed**: ${completed}`,
      commit && `- **Commit**: ${commit}`,
      cost && `- **Cost**: ${cost}`,
    ]
    const done = task.source.replace('- **Status**: TODO', `- **Status**: DONE`)
    const [head = '', ...rest] = done.split('\n\n## ')
    return (
      [head + '\n' + fields.filter(Boolean).join('\n'), ...rest].join('\n\n## ') +
      `\n## Completion Notes\n${notes}\n`
    )
  },
  block: (task, { reason, attempts }) =>
    task.source.replace('- **Status**: TODO', '- **Status**: BLOCKED') +
    `\n## Blocked\n${reason} (${attempts.length})\n`,
}
