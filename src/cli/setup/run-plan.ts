import { existsSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { AgentQuestions } from './ask-agent.ts'
import type { Emit } from '../../engine/ports.ts'
import { UserError } from '../../base/errors.ts'
import type { Happening } from '../../engine/events/event.ts'
import { commit } from '../../git/commit.ts'
import { openReadingGit } from '../../git/door.ts'
import type { Git } from '../../git/git.ts'
import { tipOf } from '../../git/head.ts'
import { knownFiles } from '../../git/names.ts'
import { highestNumber } from '../../authoring/highest-number.ts'
import { ignoredPaths } from '../../git/repository.ts'
import { readStatus } from '../../git/status.ts'
import { composeMessage } from '../../git/trailers.ts'
import { lint } from '../../backlog/lint/lint.ts'
import { noNote, noteFile, type NoteStore, type PlanCommit } from '../../authoring/plan/note.ts'
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
import { planPlaces, type PlanWish, planAsked } from '../../authoring/plan/find-plans.ts'
import type { OptionsOf } from '../options/option.ts'
import type { PLAN_OPTIONS } from '../options/run-options.ts'
import { abortPlan, makePlan, recoverPlan, type PlanEnd } from '../../authoring/plan/plan.ts'
import type { Plan } from '../../authoring/plan/plan-file.ts'
import { withoutRun } from '../../engine/alone.ts'
import { readOrigin } from '../../backlog/origin.ts'

/** What planning is asked for: the options of `ralph plan`, and what they mean for the plan. */
export type PlanRequest = PlanWish & OptionsOf<typeof PLAN_OPTIONS>

/** How planning asks a person, and shows its progress. */
export interface PlanFront {
  readonly emit: Emit<Happening>
  readonly event: PlanPorts['emit']
  readonly decide: PlanPorts['decide']
  readonly confirm: PlanPorts['confirm']
  /** Called between two effects; a test ends the process there. */
  readonly checkpoint?: PlanPorts['checkpoint']
}

/** The result of planning. */
export type PlanResult = PlanEnd | { readonly kind: 'aborted'; readonly plan: Plan }

/** Plans, while nobody else works in the checkout: a new plan, or an existing one from its present phase. */
export async function runPlan(
  world: World,
  place: Place,
  { request, front }: { readonly request: PlanRequest; readonly front: PlanFront },
): Promise<PlanResult> {
  const { root } = place
  refuseToStart(world, root)
  const { yes, research, dryRun } = request
  const { ports, folder } = await planPorts(world, place, { request, front })
  return withoutRun(folder, { pid: world.pid, now: world.now() }, async () => {
    if (!dryRun) {
      // What a planning that died was writing belongs to the present branch.
      await recoverPlan(ports)
      await beginPlanning(world, place, request)
    }
    const plan = await planAsked(request, ports.places, { cwd: world.cwd, note: ports.note.read() })
    if (request.aborts) return { kind: 'aborted', plan: await abortPlan(plan, ports) }
    if (plan.exports) refuseOthers(place, await ports.backlog())
    return makePlan(plan, { yes, research, dryRun }, ports)
  })
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

/** The real ports of planning, and where it notes what is under way. */
async function planPorts(
  world: World,
  place: Place,
  { request, front }: { readonly request: PlanRequest; readonly front: PlanFront },
): Promise<{ readonly ports: PlanPorts; readonly folder: RunFolder }> {
  const { root, vocabulary, config } = place
  const { git: door, repository } = await openWithCommit(world, root)
  const home = await openHome(door, repository, root)
  const { git } = home
  const reading = openReadingGit({ cwd: root, env: world.env })
  const folder = runFolder(root, repository)
  const places = planPlaces(place)
  const note = request.dryRun ? noNote() : noteFile(folder.plan)
  const backlog = (): Promise<readonly Task[]> => backlogOf(place)
  const asker = lazily(() => openQuestions(world, place, { request, front, home, folder, note }))
  const ports: PlanPorts = {
    places,
    vocabulary,
    fromProduces: {
      Light: 0,
      Standard: config.tiers.rows.Standard.fromProduces,
      Heavy: config.tiers.rows.Heavy.fromProduces,
    },
    promptBudget: config.prompt.budget,
    backlog,
    async lint(tasks) {
      return lint(tasks, await lintContext(place))
    },
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
    schemaOf: async (phase) => (await import('../../authoring/plan/json-schema.ts')).answerSchema(phase),
    ask: async (question) => {
      const questions = await asker()
      const reply = await questions.ask(question)
      const noted = note.read()
      if (noted) note.write({ ...noted, spentUsd: questions.spentUsd })
      return reply
    },
    commit:
      request.noCommit || request.dryRun ? null : (phase) => commitPhase(git, home.prefix, phase, world),
    note,
    recoverAgent: async (work) => void (await endLeftovers(work as RunTrace)),
    async mirror(planning) {
      if (request.dryRun) return
      mirrorPlanning(folder.state, planning, { tasks: await backlog(), now: world.now() })
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
  return { ports, folder }
}

/** Ensures before planning begins that commits can be made, and switches to the requested branch. */
async function beginPlanning(
  world: World,
  place: Place,
  { branch, noCommit }: Pick<PlanRequest, 'branch' | 'noCommit'>,
): Promise<void> {
  const { git, repository } = await openWithCommit(world, place.root)
  const { prefix } = await openHome(git, repository, place.root)
  const [first] = noCommit ? [] : await obstacles(git, prefix, place.folders.first)
  if (first) throw new UserError(first.message, first.fix)
  if (branch === undefined) return
  const { code } = await git.run(['check-ref-format', '--branch', branch], { okCodes: [0, 1, 128] })
  if (code !== 0 || branch.startsWith('-')) throw new UserError(`'${branch}' cannot be the name of a branch`)
  if ((await readStatus(git)).branch === branch) return
  const isThere = (await tipOf(git, branch)) !== null
  const { code: switched, stderr } = await git.run(['switch', ...(isThere ? [] : ['-c']), branch], {
    okCodes: [0, 1, 128],
  })
  if (switched !== 0)
    throw new UserError(
      `git does not switch to ${branch}: ${stderr.trim()}`,
      'Commit or stash what is in the way.',
    )
}

/** The tasks; none if a new project has no task folder yet. */
async function backlogOf(place: Place): Promise<readonly Task[]> {
  return existsSync(join(place.root, place.folders.first)) ? (await readBacklog(place)).tasks : []
}

async function commitPhase(
  git: Git,
  prefix: string,
  { paths, subject, trailers }: PlanCommit,
  { urgent }: World,
): Promise<Committed> {
  const wanted = paths.map((path) => `${prefix}${path}`)
  const { entries, head } = await readStatus(git)
  const changed = new Set(entries.map(({ path }) => path))
  const present = wanted.filter((path) => changed.has(path))
  if (present.length < wanted.length) {
    const ignored = await ignoredPaths(
      git,
      wanted.filter((path) => !changed.has(path)),
    )
    if (ignored.size > 0) return { problem: `git ignores ${[...ignored].join(', ')}` }
  }
  // This process committed all of it before it died.
  if (present.length === 0) return { commit: head?.slice(0, 7) ?? '' }
  const message = composeMessage({ subject, body: '', trailers })
  const result = await commit(git, { message, paths: present, signal: urgent })
  if (result.kind === 'committed') return { commit: result.commit }
  const args = ['reset', '--quiet', '--pathspec-from-file=-', '--pathspec-file-nul']
  await git.run(args, { stdin: present.join('\0'), okCodes: [0, 1, 128] })
  return { problem: result.output }
}

async function openQuestions(
  world: World,
  place: Place,
  {
    request,
    front,
    home,
    folder,
    note,
  }: {
    readonly request: PlanRequest
    readonly front: PlanFront
    readonly home: Home
    readonly folder: RunFolder
    readonly note: NoteStore
  },
): Promise<AgentQuestions> {
  const { config, root } = place
  const sandbox = await openSandbox(world.env, place, request.sandbox)
  if (sandbox.state.reason !== null)
    front.event({ type: 'warning', message: `the agent has no sandbox: ${sandbox.state.reason}` })
  const agents = new Agents(
    world,
    { agent: request.agent, model: request.model },
    { root, config, tierOf: (task) => tierOf(task, config.tiers), isCaged: sandbox.state.on },
  )
  // The options that a plan began with hold to its end.
  const choices = await agents.choicesForPlan(request.web && (note.read()?.plan.web ?? true))
  const { budget } = config.plan
  const { name } = choices[0]
  if (budget !== null && !(await agents.provider(name)).tellsCost)
    front.event({
      type: 'warning',
      message: `${name} reports no cost, so no budget can stop it; its turn and time limits still apply`,
    })
  const started = new StartedProcesses(() => world.now().getTime())
  const { maxTurns: turns, timeoutSeconds: seconds } = config.tiers.rows.Heavy
  return new AgentQuestions(
    {
      retries: config.retries,
      stallSeconds: config.stallSeconds,
      budget,
      turns,
      seconds,
      spentUsd: note.read()?.spentUsd ?? null,
    },
    {
      home,
      slots: slotsOf(place, { home, env: world.env, agents, sandbox, started, isReadOnly: true }),
      logs: openLogs(folder, config.logs.maxBytes),
      now: world.now,
      sleep,
      control: new Control().obey(world.signal, world.urgent),
      mark: newMark(),
      onStarted: (listener) => started.listen(listener),
      choices,
      note(work) {
        const noted = note.read()
        if (noted) note.write({ ...noted, work })
      },
    },
    front.emit,
  )
}

/** Makes the value when it is first used, and only once. */
function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
