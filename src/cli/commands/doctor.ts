import { installationOf, isNewEnough } from '../../agents/installation.ts'
import { AGENTS, firstInstalled, type AgentEntry } from '../../agents/registry.ts'
import { detectGates } from '../../config/detect-gates.ts'
import { findConfig, loadConfig, unreadConfig } from '../../config/load.ts'
import { findRoot } from '../../config/root.ts'
import { DEFAULTS, IF_GREEN, type Config } from '../../config/defaults.ts'
import { hiddenProgram, missingProgram, PACKAGES } from '../gate-programs.ts'
import { openReadingGit } from '../../git/door.ts'
import type { StartProcess } from '../../process/start.ts'
import { readBacklog } from '../../backlog/read.ts'
import { taskVocabulary } from '../../backlog/vocabulary.ts'
import { lint } from '../../backlog/lint/lint.ts'
import { doctorView } from '../../screen/doctor-view.ts'
import type { ContextOf } from '../commands.ts'
import { sandboxAvailable, sandboxHere, sandboxMode } from '../setup/sandbox.ts'
import { lintContext } from '../../authoring/lint-context.ts'
import { taskFolders } from '../../config/task-folder.ts'
import type { Place } from '../../config/project.ts'
import type { World } from '../../base/world.ts'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { shortened, counted, fewOf } from '../../base/text.ts'
import { formatDuration } from '../../base/time.ts'
import { withoutRun } from '../../engine/alone.ts'
import { runFolder } from '../../engine/folder.ts'
import { readNote } from '../../engine/note.ts'
import { obstacles } from '../../engine/preflight.ts'
import { openHome } from '../../engine/slot/home.ts'
import { Readying } from '../../engine/slot/ready.ts'
import { forgetSlot, isTaken } from '../../engine/workers/slots.ts'
import type { Git } from '../../git/git.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import { findRepository, type Repository } from '../../git/repository.ts'
import { readStatus } from '../../git/status.ts'
import { lockOwner } from '../../process/lock.ts'
import { runProgram } from '../../process/run.ts'
import { livingOf, livingTree, type LivingProcess } from '../../process/tree.ts'
import { linksInside, slotNumbers, slotsFolder } from '../setup/slots.ts'

/** Checks everything that a run needs, and changes nothing unless asked to; exits with 1 if something prevents a run. */
export async function run(context: ContextOf<'doctor'>): Promise<number> {
  const { io, options } = context
  const findings: Parameters<typeof doctorView>[0][number][] = []
  const say: Say = (area, level, message, fix = '') => findings.push({ area, level, message, fix })
  const place = await openPlace(say, findRoot(io.cwd, options.dir), options.dir)
  const here: Here = { ...place, env: io.env, caged: await sandboxHere(io, place) }
  await orProblem(say, 'tasks', async () => {
    const { tasks } = await readBacklog(place)
    const found = lint(tasks, await lintContext(place))
    const errors = found.filter(({ severity }) => severity === 'error').length
    const count = `${tasks.length} in ${place.folders.first}`
    if (errors === 0) say('tasks', 'ok', count)
    else say('tasks', 'note', `${count}, with ${errors} lint errors`, 'ralph lint says which')
  })
  await checkGates(say, here)
  await checkAgents(say, here)
  await checkSandbox(say, here)
  checkNotify(say, here)
  const git = openReadingGit({ cwd: place.root, env: io.env })
  const repository = await checkCheckout(say, { git, place, now: io.now() })
  if (repository && options.fix) await removeSlots(say, io, place)
  if (repository) await checkSlots(say, { place, repository, env: io.env })
  const ok = findings.every(({ level }) => level !== 'problem')
  await context.answer({ findings, ok }, () => doctorView(findings))
  return ok ? 0 : 1
}

/** Says what was found, and what to do about it: a `problem` keeps a run from starting, a `note` is only worth knowing. */
export type Say = (area: string, level: Level, message: string, fix?: string) => void

type Level = 'ok' | 'note' | 'problem'

/** Looks at something; a refusal is a problem. */
async function orProblem(say: Say, area: string, look: () => Promise<void>): Promise<void> {
  try {
    await look()
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    say(area, 'problem', error.message.replaceAll('\n', '; '), error.fix)
  }
}

