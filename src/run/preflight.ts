import { patience } from '../base/patience.ts'
import { writeFileSync } from 'node:fs'
import { UserError } from '../base/errors.ts'
import { CONFIG_FILES } from '../base/names.ts'
import { fewOf } from '../base/text.ts'
import type { Base } from '../git/head.ts'
import type { TreeStatus, StatusEntry } from '../git/status.ts'
import { composeMessage } from '../git/trailers.ts'
import { NO_SHELL } from '../process/program.ts'
import { idInFileName } from '../task/file-name.ts'
import type { RunOptions, RunPorts } from './ports.ts'

/** Ensures that a run can tell its work from everybody else's, or throws with what to do; returns the base. */
export async function preflight(options: RunOptions, ports: RunPorts): Promise<Base> {
  await refuseImpossible(options, ports)
  const status = await ports.workspace.inspect.status()
  const base = baseOf(status)
  if (status.entries.length === 0) return base
  const committed = await commitTaskFiles(options, ports, status)
  if (!committed) throw uncommitted(options, ports, status)
  return committed
}

/** Throws if no run could work here, in any workspace. */
export async function refuseImpossible(options: RunOptions, ports: RunPorts): Promise<void> {
  if (options.gates.length > 0 && ports.shell === null)
    throw new UserError(`the gates cannot run: ${NO_SHELL}`)
  await refuseObstacles(ports)
}

/** Commits task files if nothing else is uncommitted and the person allows it; null if nothing was committed. */
export async function commitTaskFiles(
  options: RunOptions,
  ports: RunPorts,
  status: TreeStatus,
): Promise<Base | null> {
  return (await mayCommitTasks(options, ports, status)) ? commitTasks(ports, status) : null
}

/** Throws if something keeps ralph from committing here at all. */
export async function refuseObstacles({
  workspace,
  source,
}: {
  readonly workspace: RunPorts['workspace']
  readonly source: Pick<RunPorts['source'], 'dir'>
}): Promise<void> {
  const obstacles = await workspace.inspect.obstacles(source.dir)
  if (obstacles.length === 0) return
  const message = obstacles.map((obstacle) => obstacle.message).join('; ')
  throw new UserError(message, obstacles.map((obstacle) => obstacle.fix).join('\n'))
}

/** Switches the checkout to ralph's own index; notes what git ignores, for a run that resumes after this one. */
export async function adoptCheckout({
  workspace,
  folder,
}: Pick<RunPorts, 'workspace' | 'folder'>): Promise<void> {
  const { ignored } = await workspace.restore.adopt(null)
  writeFileSync(folder.ignored, ignored.join('\0'))
}

/** The base at HEAD; throws if there is no commit yet. */
export function baseOf(status: TreeStatus): Base {
  if (status.head === null)
    throw new UserError(
      'this repository has no commit yet, so there is nothing to begin from',
      'Make the first one: git add -A && git commit -m "Begin"',
    )
  return { head: status.head, branch: status.branch }
}

interface OwnFiles {
  readonly workspace: Pick<RunPorts['workspace'], 'prefix'>
  readonly source: Pick<RunPorts['source'], 'isTask'>
}

/**
 * The task files among the uncommitted ones, relative to the root, with a new configuration, as `ralph init` leaves it;
 * null if anything else is uncommitted.
 */
export function onlyTaskFiles(
  status: TreeStatus,
  { workspace: { prefix }, source }: OwnFiles,
): readonly string[] | null {
  const paths = pathsOf(status)
  const nested = status.entries.some((entry) => entry.nested)
  const inside = paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length))
  const fresh = status.entries.flatMap(({ path, kind }) => (kind === 'untracked' ? [path] : []))
  const configs = new Set(fresh.filter((path) => CONFIG_FILES.some((name) => path === `${prefix}${name}`)))
  const isOwn = (path: string): boolean => source.isTask(path) || configs.has(`${prefix}${path}`)
  const all = inside.length === paths.length && inside.every(isOwn)
  return all && !nested && paths.length > 0 ? inside : null
}

async function mayCommitTasks(options: RunOptions, ports: RunPorts, status: TreeStatus): Promise<boolean> {
  const files = onlyTaskFiles(status, ports)
  if (!files) return false
  if (options.commitTasks || !ports.askToCommit) return options.commitTasks
  const { signal, end } = patience(options.askSeconds, ports.control.signal)
  return ports.askToCommit(files, signal).finally(end)
}

async function commitTasks(ports: RunPorts, status: TreeStatus): Promise<Base> {
  const { workspace } = ports
  const paths = pathsOf(status)
  const ids = [...new Set(paths.map((path) => idInFileName(path.slice(path.lastIndexOf('/') + 1)) ?? path))]
  const result = await workspace.record.commitFiles({
    message: composeMessage({ subject: `Write down ${fewOf(ids, 4)}`, body: '', trailers: [] }),
    paths,
    signal: ports.control.killSignal,
  })
  if (result.kind !== 'committed')
    throw new UserError(`git did not commit the task files: ${result.output}`, 'Commit them yourself.')
  return baseOf(await workspace.inspect.status())
}

const MOST_LISTED = 20

function uncommitted(options: RunOptions, ports: RunPorts, status: TreeStatus): UserError {
  const count = status.entries.length
  const [what, them] = count === 1 ? ['1 file is', 'it'] : [`${count} files are`, 'them']
  const lines = status.entries.slice(0, MOST_LISTED).map((entry) => `  ${letter(entry)} ${entry.path}`)
  if (count > MOST_LISTED) lines.push(`  and ${count - MOST_LISTED} more`)
  const message = `${what} not committed, and a run could not tell ${them} from the agent's work:\n${lines.join('\n')}`
  const worktree = `git worktree add ../${ports.workspace.root.split(/[/\\]/).at(-1) ?? 'project'}-ralph`
  return new UserError(
    message,
    onlyTaskFiles(status, ports) && !options.commitTasks
      ? `Commit ${them}, or have ralph do it: ralph run --commit-tasks`
      : `Commit or stash ${them}, or run ralph in a worktree: ${worktree}`,
  )
}

function letter({ kind }: StatusEntry): string {
  const letters = {
    added: 'A',
    modified: 'M',
    deleted: 'D',
    renamed: 'R',
    unmerged: 'U',
    untracked: '?',
  } as const
  return letters[kind]
}

/** The paths that differ from HEAD; a moved file counts with its old and new path. */
function pathsOf({ entries }: TreeStatus): readonly string[] {
  return entries.flatMap(({ path, from }) => (from === null ? [path] : [from, path]))
}
