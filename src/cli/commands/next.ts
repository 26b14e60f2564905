import type { TaskState } from '../../select/selection.ts'
import { nextView } from '../../ui/next-view.ts'
import type { Context } from '../command.ts'
import { previewAgent } from '../preview-agent.ts'
import { openPreview, openProject, type Preview, type Project } from '../project.ts'
import { taskJson } from '../task-json.ts'

/** Previews the eligible task; the answer is no where there is none. */
export async function run(context: Context): Promise<number> {
  const { options, json } = context
  if (!['all', 'explain', 'prompt'].some((name) => options.on(name))) {
    const preview = await openPreview(context)
    if (json) return printNext(context, preview, null)
    if (preview.selection.outcome !== 'stuck') return show(context, preview, null)
  }
  const project = await openProject(context)
  const { next } = project.selection
  if (options.on('prompt') && next) {
    const { showPrompt } = await import('../show-prompt.ts')
    await showPrompt(context, project, next)
    return 0
  }
  const preview = { ...project, task: next }
  return json ? printNext(context, preview, project) : show(context, preview, project)
}

async function show(
  { io, options, print }: Context,
  preview: Preview,
  project: Project | null,
): Promise<number> {
  const { selection, task, dir, tierOf } = preview
  const agent = task && (await previewAgent(task, preview, io.env))
  const [all, explain] = [options.on('all'), options.on('explain')]
  const whole = project?.selection ?? null
  await print(nextView({ selection, task, whole, folder: dir, tierOf, agent, all, explain }))
  return selection.next ? 0 : 1
}

function printNext({ options, printJson }: Context, preview: Preview, project: Project | null): number {
  const { selection, task, tierOf } = preview
  const states = project?.selection.states ?? []
  const json = (wanted: (state: TaskState) => boolean): object[] =>
    states.filter(wanted).map((state) => taskJson(state, tierOf))
  printJson({
    version: 1,
    task: task && taskJson({ task, eligible: true, waiting: [] }, tierOf),
    outcome: selection.outcome,
    counts: selection.counts,
    ...(options.on('all') ? { eligible: json(({ eligible }) => eligible) } : {}),
    ...(options.on('explain') ? { waiting: json(({ waiting }) => waiting.length > 0) } : {}),
  })
  return task ? 0 : 1
}
