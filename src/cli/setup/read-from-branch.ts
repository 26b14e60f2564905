import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { CONFIG_FILES } from '../../base/names.ts'
import { patience } from '../../process/sleep.ts'
import { counted, fewOf } from '../../base/text.ts'
import { underLock } from '../../engine/alone.ts'
import { runFolder } from '../../engine/folder.ts'
import type { RunPorts } from '../../engine/ports.ts'
import { Folder } from '../../engine/slot/folder.ts'
import { detectGates, MANIFESTS } from '../../config/detect-gates.ts'
import { contentsOf } from '../../git/contents.ts'
import { filesIn } from '../../git/tree.ts'
import type { Gate } from '../../base/nouns.ts'
import { hooksInTree, openHome, type Home } from '../../engine/slot/home.ts'
import { lastTrusted } from '../../engine/trust.ts'
import { commit } from '../../git/commit.ts'
import type { Git } from '../../git/git.ts'
import { tipOf } from '../../git/head.ts'
import { withoutHooks } from '../../git/settings.ts'
import { readStatus, type StatusEntry } from '../../git/status.ts'
import { composeMessage } from '../../git/trailers.ts'
import { idInFileName } from '../../backlog/task-folders.ts'
import { openProject, type Project, type Where } from '../../config/project.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import type { RunRequest } from './run-options.ts'
import { linksInside, slotsFolder } from './slots.ts'
import type { World } from '../../base/world.ts'

/** A project as a run reads it: from its branch, whatever is in the checkout. */
interface ReadProject {
  readonly project: Project
  /** What a person should know of the difference. */
  readonly warnings: readonly string[]
}

/** How a run is asked for, as far as it decides what is read. */
interface Reading {
  readonly request: Pick<RunRequest, 'branch' | 'commitTasks'>
  /** Puts a question to a person; null if nobody can be asked. */
  readonly ask: RunPorts['ask']
}

/**
 * Reads a project as the run's branch has it. Tasks that are not committed are listed first: a person at a terminal is asked
 * whether to commit them, and `--commit-tasks` does. A configuration that is not committed ends a run that cannot ask, for
 * wrong gates and budgets cost money. Other uncommitted work does not matter.
 */
