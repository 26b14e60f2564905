import { UserError } from '../../base/errors.ts'
import { select, type Selection } from '../../backlog/select/selection.ts'
import { readFacts } from '../../backlog/read.ts'
import { line } from '../../screen/block.ts'
import type { DrawnTask } from '../../screen/graph-rows.ts'
import { dotOf, edgesOf, mermaidOf, graphPart } from '../../screen/graph-text.ts'
import { graphView } from '../../screen/graph-view.ts'
import type { ContextOf } from '../commands.ts'
import { findTask } from '../../config/find-task.ts'
import { openPlace } from '../../config/project.ts'

type Context = ContextOf<'graph'>

/** Shows the dependency graph: drawn in the terminal, or as text for other programs. */
export async function run(context: Context): Promise<number> {
  const { options, json, io } = context
  const forms = (['json', 'mermaid', 'dot'] as const).filter((form) => options[form])
  if (forms.length > 1) throw new UserError(`give one of ${forms.map((form) => `--${form}`).join(' and ')}`)
  const place = await openPlace(context.where)
  const { tasks } = await readFacts(place, { facts: ['title', 'depends'] })
  const selection = select(tasks)
  const [named] = context.args
  const around = named === undefined ? null : findTask(tasks, named).number
  const states = graphPart(selection.states, { around, todo: options.todo })
  if (json) context.printJson(graphJson({ ...selection, states }))
  else if (options.mermaid) context.printRaw(mermaidOf(states))
  else if (options.dot) context.printRaw(dotOf(states))
  else if (tasks.length === 0)
    await context.print([line(`There are no tasks in ${place.folders.first} yet.`)])
  else if (states.length === 0) await context.print([line('All of it is done.')])
  else await context.print(graphView(states, io.stdout.columns))
  return 0
}

function graphJson({ states, cycles }: Selection<DrawnTask>): object {
  const idOf = new Map(states.flatMap(({ task }) => task.depends.map(({ number, id }) => [number, id])))
  for (const { task } of states) idOf.set(task.number, task.id)
  const shown = new Set(states.map(({ task }) => task.id))
  return {
    version: 1,
    nodes: states.map(({ task, eligible }) => ({
      id: task.id,
      title: task.title,
      status: task.status,
      eligible,
    })),
    edges: edgesOf(states).map(({ from, to }) => ({ from: idOf.get(from), to: idOf.get(to) })),
    cycles: cycles.flatMap(({ ids }) => (ids.every((id) => shown.has(id)) ? [ids] : [])),
  }
}
