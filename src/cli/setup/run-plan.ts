import { existsSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { agentQuestions } from './ask-agent.ts'
import type { Emit } from '../../engine/ports.ts'
import { UserError } from '../../base/errors.ts'
import type { Happening } from '../../engine/events/event.ts'
import { commit } from '../../git/commit.ts'
import { openReadingGit } from '../../git/door.ts'
import type { Git } from '../../git/git.ts'
import { tipOf } from '../../git/head.ts'
import { knownFiles } from '../../git/names.ts'
import { highestNumber } from '../../authoring/new-task.ts'
import { ignoredPaths } from '../../git/repository.ts'
import { readStatus } from '../../git/status.ts'
import { composeMessage } from '../../git/trailers.ts'
import { lint } from '../../backlog/lint/lint.ts'
import { noteStore, type NoteStore, type PlanCommit } from '../../authoring/plan/write-phase.ts'
import { EXPORT_FILE, type Committed, type PlanPorts } from '../../authoring/plan/ports.ts'
import { newMark } from '../../process/mark.ts'
import { sleep } from '../../process/sleep.ts'
import { StartedProcesses } from '../../process/started.ts'
import { endLeftovers, type RunTrace } from '../../process/tree.ts'
import { Control } from '../../engine/control.ts'
import { runFolder, type RunFolder } from '../../engine/folder.ts'
import { openLogs } from '../../engine/journal.ts'
import { obstacles } from '../../engine/preflight.ts'
import { openHome, type Home } from '../../engine/slot/home.ts'
import { mirrorPlanning } from '../../authoring/bridges/run-state.ts'
import { tierOf } from '../../backlog/select/tier.ts'
import type { Task } from '../../backlog/model.ts'
import { readBacklog } from '../../backlog/read.ts'
import { Agents } from '../../agents/agents.ts'
import { lintContext } from '../../authoring/lint-context.ts'
import { findConfig } from '../../config/load.ts'
import type { Place } from '../../config/project.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import { slotsOf } from './slots.ts'
import { openSandbox } from './sandbox.ts'
import { type World, refuseToStart } from '../../base/world.ts'
import { Desk } from '../../authoring/plan/desk.ts'
import { planPlaces, type PlanWish, planAsked } from '../../authoring/plan/find-plans.ts'
import type { OptionsOf } from '../options/option.ts'
import type { PLAN_OPTIONS } from '../options/run-options.ts'
import { abortPlan, makePlan, recoverPlan, type PlanEnd } from '../../authoring/plan/plan.ts'
import type { Plan } from '../../authoring/plan/plan-file.ts'
import { withoutRun } from '../../engine/alone.ts'
import { readOrigin } from '../../backlog/origin.ts'

/** What planning is asked for: the options of `ralph plan`, and what they mean for the plan. */
export type PlanRequest = PlanWish & OptionsOf<typeof PLAN_OPTIONS>

/** How planning asks a person, and shows its progress; a test ends the process at a checkpoint. */
export interface PlanFront
  extends Pick<PlanPorts, 'decide' | 'confirm'>, Partial<Pick<PlanPorts, 'checkpoint'>> {
  readonly emit: Emit<Happening>
  readonly event: PlanPorts['emit']
}

/** The result of planning. */
export type PlanResult = PlanEnd | { readonly kind: 'aborted'; readonly plan: Plan }

/** What is planned, where, and where it notes what is under way. */
interface Planning {
  readonly world: World
  readonly place: Place
  readonly request: PlanRequest
  readonly front: PlanFront
  readonly home: Home
  readonly folder: RunFolder
  readonly note: NoteStore
}

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
  const note = noteStore(dryRun ? null : folder.plan)
  const ports = planPorts({ world, place, request, front, home, folder, note })
  return withoutRun(folder, world, async () => {
    if (!dryRun) {
      // What a planning that died was writing belongs to the present branch.
      await recoverPlan(ports)
      const [first] = request.noCommit ? [] : await obstacles(git, home.prefix, place.folders.first)
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

/** The real ports of planning. */
function planPorts(planning: Planning): PlanPorts {
  const { world, place, request, front, home, folder, note } = planning
  const { root, vocabulary, config } = place
  const { Standard, Heavy } = config.tiers.rows
  const reading = openReadingGit({ cwd: root, env: world.env })
  // A new project may have no task folder yet.
  const backlog = async (): Promise<readonly Task[]> =>
    existsSync(join(root, place.folders.first)) ? (await readBacklog(place)).tasks : []
  let opened: ReturnType<typeof openQuestions> | undefined
  return {
    places: planPlaces(place),
    desk: new Desk(root),
    options: request,
    vocabulary,
    fromProduces: { Light: 0, Standard: Standard.fromProduces, Heavy: Heavy.fromProduces },
    promptBudget: config.prompt.budget,
    backlog,
    lint: async (tasks) => lint(tasks, await lintContext(place)),
    highest: async () => highestNumber(reading, place, await backlog()),
    files: () => knownFiles(reading),
    async exported(tasks) {
      const [{ exportedTexts }, { withBridge }] = await Promise.all([
        import('../../authoring/export-tasks.ts'),
        import('../../authoring/bridges/configuration.ts'),
      ])
      const texts = await exportedTexts({ root, tasks }, 'implementation', world.now())
      const config = withBridge(root, findConfig(root)?.file, {
        path: EXPORT_FILE,
        as: 'implementation',
        sync: true,
      })
      const text = [...texts.values()].join('')
      return new Map([[EXPORT_FILE, text], ...(config ? [[config.file, config.text] as const] : [])])
    },
    isIgnored: (paths) => ignoredPaths(reading, paths),
    async ask(question) {
      const questions = await (opened ??= openQuestions(planning))
      const reply = await questions.ask(question)
      note.update({ spentUsd: questions.spentUsd() })
      return reply
    },
    commit: request.noCommit || request.dryRun ? null : (phase) => commitPhase(home, phase, world),
    note,
    recoverAgent: async (work) => void (await endLeftovers(work as RunTrace)),
    async mirror(progress) {
      if (request.dryRun) return
      mirrorPlanning(folder.state, progress, { tasks: await backlog(), now: world.now() })
    },
    keepWish(slug, text) {
      const path = openLogs(folder, config.logs.maxBytes).result(`plan-${slug}.md`)
      writeFileSync(path, text)
      return relative(root, path).replaceAll('\\', '/')
    },
    decide: front.decide,
    confirm: front.confirm,
    emit: front.event,
    now: world.now,
    checkpoint: front.checkpoint ?? (() => undefined),
  }
}

async function commitPhase(
  { git, prefix }: Home,
  { paths, subject, trailers }: PlanCommit,
  { urgent }: World,
): Promise<Committed> {
  const wanted = paths.map((path) => `${prefix}${path}`)
  const { entries, head } = await readStatus(git)
  const changed = new Set(entries.map(({ path }) => path))
  const present = wanted.filter((path) => changed.has(path))
  const others = wanted.filter((path) => !changed.has(path))
  const ignored = others.length === 0 ? new Set() : await ignoredPaths(git, others)
  if (ignored.size > 0) return { problem: `git ignores ${[...ignored].join(', ')}` }
  // This process committed all of it before it died.
  if (present.length === 0) return { commit: head?.slice(0, 7) ?? '' }
  const message = composeMessage({ subject, body: '', trailers })
  const result = await commit(git, { message, paths: present, signal: urgent })
  if (result.kind === 'committed') return { commit: result.commit }
  const args = ['reset', '--quiet', '--pathspec-from-file=-', '--pathspec-file-nul']
  await git.run(args, { stdin: present.join('\0'), okCodes: [0, 1, 128] })
  return { problem: result.output }
}

/** Opens what puts questions to the agent that plans. */
async function openQuestions({ world, place, request, front, home, folder, note }: Planning) {
  const { config, root } = place
  const { agent, model } = request
  const { env, now } = world
  const warn = (message: string): void => front.event({ type: 'warning', message })
  const sandbox = await openSandbox(env, place, request.sandbox)
  const { on: isCaged, reason } = sandbox.state
  if (reason !== null) warn(`the agent has no sandbox: ${reason}`)
  const tier = (task: Task) => tierOf(task, config.tiers)
  const agents = new Agents(world, { agent, model }, { root, config, tierOf: tier, isCaged })
  // The options that a plan began with hold to its end.
  const choices = await agents.choicesForPlan(request.web && (note.read()?.plan.web ?? true))
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