/** The project, with the defaults where its configuration is wrong. */
async function openPlace(say: Say, root: string, dir: string | undefined): Promise<Place> {
  let config: Config = DEFAULTS
  await orProblem(say, 'config', async () => {
    config = await loadConfig(root)
    say('config', 'ok', findConfig(root)?.file ?? 'none, using defaults')
    const unread = unreadConfig(root)
    if (unread !== undefined)
      say(
        'config',
        'note',
        `${unread} is not read: ralph never runs config files`,
        'Write what it says as ralph.config.json',
      )
  })
  const folders = await taskFolders(root, config, dir)
  return { root, config, folders, vocabulary: taskVocabulary(config.aliases, folders.ids) }
}

/** What is checked, and how a run would start it in its sandbox; null without one. */
type Here = Pick<Place, 'root' | 'config'> &
  Pick<World, 'env'> & { readonly caged: Awaited<ReturnType<typeof sandboxHere>> }

/** Why a command cannot start, and what to do about it; null if it can. */
type Obstacle = readonly [why: string, fix: string] | null

async function checkGates(say: Say, here: Here): Promise<void> {
  const { root, config, caged } = here
  const gates = config.gates ?? detectGates(root)
  if (gates.length === 0)
    say(
      'gates',
      'note',
      'none: nothing checks what the agent says',
      config.gates ? '' : 'Give the commands that must pass as "gates" in ralph.config.json',
    )
  for (const { name, command, required } of gates) {
    const gate = `${name}: ${command} (${config.gates ? 'configured' : 'detected'})`
    const obstacle = (await missingIn(command, here)) ?? (await hiddenIn(command, here, caged?.gate))
    if (obstacle === null) say('gates', 'ok', gate)
    else say('gates', required ? 'problem' : 'note', `${gate} cannot start${obstacle[0]}`, obstacle[1])
  }
  const found = detectGates(root)
  for (const { name, command, required, ifGreen } of config.gates ?? []) {
    const isFromInit = found.some((one) => one.ifGreen && one.name === name && one.command === command)
    if (required || ifGreen || !isFromInit) continue
    const message = `${name}: may fail unseen, because an earlier version of ralph init wrote "required": false`
    say(
      'gates',
      'note',
      message,
      `Write "required": "${IF_GREEN}": if it passes before a run, it has to stay so`,
    )
  }
}

async function missingIn(command: string, { root, env }: Here): Promise<Obstacle> {
  const missing = await missingProgram(command, { cwd: root, env })
  if (missing === null) return null
  const what = missing.startsWith(PACKAGES) ? "the project's packages" : missing
  return [`: there is no ${missing} here`, `Install ${what}, or give other "gates" in ralph.config.json`]
}

/** Whether the sandbox hides a program of a command. */
async function hiddenIn(
  command: string,
  { root, env }: Here,
  start: StartProcess | undefined,
): Promise<Obstacle> {
  const hidden = start ? await hiddenProgram(command, { cwd: root, env, start }) : null
  return (
    hidden && [
      ` in the sandbox, which hides ${hidden.path}`,
      `Put it into the project, or allow it in ralph.config.json: "sandbox": { "read": ${JSON.stringify(hidden.read)} }`,
    ]
  )
}

async function checkAgents(say: Say, here: Here): Promise<void> {
  const { agent, agents } = here.config
  const chosen = agent === null ? firstInstalled(agents, here.env) : AGENTS.find(({ name }) => name === agent)
  const shown = AGENTS.filter((entry) => entry.program !== null || entry === chosen)
  const found = await Promise.all(shown.map((entry) => agentFinding(entry, here, entry === chosen)))
  for (const finding of found) say('agents', ...finding)
  if (!chosen)
    say('agents', 'problem', 'no agent is installed', 'Install one, or run your own with --agent command')
}

async function agentFinding(
  { name, program, load }: AgentEntry,
  here: Here,
  isChosen: boolean,
): Promise<readonly [level: Level, message: string, fix?: string]> {
  const { root, env, config, caged } = here
  const provider = await load(config.command, config.pty)
  const { install, minimumVersion, preflight } = provider
  const installation = await installationOf(program, { cwd: root, env })
  const [which, comma] = isChosen ? [', which runs here', ','] : ['', '']
  const lack = isChosen ? 'problem' : 'note'
  if (program !== null && !installation) return [lack, `${name} is not installed`, install]
  const { version = null, failure = null } = installation ?? {}
  if (failure !== null) return [lack, `${name}${which}${comma} does not start: ${failure}`, install]
  const label = `${program === null ? name : `${name} ${version ?? '(version unknown)'}`}${which}`
  const [problem] = await preflight({ env, cwd: root })
  if (problem !== undefined) return [lack, `${label}: ${problem}`]
  if (name === 'command' && config.command !== null) {
    const hidden = await hiddenIn(config.command, here, caged?.agent(provider))
    if (hidden) return [lack, `${label}${comma} cannot start${hidden[0]}`, hidden[1]]
  }
  const isEnough = isNewEnough(version, minimumVersion)
  if (isEnough === null) return ['note', `${label}: works from ${minimumVersion} on`]
  return isEnough ? ['ok', label] : ['note', `${label}${comma} is older than ${minimumVersion}`, install]
}

