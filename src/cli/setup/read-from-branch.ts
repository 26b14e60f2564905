import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { CONFIG_FILES } from '../../base/names.ts'
import { inTime } from '../../process/sleep.ts'
import { counted, fewOf } from '../../base/text.ts'
import { underLock } from '../../engine/alone.ts'
import { runFolder } from '../../engine/folder.ts'
import type { RunPorts } from '../../engine/ports.ts'
import { Folder } from '../../engine/slot/folder.ts'
import { detectGates, namesGates } from '../../config/detect-gates.ts'
import { contentsOf } from '../../git/contents.ts'
import { filesIn } from '../../git/tree.ts'
import type { Gate } from '../../base/nouns.ts'
import { hooksInTree, openHome, type Home } from '../../engine/slot/home.ts'
import { lastTrusted } from '../../engine/trust.ts'
import { commit } from '../../git/commit.ts'
import type { Git } from '../../git/git.ts'
import { tipOf } from '../../git/head.ts'
import { withoutHooks } from '../../git/settings.ts'
import { readStatus } from '../../git/status.ts'
import { composeMessage } from '../../git/trailers.ts'
import { openProject, type Project, type Where } from '../../config/project.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import { overridden } from '../options/option.ts'
import { RUN_OPTIONS } from '../options/run-options.ts'
import { runOptions, type RunRequest } from './start-run.ts'
import { linksInside, slotsFolder } from './slots.ts'
import { refuseToStart, type World } from '../../base/world.ts'

/** How a run is asked for, as far as it decides what is read. */
interface Reading {
  readonly request: Pick<RunRequest, 'branch' | 'commitTasks'>
  /** Puts a question to a person; null if nobody can be asked. */
  readonly ask: RunPorts['ask']
}

/** Opens a run: its project, with what the request overrides, its options, and what a person should know before it begins. */
export async function openRun(
  world: World,
  where: Where,
  own: Project,
  { request, ask, canAsk = false }: { request: RunRequest; ask: RunPorts['ask']; canAsk?: boolean },
) {
  refuseToStart(world, own.root)
  const read = await readFromBranch(world, where, own, { request, ask })
  const project = overridden(read.project, RUN_OPTIONS, request)
  return { project, options: runOptions(request, project, canAsk), warnings: read.warnings }
}

/**
 * Reads a project as the run's branch has it, and what a person should know of the difference. Tasks that are not committed
 * are listed first: a person at a terminal is asked whether to commit them, and `--commit-tasks` does. A configuration that is
 * not committed ends a run that cannot ask, for wrong gates and budgets cost money. Other uncommitted work does not matter.
 */
async function readFromBranch(
  world: World,
  where: Where,
  own: Project,
  reading: Reading,
): Promise<{ readonly project: Project; readonly warnings: readonly string[] }> {
  const { root } = own
  const { repository, git: door } = await openWithCommit(world, root)
  const git = withoutHooks(door)
  const home = await openHome(door, repository, root)
  const files = await uncommitted(git, own, home.prefix)
  const isCommitted = await commitIfAsked(world, own, { git, repository, files }, reading)
  const left = isCommitted ? [] : files.tasks
  const head = (await git.run(['rev-parse', '--verify', 'HEAD'])).stdout.toString().trim()
  const { branch = null } = reading.request
  const tip = (branch === null ? null : await tipOf(git, branch)) ?? head
  const trusted = await lastTrusted(home, tip)
  const changed = await untrusted(home, trusted, tip)
  const read = async (): Promise<Project> => {
    const isAsThere = isCommitted || left.length + files.config.length === 0
    if (isAsThere && tip === head && changed.length === 0) return isCommitted ? openProject(where) : own
    const folder = slotsFolder(own, repository.root, world.env)
    const now = await projectAt(home, folder, tip, where).catch((error: unknown) => {
      if (left.length === 0) throw error
      throw new UserError(
        `${fewOf(left)} is not committed, and the branch has no task folder`,
        'A run takes the tasks as they are committed: commit yours, or run with --commit-tasks.',
      )
    })
    if (changed.length === 0) return { ...now, root }
    return { ...now, root, config: (await projectAt(home, folder, trusted, where)).config }
  }
  const project = await read()
  const gates = project.config.gates ?? (await detectedGates(home, { root, trusted, tip }))
  const warnings = [
    ...(left.length === 0
      ? []
      : [`${fewOf(left)} is not committed: the run takes the tasks as they are committed`]),
    ...withoutEffect(own, repository.root),
    ...(changed.length === 0
      ? []
      : [`${fewOf(changed)} was changed by an agent, and is not in force before you accept it: ralph trust`]),
  ]
  // Nobody has said that there are none.
  const known = project.config.gates || gates.length > 0 ? gates : null
  return { project: { ...project, config: { ...project.config, gates: known } }, warnings }
}

/** The files that decide how a run works, and that agents have changed since a commit. */
export async function untrusted(home: Home, from: string, tip: string): Promise<readonly string[]> {
  if (from === tip) return []
  const { git, prefix } = home
  const hooks = hooksInTree(home)
  const names = [...CONFIG_FILES, '.worktreeinclude', 'docs/disciplines'].map((name) => `${prefix}${name}`)
  const paths = [...names, ...(hooks === null ? [] : [hooks])].map((path) => `:(top,literal)${path}`)
  const { stdout } = await git.run(['diff-tree', '-r', '-z', '--name-only', from, tip, '--', ...paths])
  return stdout.toString().split('\0').filter(Boolean)
}

