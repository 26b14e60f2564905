import type { Git } from '../git/git.ts'
import { readLog, type LogEntry } from '../git/history.ts'
import type { Task } from '../task/model.ts'
import { parseTask } from '../task/parse.ts'
import type { TaskVocabulary } from '../task/vocabulary.ts'
import { completionsIn } from './completions.ts'

/**
 * How a DONE task and history agree. `sealed`: the named commit turned the file DONE, and names itself in it. `matches`:
 * the commit is there and is the task's, but the field was written later, or there is none. `moved`: the task's commit
 * is another by now, after a squash or a rebase. `missing`: history has no commit of it.
 */
export type VerifyState = 'sealed' | 'matches' | 'moved' | 'missing'

export interface VerifiedTask {
  readonly id: string
  /** As the task file names it. */
  readonly commit: string | null
  /** The whole hash of the commit that completed it. */
  readonly found: string | null
  readonly state: VerifyState
}

/** What is checked, and where. */
export interface VerifyRequest {
  readonly tasks: readonly Task[]
  /** The project's root inside the repository: empty, or ending with a slash. */
  readonly prefix: string
  readonly vocabulary: TaskVocabulary
}

/** Checks every DONE task against history, in a handful of git processes however many there are. */
export async function verifyTasks(git: Git, request: VerifyRequest): Promise<readonly VerifiedTask[]> {
  const done = request.tasks.filter((task) => task.status === 'DONE')
  if (done.length === 0) return []
  const log = await readLog(git, { withTrailer: 'Task', andReverts: true })
  const byTrailer = commitsByTrailer(log)
  const named = await namedCommits(git, done, byTrailer)
  const turned = await commitsThatTurned(git, named, request)
  const verified = done.map((task): VerifiedTask => {
    const own = byTrailer.get(task.id) ?? []
    const commit = named.get(task)
    const sealed = commit !== undefined && turned.get(task) === 'sealed'
    const matches = commit !== undefined && (own.includes(commit) || turned.get(task) === 'done')
    const state = sealed ? 'sealed' : matches ? 'matches' : stateWithout(task, own)
    return { id: task.id, commit: task.commit, found: sealed || matches ? commit : (own[0] ?? null), state }
  })
  const lost = done.filter((_, index) => verified[index]?.state === 'missing')
  const squashed = await squashedInto(git, { lost, log, request })
  return verified.map((task, index) => {
    const found = squashed.get(done[index]!)
    return found === undefined ? task : { ...task, found, state: stateWithout(done[index]!, [found]) }
  })
}

/**
 * Of a message that several were made into, git takes only the last lines for trailers. So a line further up is followed
 * too, where the commit did turn the file DONE.
 */
async function squashedInto(
  git: Git,
  {
    lost,
    log,
    request,
  }: { readonly lost: readonly Task[]; readonly log: readonly LogEntry[]; readonly request: VerifyRequest },
): Promise<ReadonlyMap<Task, string>> {
  const mentions = new Map<string, string>()
  for (const { hash, body } of log) {
    for (const [, id = ''] of body.matchAll(/^Task: (T-\d+)$/gm))
      if (!mentions.has(id)) mentions.set(id, hash)
  }
  const candidates = new Map(
    lost.flatMap((task) => (mentions.has(task.id) ? [[task, mentions.get(task.id)!] as const] : [])),
  )
  const turned = await commitsThatTurned(git, candidates, request)
  return new Map([...candidates].filter(([task]) => turned.has(task)))
}

function stateWithout(task: Task, own: readonly string[]): VerifyState {
  if (own.length === 0) return 'missing'
  return task.commit === null ? 'matches' : 'moved'
}

/** The commits that say that they completed a task, newest first, those that were undone last. */
function commitsByTrailer(log: readonly LogEntry[]): ReadonlyMap<string, readonly string[]> {
  const completions = completionsIn(log)
  const commits = new Map<string, string[]>()
  const ordered = [
    ...completions.filter(({ reverted }) => !reverted),
    ...completions.filter(({ reverted }) => reverted),
  ]
  for (const { id, commit } of ordered) {
    const known = commits.get(id)
    if (known) known.push(commit)
    else commits.set(id, [commit])
  }
  return commits
}

/** The commit that each task's field names, where it is part of this history. */
async function namedCommits(
  git: Git,
  tasks: readonly Task[],
  byTrailer: ReadonlyMap<string, readonly string[]>,
): Promise<ReadonlyMap<Task, string>> {
  const named = new Map<Task, string>()
  const open: Task[] = []
  for (const task of tasks) {
    const prefix = prefixOf(task)
    if (prefix === null) continue
    const commit = byTrailer.get(task.id)?.find((hash) => hash.startsWith(prefix))
    if (commit === undefined) open.push(task)
    else named.set(task, commit)
  }
  if (open.length === 0) return named
  const hashes = (await git.run(['rev-list', 'HEAD'])).stdout.toString().split('\n')
  for (const task of open) {
    const prefix = prefixOf(task) ?? ''
    const commit = hashes.find((hash) => hash.startsWith(prefix))
    if (commit !== undefined) named.set(task, commit)
  }
  return named
}

function prefixOf({ commit }: Task): string | null {
  return commit !== null && /^[0-9a-f]{4,64}$/i.test(commit) ? commit.toLowerCase() : null
}

/** For each task whether its named commit turned the file DONE, and whether the file named it then already. */
async function commitsThatTurned(
  git: Git,
  named: ReadonlyMap<Task, string>,
  { prefix, vocabulary }: VerifyRequest,
): Promise<ReadonlyMap<Task, 'sealed' | 'done'>> {
  const asked = [...named].map(([task, commit]) => ({ task, commit, path: `${prefix}${task.file}` }))
  const texts = await contentsOf(
    git,
    asked.flatMap(({ commit, path }) => [`${commit}:${path}`, `${commit}^:${path}`]),
  )
  const turned = new Map<Task, 'sealed' | 'done'>()
  for (const [index, { task, commit }] of asked.entries()) {
    const after = await statusIn(task, texts[index * 2], vocabulary)
    const before = await statusIn(task, texts[index * 2 + 1], vocabulary)
    if (after?.status !== 'DONE' || before?.status === 'DONE') continue
    const namesItself = after.commit !== null && commit.startsWith(after.commit.toLowerCase())
    turned.set(task, namesItself ? 'sealed' : 'done')
  }
  return turned
}

async function statusIn(
  task: Task,
  text: string | null | undefined,
  vocabulary: TaskVocabulary,
): Promise<Task | null> {
  return text === null || text === undefined ? null : parseTask({ file: task.file, text }, vocabulary)
}

/** The contents of objects by name, in one process; null for one that is not there. */
async function contentsOf(git: Git, names: readonly string[]): Promise<readonly (string | null)[]> {
  // A line break in a name would be read as two names.
  const asked = names.filter((name) => !name.includes('\n'))
  if (asked.length === 0) return names.map(() => null)
  const { stdout } = await git.run(['cat-file', '--batch'], { stdin: `${asked.join('\n')}\n` })
  const found = new Map<string, string | null>()
  let at = 0
  for (const name of asked) {
    const end = stdout.indexOf(10, at)
    const head = stdout.subarray(at, end).toString()
    at = end + 1
    const size = / blob (\d+)$/.exec(head)?.[1]
    if (size === undefined) found.set(name, null)
    else {
      found.set(name, stdout.subarray(at, at + Number(size)).toString())
      at += Number(size) + 1
    }
  }
  return names.map((name) => found.get(name) ?? null)
}