/** A missing sandbox prevents a run only if the configuration requires one. */
async function checkSandbox(say: Say, { root, config, env }: Here): Promise<void> {
  const mode = sandboxMode(null, { env, config })
  if (mode === 'off') return say('sandbox', 'note', 'off by configuration: agents may do what you may')
  const available = await sandboxAvailable(env, root)
  if (available.ok) return say('sandbox', 'ok', `${available.program}, around agents and gates`)
  say('sandbox', mode === 'on' ? 'problem' : 'note', `none: ${available.reason}`, available.fix)
}

/** Whether the notification command or webhook can be called. */
function checkNotify(say: Say, { env, config: { notify } }: Here): void {
  const { command, webhook } = notify
  const address = webhook?.slice('env:'.length)
  if (address !== undefined && !env[address]) {
    const fix = `Set ${address} to the address of "notify.webhook"`
    return say('notify', 'note', `no notifications: ${address} is not set`, fix)
  }
  const ways = [command && 'a command', webhook && 'a webhook'].filter(Boolean)
  if (ways.length > 0) say('notify', 'ok', `by ${ways.join(' and ')}`)
}

/** What is checked. Git runs in the project's root. */
interface Checked {
  readonly git: Git
  readonly place: Pick<Place, 'root' | 'folders'>
  readonly now: Date
}

/** The oldest git that has every option in use: `git merge-tree --write-tree`. */
const OLDEST_GIT = '2.38'

/** Checks git, the checkout and what earlier runs have left; returns the repository if there is one. */
export async function checkCheckout(say: Say, checked: Checked): Promise<Repository | null> {
  const { git } = checked
  const version = (await git.run(['version'])).stdout.toString().trim().replace('git version ', '')
  if (isNewEnough(version, OLDEST_GIT)) say('git', 'ok', `git ${version}`)
  else say('git', 'problem', `git ${version} is too old`, `Install git ${OLDEST_GIT} or later`)
  const repository = await findRepository(git)
  if (repository === null) {
    const fix = 'Make one: git init, then commit what there is'
    say('git', 'problem', 'there is no git repository here', fix)
    return null
  }
  const { linkedWorktree, root } = repository
  say('git', 'ok', linkedWorktree ? 'a linked worktree' : `the repository at ${root}`)
  await checkTree(say, checked, repository)
  await checkRuns(say, checked, repository)
  return repository
}

async function checkTree(say: Say, { git, place }: Checked, repository: Repository): Promise<void> {
  const home = await openHome(git.at(repository.root), repository, place.root)
  for (const { message, fix } of await obstacles(home.git, home.prefix, place.folders))
    say('git', 'problem', message, fix)
  const { head, branch, entries } = await readStatus(git)
  if (head === null) say('git', 'problem', 'there is no commit yet', 'git add -A && git commit')
  if (branch === null) say('git', 'note', 'HEAD is detached: commits will be on no branch')
  if (entries.length === 0) return say('tree', 'ok', 'everything is committed')
  const what = entries.length === 1 ? '1 file is' : `${entries.length} files are`
  say('tree', 'note', `${what} not committed: a run works on what is committed, and leaves the rest as it is`)
}

async function checkRuns(say: Say, { place, now }: Checked, checkout: Repository): Promise<void> {
  const folder = runFolder(place.root, checkout)
  const lock = await lockOwner(folder.lock)
  const note = readNote(folder.note)
  const noted = note ? await livingOf(note) : []
  const ago = (since: string): string => formatDuration((now.getTime() - Date.parse(since)) / 1000)
  if (lock?.alive) {
    const { pid, host, since } = lock.owner
    say('lock', 'note', `a run is at work: process ${pid} on ${host}, for ${ago(since)}`)
    const below = lock.visible ? await livingTree(pid) : []
    const living = new Map([...below, ...noted].map((process) => [process.pid, process]))
    living.delete(pid)
    for (const line of processLines([...living.values()])) say('processes', 'note', line)
  } else {
    say('lock', 'ok', lock ? 'a dead run’s lock, which the next one takes over' : 'no run is at work')
    for (const line of processLines(noted))
      // The others are below a process that is named here.
      if (/^\d/.test(line)) say('leftovers', 'note', `running: ${line}`, 'The next ralph run ends it')
      else say('leftovers', 'note', line)
    for (const { attempt } of note?.jobs ?? [])
      say(
        'leftovers',
        'note',
        `a run died during attempt ${attempt.number} at ${attempt.task}, begun ${ago(attempt.startedAt)} ago`,
        'The next ralph run records its work, and continues',
      )
  }
  if (note === null) say('leftovers', 'ok', 'nothing is left of an earlier run')
}

