import { UserError } from '../../base/errors.ts'
import type { Happening } from '../../engine/events/event.ts'
import type { GateResult } from '../../base/nouns.ts'
import { findTask } from '../../config/find-task.ts'
import { openProject } from '../../config/project.ts'
import { runOptions, openAgents, runPorts } from '../setup/start-run.ts'
import { sandboxMode } from '../setup/sandbox.ts'
import { refuseToStart } from '../../base/world.ts'
import { completeByHand, openedTask } from '../../engine/complete.ts'
import { line } from '../../screen/block.ts'
import type { Context } from '../command.ts'
import { showLines } from '../run/show-run.ts'

/** Completes a task that a person has done, like a run does for an agent. */
export async function run(context: Context): Promise<number> {
  const { io } = context
  const project = await openProject(context.where)
  const task = findTask(project.tasks, context.args[0]!)
  const { id, file, status } = task
  refuseToStart(io, project.root)
  if (status === 'DONE')
    throw new UserError(`${id} is DONE already`, `ralph show ${id} says which commit completed it.`)
  if (status === null)
    throw new UserError(`${id} has no clear status`, 'ralph lint says what is wrong with its file.')
  // People mostly want their own work checked as they would check it, without a sandbox.
  const mode = sandboxMode(null, { env: io.env, config: project.config })
  const opened = await openAgents(io, project, { sandbox: mode === 'on' ? mode : 'off' })
  const ports = await runPorts(io, project, opened)
  const show = context.json ? null : await showLines(context)
  const gates: GateResult[] = []
  const emit = (happening: Happening): void => {
    if (happening.type === 'gate-finished') gates.push(happening.result)
    show?.event({ at: io.now().toISOString(), ...happening })
  }
  try {
    const work = { options: runOptions({}, project), ports, emit }
    const landed = await completeByHand(work, await openedTask(ports, task))
    await show?.end()
    if (landed.kind === 'landed') {
      const { commit } = landed
      return await context.answer({ id, status: 'DONE', file, commit, gates, reason: null }, () => [
        line(`${id} is DONE in ${commit.slice(0, 10)}`),
      ])
    }
    const { kind, reason } = landed.kind === 'held' ? landed : landed.outcome
    await context.answer({ id, status: 'TODO', file, commit: null, gates, reason }, () => [])
    if (kind === 'interrupted' && io.signal.aborted) return 130
    if (context.json) return 1
    throw new UserError(
      `${id} is not completed: ${reason}`,
      'Nothing was committed; what you did stays in the tree.',
      1,
    )
  } finally {
    await show?.end()
  }
}