/** The detected gates. What agents wrote since the last commit of a person adds gates, and takes none away. */
async function detectedGates(
  { git, prefix }: Home,
  { root, trusted, tip }: { root: string; trusted: string; tip: string },
): Promise<readonly Gate[]> {
  const now = detectGates(root)
  if (trusted === tip) return now
  const folders = [prefix.slice(0, -1), `${prefix}tests`]
  const entries = (await Promise.all(folders.map((folder) => filesIn(git, trusted, folder)))).flat()
  const found = entries.map(({ hash, path }) => {
    const name = path.slice(prefix.length)
    return { name, hash: namesGates(name) ? hash : null }
  })
  const texts = await contentsOf(
    git,
    found.flatMap(({ hash }) => hash ?? []),
  )
  const files = new Map(found.map(({ name, hash }) => [name, texts.get(hash ?? '')?.toString() ?? '']))
  const then = detectGates(root, files)
  return [...then, ...now.filter(({ name }) => !then.some((gate) => gate.name === name))]
}

/** The project as a commit has it, read from a folder of ralph's own below that one. */
export async function projectAt(
  home: Home,
  below: string,
  commitHash: string,
  { dir }: Pick<Where, 'dir'>,
): Promise<Project> {
  const { git, repository, settings, prefix } = home
  const read = new Folder(
    { git, commonDir: repository.commonDir, settings },
    { files: join(below, 'read', basename(repository.root)), own: join(below, 'read.git') },
  )
  mkdirSync(below, { recursive: true })
  read.open()
  await read.bring(`${commitHash}^{tree}`)
  // It marks where the project ends: nothing above this folder belongs to it.
  mkdirSync(join(read.files, '.git'), { recursive: true })
  return openProject({ cwd: join(read.files, prefix), dir })
}

/** Keys of an earlier version that have no effect any more. */
function withoutEffect(project: Project, top: string): readonly string[] {
  const inside = linksInside(project, top)
  return [
    ...(project.config.detachKey === null
      ? []
      : ['detachKey has no effect any more: take it out of the configuration']),
    ...(inside === null ? [] : [`${inside}: name it in workspace.copy`]),
  ]
}

/** The uncommitted files that a run would read, from the top of the repository. */
async function uncommitted(git: Git, { folders }: Project, prefix: string) {
  const { entries } = await readStatus(git.with({ env: { GIT_OPTIONAL_LOCKS: '0' } }))
  const all = entries.flatMap(({ path, from }) => (from === null ? [path] : [from, path]))
  const inside = (path: string): string => (path.startsWith(prefix) ? path.slice(prefix.length) : '')
  const config = all.filter((path) => CONFIG_FILES.some((name) => inside(path) === name))
  const fresh = new Set(entries.flatMap(({ path, isUntracked }) => (isUntracked ? [path] : [])))
  return {
    tasks: all.filter((path) => folders.includes(inside(path))),
    config,
    /** Whether git does not know the configuration yet, as `ralph init` leaves it. */
    isNewConfig: config.every((path) => fresh.has(path)),
  }
}

/** What is not committed, and the git to commit it with. */
interface Commitable extends Pick<Home, 'git' | 'repository'> {
  readonly files: Awaited<ReturnType<typeof uncommitted>>
}

/** Commits them if that is asked for; returns whether it did. Throws if an uncommitted configuration would be ignored. */
async function commitIfAsked(
  world: World,
  { root, folders, config: { askSeconds } }: Project,
  { git, repository, files: { tasks, config, isNewConfig } }: Commitable,
  { request: { commitTasks }, ask }: Reading,
): Promise<boolean> {
  if (config.length > 0 && !(commitTasks && isNewConfig) && !ask)
    throw new UserError(
      `${fewOf(config)} is not committed, and a run reads what is committed`,
      isNewConfig ? 'Commit it, or have ralph do it: ralph run --commit-tasks' : 'Commit it first.',
    )
  const paths = [...tasks, ...(isNewConfig || ask ? config : [])]
  if (paths.length === 0) return false
  if (!commitTasks) {
    if (!ask) return false
    const text = `commit ${fewOf(paths, 5)} first?`
    const question = { id: '', text, options: ['yes', 'no'], isClosed: true } as const
    const answer = await inTime(askSeconds, world.signal, (signal) => ask(question, signal))
    if (!/^y(?:es)?$/i.test(answer ?? '')) return false
  }
  const names = new Set(paths.map((path) => folders.ids.inFileName(basename(path)) ?? path))
  const message = composeMessage({ subject: `Write down ${fewOf([...names], 4)}`, body: '', trailers: [] })
  await underLock(runFolder(root, repository), world, async () => {
    const result = await commit(git, { message, paths, signal: world.urgent })
    if (result.kind !== 'committed')
      throw new UserError(
        `git did not commit ${counted(paths.length, 'file')}: ${result.output}`,
        'Commit them yourself.',
      )
  })
  return true
}
