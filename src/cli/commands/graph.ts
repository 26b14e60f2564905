import { UserError } from '../../base/errors.ts'
import { select, type Selection } from '../../backlog/select/selection.ts'
import { readFacts } from '../../backlog/read.ts'
import { line } from '../../screen/block.ts'
import { graphView, type DrawnTask } from '../../screen/graph-rows.ts'
import { dotOf, edgesOf, mermaidOf, graphPart } from '../../screen/graph-text.ts'
import type { ContextOf } from '../commands.ts'
import { findTask } from '../../config/find-task.ts'

/** Shows the dependency graph: drawn in the terminal, or as text for other programs. */
export async function run(context: ContextOf<'graph'>): Promise<number> {
  const { options, io } = context
  const forms = (['json', 'mermaid', 'dot'] as const).filter((form) => options[form])
  if (forms.length > 1) throw new UserError(`give one of ${forms.map((form) => `--${form}`).join(' and ')}`)
  const place = await context.place()
  const { tasks } = await readFacts(place, { facts: ['title', 'depends'] })
  const selection = select(tasks)
  const [named] = context.args
  const around = named === undefined ? null : findTask(tasks, named).number
  const states = graphPart(selection.states, { around, todo: options.todo })
  if (options.mermaid || options.dot) {
    context.printRaw((options.dot ? dotOf : mermaidOf)(states))
    return 0
  }
  return context.answer(graphJson({ ...selection, states }), () => {
    if (tasks.length === 0) return [line(`There are no tasks in ${place.folders.first} yet.`)]
    return states.length === 0 ? [line('All of it is done.')] : graphView(states, io.stdout.columns)
  })
}

function graphJson({ states, cycles }: Selection<DrawnTask>): object {
  const tasks = states.map(({ task }) => task)
  const named = [...tasks.flatMap(({ depends }) => depends), ...tasks]
  const idOf = new Map(named.map(({ number, id }) => [number, id]))
  const shown = new Set(tasks.map(({ id }) => id))
  return {
    nodes: states.map(({ task: { id, title, status }, eligible }) => ({ id, title, status, eligible })),
    edges: edgesOf(states).map(({ from, to }) => ({ from: idOf.get(from), to: idOf.get(to) })),
    cycles: cycles.flatMap(({ ids }) => (ids.every((id) => shown.has(id)) ? [ids] : [])),
  }
}