const LONGEST = 100

/** Processes as a tree, one line each: `12 npm test`, and below it `└─ 13 node test.mjs`. */
export function processLines(processes: readonly LivingProcess[]): readonly string[] {
  const pids = new Set(processes.map(({ pid }) => pid))
  const draw = ({ pid, command }: LivingProcess, sign: string, indent: string): readonly string[] => {
    const children = processes.filter((child) => child.parent === pid && child.pid !== pid)
    const last = children.at(-1)
    return [
      sign + shortened(`${pid} ${command.replace(/\s+/g, ' ')}`.trim(), LONGEST),
      ...children.flatMap((child) =>
        child === last
          ? draw(child, `${indent}└─ `, `${indent}   `)
          : draw(child, `${indent}├─ `, `${indent}│  `),
      ),
    ]
  }
  const roots = processes.filter(({ parent }) => !pids.has(parent))
  return roots.flatMap((root) => draw(root, '', ''))
}

/** Checks where slots are, how large they are, and what a run puts into each. */
async function checkSlots(
  say: Say,
  { place, repository, env }: { place: Place; repository: Repository; env: World['env'] },
): Promise<void> {
  const { root, config } = place
  await orProblem(say, 'slots', async () => {
    const folder = slotsFolder(place, repository.root, env)
    const git = openReadingGit({ cwd: repository.root, env })
    const readying = new Readying(await openHome(git, repository, root), config.workspace)
    const [commands, copies] = [readying.commandsFor(root), await readying.filesToCopy()]
    const gets = [
      commands.length === 0
        ? 'nothing to install'
        : `the packages of the checkout, or else ${commands.join(' and ')}`,
      ...(copies.length > 0 ? [`a copy of ${fewOf(copies)}`] : []),
      ...(readying.linked.length > 0 ? [`${fewOf(readying.linked)} beside it`] : []),
    ]
    const { length } = slotNumbers(folder)
    if (length === 0) say('slots', 'ok', `no slot yet: the first run makes one in ${folder}`)
    else {
      const size = `${counted(length, 'slot')} in ${folder}, ${await sizeOf(folder, env)}`
      say('slots', 'ok', size, 'ralph doctor --fix removes them')
    }
    say('slots', 'ok', `each has what is committed, and ${gets.join(', ')}`)
    const inside = linksInside(place, repository.root)
    if (inside !== null) say('slots', 'note', inside, 'Name it in workspace.copy')
  })
}

async function sizeOf(folder: string, env: World['env']): Promise<string> {
  const { stdout } = await runProgram({ program: 'du', args: ['-sk', folder], cwd: '/', env })
  const kilobytes = Number(stdout.toString().split('\t')[0])
  return kilobytes < 1024 ? `${kilobytes} kB` : `${Math.round(kilobytes / 1024)} MB`
}

/** Removes the slots of a checkout, while no run is at work. What a run has done in them is on refs. */
async function removeSlots(say: Say, world: World, place: Place): Promise<void> {
  const { root } = place
  const { repository } = await openWithCommit(world, root)
  const folder = slotsFolder(place, repository.root, world.env)
  const numbers: number[] = []
  // A worker of any run may be using one.
  for (const number of slotNumbers(folder)) if (!(await isTaken(folder, number))) numbers.push(number)
  if (numbers.length === 0) return
  await withoutRun(runFolder(root, repository), world, async () => {
    for (const number of numbers) {
      rmSync(join(folder, String(number)), { recursive: true, force: true })
      forgetSlot(folder, number)
    }
    const isEmpty = existsSync(folder) && slotNumbers(folder).length === 0
    if (isEmpty) rmSync(folder, { recursive: true, force: true })
  })
  say('slots', 'ok', `removed ${counted(numbers.length, 'slot')} from ${folder}`)
}
