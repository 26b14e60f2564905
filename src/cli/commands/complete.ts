import { UserError } from '../../base/errors.ts'
import type { Happening } from '../../engine/events/event.ts'
import type { GateResult } from '../../base/nouns.ts'
import { Agents } from '../../agents/agents.ts'
import { findTask } from '../../config/find-task.ts'
import { openProject } from '../../config/project.ts'
import { runOptions } from '../setup/run-options.ts'
import { openSandbox, sandboxMode } from '../setup/sandbox.ts'
import { runPorts } from '../setup/run-ports.ts'
import { refuseToStart } from '../../base/world.ts'
import { completeByHand, openedTask } from '../../engine/complete.ts'
import type { Task } from '../../backlog/model.ts'
import { line } from '../../screen/block.ts'
import type { Context } from '../command.ts'
import { showLines } from '../run/show-run.ts'

/** Completes a task that a person has done, like a run does for an agent. */
export async function run(context: Context): Promise<number> {
  const { io } = context
  const project = await openProject(context.where)
  const task = findTask(project.tasks, context.args[0] ?? '')
  refuseToStart(io, project.root)
  refuseUnlessOpen(task)
  // People mostly want their own work checked as they would check it, without a sandbox.
  const mode = sandboxMode(null, { env: io.env, config: project.config })
  const sandbox = await openSandbox(io.env, project, mode === 'on' ? 'on' : 'off')
  const agents = new Agents(io, {}, { ...project, isCaged: sandbox.state.on })
  const ports = await runPorts(io, project, { agents, ask: null, sandbox })
  const show = context.json ? null : await showLines(context)
  const results: GateResult[] = []
  const emit = (happening: Happening): void => {
    if (happening.type === 'gate-finished') results.push(happening.result)
    show?.event({ at: io.now().toISOString(), ...happening })
  }
  try {
    const landed = await completeByHand(
      { options: runOptions({}, project), ports, emit },
      await openedTask(ports, task),
    )
    await show?.end()
    return await answer(context, { task, landed, results })
  } finally {
    await show?.end()
  }
}

type LandedByHand = Awaited<ReturnType<typeof completeByHand>>

function refuseUnlessOpen({ id, status }: Task): void {
  if (status === 'DONE')
    throw new UserError(`${id} is DONE already`, `ralph show ${id} says which commit completed it.`)
  if (status === null)
    throw new UserError(`${id} has no clear status`, 'ralph lint says what is wrong with its file.')
}

async function answer(
  context: Context,
  {
    task: { id, file },
    landed,
    results,
  }: { readonly task: Task; readonly landed: LandedByHand; readonly results: readonly GateResult[] },
): Promise<number> {
  if (landed.kind === 'landed') {
    const { commit } = landed
    if (context.json)
      context.printJson({ version: 1, id, status: 'DONE', file, commit, gates: results, reason: null })
    else context.print([line(`${id} is DONE in ${commit.slice(0, 10)}`)])
    return 0
  }
  const { reason } = landed.kind === 'held' ? landed : landed.outcome
  const kind = landed.kind === 'held' ? 'held' : landed.outcome.kind
  if (context.json)
    context.printJson({ version: 1, id, status: 'TODO', file, commit: null, gates: results, reason })
  if (kind === 'interrupted' && context.io.signal.aborted) return 130
  if (context.json) return 1
  throw new UserError(
    `${id} is not completed: ${reason}`,
    'Nothing was committed; what you did stays in the tree.',
    1,
  )
}
