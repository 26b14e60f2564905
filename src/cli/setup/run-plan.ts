import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { agentQuestions } from './ask-agent.ts'
import { UserError } from '../../base/errors.ts'
import type { Git } from '../../git/git.ts'
import { tipOf } from '../../git/head.ts'
import { readStatus } from '../../git/status.ts'
import { NoteStore } from '../../authoring/plan/write-phase.ts'
import { EXPORT_FILE, planPorts, type PlanFront, type Planning } from '../../authoring/plan/ports.ts'
import { newMark } from '../../process/mark.ts'
import { sleep } from '../../process/sleep.ts'
import { StartedProcesses } from '../../process/started.ts'
import { Control } from '../../engine/control.ts'
import { runFolder } from '../../engine/folder.ts'
import { openLogs } from '../../engine/journal.ts'
import { obstacles } from '../../engine/preflight.ts'
import { openHome } from '../../engine/slot/home.ts'
import { tierOf } from '../../backlog/select/tier.ts'
import type { Task } from '../../backlog/model.ts'
import { Agents } from '../../agents/agents.ts'
import type { Place } from '../../config/project.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import { slotsOf } from './slots.ts'
import { openSandbox } from './sandbox.ts'
import { type World, refuseToStart } from '../../base/world.ts'
import { type PlanWish, planAsked } from '../../authoring/plan/find-plans.ts'
import type { OptionsOf } from '../options/option.ts'
import type { PLAN_OPTIONS } from '../options/run-options.ts'
import { abortPlan, makePlan, recoverPlan, type PlanEnd } from '../../authoring/plan/plan.ts'
import type { Plan } from '../../authoring/plan/plan-file.ts'
import { withoutRun } from '../../engine/alone.ts'
import { readOrigin } from '../../backlog/origin.ts'

/** What planning is asked for: the options of `ralph plan`, and what they mean for the plan. */
export type PlanRequest = PlanWish & OptionsOf<typeof PLAN_OPTIONS>

/** The result of planning. */
export type PlanResult = PlanEnd | { readonly kind: 'aborted'; readonly plan: Plan }

/** Plans, while nobody else works in the checkout: a new plan, or an existing one from its present phase. */
export async function runPlan(
  world: World,
  place: Place,
  { request, front }: { request: PlanRequest; front: PlanFront },
): Promise<PlanResult> {
  const { root } = place
  const { dryRun } = request
  refuseToStart(world, root)
  const { git, repository } = await openWithCommit(world, root)
  const home = await openHome(git, repository, root)
  const folder = runFolder(root, repository)
  const note = new NoteStore(dryRun ? null : folder.plan)
  const planning = { world, place, options: request, front, home, folder, note }
  let opened: ReturnType<typeof openQuestions> | undefined
  const ports = planPorts(planning, async (question) => {
    const questions = await (opened ??= openQuestions(planning, request))
    const reply = await questions.ask(question)
    note.update({ spentUsd: questions.spentUsd() })
    return reply
  })
  return withoutRun(folder, world, async () => {
    if (!dryRun) {
      // What a planning that died was writing belongs to the present branch.
      await recoverPlan(ports)
      const [first] = request.noCommit ? [] : await obstacles(git, home.prefix, place.folders)
      if (first) throw new UserError(first.message, first.fix)
      if (request.branch !== undefined) await switchTo(git, request.branch)
    }
    const plan = await planAsked(request, ports, world.cwd)
    if (request.aborts) return { kind: 'aborted', plan: await abortPlan(plan, ports) }
    if (plan.exports) refuseOthers(place, await ports.backlog())
    return makePlan(plan, ports)
  })
}

/** Switches to a branch, which is made where it is missing. */
async function switchTo(git: Git, branch: string): Promise<void> {
  const okCodes = [0, 1, 128]
  const { code } = await git.run(['check-ref-format', '--branch', branch], { okCodes })
  if (code !== 0 || branch.startsWith('-')) throw new UserError(`'${branch}' cannot be the name of a branch`)
  if ((await readStatus(git)).branch === branch) return
  const create = (await tipOf(git, branch)) === null ? ['-c'] : []
  const switched = await git.run(['switch', ...create, branch], { okCodes })
  if (switched.code !== 0)
    throw new UserError(
      `git does not switch to ${branch}: ${switched.stderr.trim()}`,
      'Commit or stash what is in the way.',
    )
}

/** Throws if another tool has written a file there: planning does not overwrite it. */
function refuseOthers({ root, config }: Place, backlog: readonly Task[]): void {
  if (!existsSync(join(root, EXPORT_FILE))) return
  const isOurs =
    config.bridges.some(({ path, sync }) => path === EXPORT_FILE && sync) &&
    backlog.every(({ id, origin }) => {
      const from = readOrigin(origin)
      return from?.path !== EXPORT_FILE || from.key === id
    })
  if (isOurs) return
  throw new UserError(
    `${EXPORT_FILE} is there already, and not from a plan`,
    `Move it, or read it in: ralph import ${EXPORT_FILE} --sync`,
  )
}

/** Opens what puts questions to the agent that plans. */
async function openQuestions(
  { world, place, front, home, folder, note }: Planning,
  { agent, model, web, sandbox: wanted }: PlanRequest,
) {
  const { config, root } = place
  const { env, now } = world
  const warn = (message: string): void => front.event({ type: 'warning', message })
  const sandbox = await openSandbox(env, place, wanted)
  const { on: isCaged, reason } = sandbox.state
  if (reason !== null) warn(`the agent has no sandbox: ${reason}`)
  const tier = (task: Task) => tierOf(task, config.tiers)
  const agents = new Agents(world, { agent, model }, { root, config, tierOf: tier, isCaged })
  // The options that a plan began with hold to its end.
  const choices = await agents.choicesForPlan(web && (note.read()?.plan.web ?? true))
  const { budget } = config.plan
  const { name } = choices[0]
  if (budget !== null && !(await agents.provider(name)).tellsCost)
    warn(`${name} reports no cost, so no budget can stop it; its turn and time limits still apply`)
  const started = new StartedProcesses(() => now().getTime())
  const { maxTurns: turns, timeoutSeconds: seconds } = config.tiers.rows.Heavy
  return agentQuestions(
    { ...config, budget, turns, seconds, spentUsd: note.read()?.spentUsd ?? null },
    {
      home,
      slots: slotsOf(place, { home, env, agents, sandbox, started, isReadOnly: true }),
      logs: openLogs(folder, config.logs.maxBytes),
      now,
      sleep,
      control: new Control().obey(world.signal, world.urgent),
      mark: newMark(),
      onStarted: (listener) => started.listen(listener),
      choices,
      note: (work) => note.update({ work }),
      emit: front.emit,
    },
  )
}
