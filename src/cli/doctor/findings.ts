import { nativePath, pathWithin } from '../../base/paths.ts'
import { shortened } from '../../base/text.ts'
import { formatDuration } from '../../base/time.ts'
import { livingOf, livingTree, type LivingProcess, type RunTrace } from '../../process/tree.ts'
import type { Git } from '../../git/git.ts'
import { type Repository, findRepository } from '../../git/repository.ts'
import { runFolder } from '../../engine/folder.ts'
import { lockOwner } from '../../process/lock.ts'
import { readStatus } from '../../git/status.ts'
import { obstacles } from '../../engine/preflight.ts'
import { readNote } from '../../engine/note.ts'

/** One check: whether all is well, and what to do if not. */
export interface Finding {
  readonly area: string
  /** `problem` keeps a run from starting; `note` is only worth knowing. */
  readonly level: 'ok' | 'note' | 'problem'
  readonly message: string
  readonly fix: string
}

/** The oldest git that has every option in use: `git merge-tree --write-tree`. */
const OLDEST_GIT = [2, 38] as const

/** Checks git, the checkout and what earlier runs have left, and changes nothing. */
export async function doctorFindings(where: {
  readonly git: Git
  readonly root: string
  readonly dir: string
  readonly now: Date
}): Promise<readonly Finding[]> {
  const found: Finding[] = [await gitVersion(where.git)]
  const repository = await findRepository(where.git)
  if (!repository) {
    const fix = 'Make one: git init, then commit what there is'
    return [...found, finding('git', 'problem', 'there is no git repository here', fix)]
  }
  found.push(
    finding(
      'git',
      'ok',
      repository.linkedWorktree ? 'a linked worktree' : `the repository at ${repository.root}`,
    ),
  )
  return [
    ...found,
    ...(await inspectTree(where, repository)),
    ...(await inspectRuns({ ...where, checkout: repository })),
  ]
}

async function gitVersion(git: Git): Promise<Finding> {
  const version = (await git.run(['version'])).stdout.toString().trim().replace('git version ', '')
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOld = major < OLDEST_GIT[0] || (major === OLDEST_GIT[0] && minor < OLDEST_GIT[1])
  if (!isOld) return finding('git', 'ok', `git ${version}`)
  return {
    area: 'git',
    level: 'problem',
    message: `git ${version} is too old`,
    fix: `Install git ${OLDEST_GIT.join('.')} or later`,
  }
}

async function inspectTree(
  { git, root, dir }: Pick<Parameters<typeof doctorFindings>[0], 'git' | 'root' | 'dir'>,
  repository: Repository,
): Promise<readonly Finding[]> {
  const found: Finding[] = []
  const inside = pathWithin(nativePath(repository.root), nativePath(root)) ?? ''
  const prefix = inside === '' ? '' : `${inside}/`
  for (const { message, fix } of await obstacles(git.at(repository.root), prefix, dir))
    found.push(finding('git', 'problem', message, fix))
  const { head, branch, entries } = await readStatus(git)
  if (head === null) {
    const fix = 'git add -A && git commit'
    found.push(finding('git', 'problem', 'there is no commit yet', fix))
  }
  if (branch === null) {
    const message = 'HEAD is detached: commits will be on no branch'
    found.push(finding('git', 'note', message))
  }
  if (entries.length === 0) return [...found, finding('tree', 'ok', 'everything is committed')]
  const what = entries.length === 1 ? '1 file is' : `${entries.length} files are`
  const message = `${what} not committed: a run works on what is committed, and leaves the rest as it is`
  return [...found, finding('tree', 'note', message)]
}

async function inspectRuns({
  root,
  checkout,
  now,
}: {
  readonly root: string
  readonly checkout: Repository
  readonly now: Date
}): Promise<readonly Finding[]> {
  const folder = runFolder(root, checkout)
  const lock = await lockOwner(folder.lock)
  const note = readNote(folder.note)
  const found: Finding[] = []
  if (lock?.alive) {
    const { pid, host, since } = lock.owner
    const message = `a run is at work: process ${pid} on ${host}, for ${ago(since, now)}`
    found.push(finding('lock', 'note', message))
  } else {
    found.push(
      finding('lock', 'ok', lock ? 'a dead run’s lock, which the next one takes over' : 'no run is at work'),
    )
  }
  if (lock?.alive) {
    const living = await startedBy(lock, note)
    for (const line of processLines(living)) found.push(finding('processes', 'note', line))
  }
  if (!note) return [...found, finding('leftovers', 'ok', 'nothing is left of an earlier run')]
  if (!lock?.alive) {
    for (const line of processLines(await livingOf(note))) {
      const isRoot = /^\d/.test(line)
      const fix = isRoot ? 'The next ralph run ends it' : ''
      found.push(finding('leftovers', 'note', isRoot ? `running: ${line}` : line, fix))
    }
  }
  for (const { attempt } of lock?.alive ? [] : note.jobs) {
    const { task, number, startedAt } = attempt
    const message = `a run died during attempt ${number} at ${task}, begun ${ago(startedAt, now)} ago`
    found.push(finding('leftovers', 'note', message, 'The next ralph run records its work, and continues'))
  }
  return found
}

/** The processes of a living run: its descendants, and those that its note leads to. */
async function startedBy(
  { owner: { pid }, visible }: NonNullable<Awaited<ReturnType<typeof lockOwner>>>,
  trace: RunTrace | null,
): Promise<readonly LivingProcess[]> {
  const below = visible ? await livingTree(pid) : []
  const noted = trace === null ? [] : await livingOf(trace)
  const living = new Map([...below, ...noted].map((process) => [process.pid, process]))
  return [...living.values()].filter((process) => process.pid !== pid)
}

/** A finding, with what to do about it. */
export function finding(area: string, level: Finding['level'], message: string, fix = ''): Finding {
  return { area, level, message, fix }
}

function ago(since: string, now: Date): string {
  return formatDuration((now.getTime() - Date.parse(since)) / 1000)
}

const LONGEST = 100

/** Processes as a tree, one line each: `12 npm test`, and below it `└─ 13 node test.mjs`. */
export function processLines(processes: readonly LivingProcess[]): readonly string[] {
  const pids = new Set(processes.map(({ pid }) => pid))
  const below = (parent: number): readonly LivingProcess[] =>
    processes.filter((process) => process.parent === parent && process.pid !== parent)
  const draw = (process: LivingProcess, indent: string): readonly string[] => {
    const children = below(process.pid)
    return children.flatMap((child, index) => {
      const isLast = index === children.length - 1
      const deeper = indent + (isLast ? '   ' : '│  ')
      return [`${indent}${isLast ? '└─' : '├─'} ${nameOf(child)}`, ...draw(child, deeper)]
    })
  }
  const roots = processes.filter(({ parent }) => !pids.has(parent))
  return roots.flatMap((root) => [nameOf(root), ...draw(root, '')])
}

function nameOf({ pid, command }: LivingProcess): string {
  return shortened(`${pid} ${command.replace(/\s+/g, ' ')}`.trim(), LONGEST)
}