export async function readFromBranch(
  world: World,
  where: Where,
  own: Project,
  reading: Reading,
): Promise<ReadProject> {
  const { root } = own
  const { repository, git: door } = await openWithCommit(world, root)
  const git = withoutHooks(door)
  const home = await openHome(door, repository, root)
  const paths = ownPaths(await readStatus(git.with({ env: { GIT_OPTIONAL_LOCKS: '0' } })), own, home.prefix)
  const { branch = null } = reading.request
  const committed = await commitIfAsked(world, own, { git, repository, ...paths }, reading)
  const tip = await tipFor(git, branch)
  const trusted = await lastTrusted(home, tip)
  const config = await untrusted(home, trusted, tip)
  const isElsewhere = branch !== null && tip !== (await headOf(git))
  const isAsCommitted = committed || paths.tasks.length + paths.config.length === 0
  const warnings = [
    ...(committed || paths.tasks.length === 0
      ? []
      : [`${fewOf(paths.tasks)} is not committed: the run takes the tasks as they are committed`]),
    ...withoutEffect(own, repository.root),
    ...(config.length === 0
      ? []
      : [`${fewOf(config)} was changed by an agent, and is not in force before you accept it: ralph trust`]),
  ]
  const withGates = async (project: Project): Promise<ReadProject> => {
    const gates = project.config.gates ?? (await detectedGates(home, { root, trusted, tip }))
    return { project: { ...project, config: { ...project.config, gates } }, warnings }
  }
  if (isAsCommitted && !isElsewhere && config.length === 0)
    return withGates(committed ? await openProject(where) : own)
  const folder = slotsFolder(own, repository.root, world.env)
  const now = await projectAt(home, folder, tip, where).catch((error: unknown) => {
    if (committed || paths.tasks.length === 0) throw error
    throw new UserError(
      `${fewOf(paths.tasks)} is not committed, and the branch has no task folder`,
      'A run takes the tasks as they are committed: commit yours, or run with --commit-tasks.',
    )
  })
  const inForce =
    config.length === 0 ? now : { ...now, config: (await projectAt(home, folder, trusted, where)).config }
  return withGates({ ...inForce, root })
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
  { root, trusted, tip }: { readonly root: string; readonly trusted: string; readonly tip: string },
): Promise<readonly Gate[]> {
  const now = detectGates(root)
  if (trusted === tip) return now
  const found = (await filesIn(git, trusted, prefix.slice(0, -1))).map(({ hash, path }) => {
    const name = path.slice(prefix.length)
    return { name, hash: MANIFESTS.some((one) => one === name) ? hash : null }
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
function withoutEffect({ config, root }: Project, top: string): readonly string[] {
  const inside = linksInside({ root, config }, top)
  return [
    ...(config.detachKey === null
      ? []
      : ['detachKey has no effect any more: take it out of the configuration']),
    ...(inside === null ? [] : [`${inside}: name it in workspace.copy`]),
  ]
}

/** The uncommitted files that a run would read: tasks, and its configuration. */
interface OwnPaths {
  /** From the top of the repository. */
  readonly tasks: readonly string[]
  readonly config: readonly string[]
  /** Those of the configuration that git does not know yet, as `ralph init` leaves them. */
  readonly isNewConfig: boolean
}

function ownPaths(
  { entries }: { readonly entries: readonly StatusEntry[] },
  place: Project,
  prefix: string,
): OwnPaths {
  const all = entries.flatMap(({ path, from }) => (from === null ? [path] : [from, path]))
  const inside = (path: string): string => (path.startsWith(prefix) ? path.slice(prefix.length) : '')
  const isConfig = (path: string): boolean => CONFIG_FILES.some((name) => inside(path) === name)
  const config = all.filter(isConfig)
  const fresh = new Set(entries.flatMap(({ path, isUntracked }) => (isUntracked ? [path] : [])))
  return {
    tasks: all.filter((path) => place.folders.includes(inside(path))),
    config,
    isNewConfig: config.every((path) => fresh.has(path)),
  }
}

/** Commits them if that is asked for; returns whether it did. Throws if an uncommitted configuration would be ignored. */
async function commitIfAsked(
  world: World,
  { root, config: { askSeconds } }: Project,
  { git, repository, tasks, config, isNewConfig }: OwnPaths & Pick<Home, 'git' | 'repository'>,
  { request: { commitTasks }, ask }: Reading,
): Promise<boolean> {
  const paths = [...tasks, ...(isNewConfig || ask ? config : [])]
  if (config.length > 0 && !(commitTasks && isNewConfig) && !ask)
    throw new UserError(
      `${fewOf(config)} is not committed, and a run reads what is committed`,
      isNewConfig ? 'Commit it, or have ralph do it: ralph run --commit-tasks' : 'Commit it first.',
    )
  if (paths.length === 0) return false
  if (!commitTasks) {
    const question = { id: '', text: `commit ${fewOf(paths, 5)} first?`, options: ['yes', 'no'] }
    const wait = patience(askSeconds, world.signal)
    const answer = await ask?.(question, wait.signal).finally(wait.end)
    if (!/^y(?:es)?$/i.test(answer ?? '')) return false
  }
  const names = [...new Set(paths.map((path) => idInFileName(path.slice(path.lastIndexOf('/') + 1)) ?? path))]
  const message = composeMessage({ subject: `Write down ${fewOf(names, 4)}`, body: '', trailers: [] })
  const me = { pid: world.pid, now: world.now() }
  await underLock(runFolder(root, repository), me, async () => {
    const result = await commit(git, { message, paths, signal: world.urgent })
    if (result.kind !== 'committed')
      throw new UserError(
        `git did not commit ${counted(paths.length, 'file')}: ${result.output}`,
        'Commit them yourself.',
      )
  })
  return true
}

async function tipFor(git: Git, branch: string | null): Promise<string> {
  return (branch === null ? null : await tipOf(git, branch)) ?? headOf(git)
}

async function headOf(git: Git): Promise<string> {
  return (await git.run(['rev-parse', '--verify', 'HEAD'])).stdout.toString().trim()
}
