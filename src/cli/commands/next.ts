import type { TaskState } from '../../select/selection.ts'
import type { Task } from '../../task/model.ts'
import { nextView } from '../../ui/next-view.ts'
import type { Context } from '../command.ts'
import { openProject, type Project } from '../project.ts'
import { taskJson } from '../task-json.ts'

/** Previews the eligible task; the answer is no where there is none. */
export async function run(context: Context): Promise<number> {
  const project = await openProject(context)
  if (context.options.on('prompt') && project.selection.next) {
    const { showPrompt } = await import('../show-prompt.ts')
    await showPrompt(context, project, project.selection.next)
    return 0
  }
  const [all, explain] = [context.options.on('all'), context.options.on('explain')]
  if (context.json) context.printJson(nextJson(project, { all, explain }))
  else {
    const { selection, dir, tierOf, config } = project
    const agentOf = (task: Task): string | null =>
      task.agent ?? config.tiers.rows[tierOf(task).tier].agent ?? config.agent
    await context.print(nextView({ selection, folder: dir, tierOf, agentOf, all, explain }))
  }
  return project.selection.next ? 0 : 1
}

function nextJson({ selection, tierOf }: Project, asked: { all: boolean; explain: boolean }): object {
  const { next, outcome, counts, states } = selection
  const json = (wanted: (state: TaskState) => boolean): object[] =>
    states.filter(wanted).map((state) => taskJson(state, tierOf))
  return {
    version: 1,
    task: json(({ task }) => task === next)[0] ?? null,
    outcome,
    counts,
    ...(asked.all ? { eligible: json(({ eligible }) => eligible) } : {}),
    ...(asked.explain ? { waiting: json(({ waiting }) => waiting.length > 0) } : {}),
  }
}
