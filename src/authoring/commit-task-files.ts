import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { UserError } from '../base/errors.ts'
import { pathKey } from '../base/paths.ts'
import { counted, fewOf } from '../base/text.ts'
import { commit } from '../git/commit.ts'
import { pathSpelling } from '../git/repository.ts'
import { withoutHooks } from '../git/settings.ts'
import { readStatus } from '../git/status.ts'
import { composeMessage } from '../git/trailers.ts'
import { readNamed } from '../config/find-task.ts'
import { openPlace, selectByHeads, spelledWords, type Place, type Where } from '../config/project.ts'
import { dependantsOf } from '../backlog/select/selection.ts'
import { attemptMessage, keepCommit, listRecords } from '../git/record.ts'
import { openWithCommit } from '../git/open-repository.ts'
import { refuseInside, type World } from '../base/world.ts'
import { withoutRun } from '../engine/alone.ts'
import { runFolder } from '../engine/folder.ts'
import { answerMessage, subjectOf } from '../engine/give-up.ts'
import { reopenTask, retryTask, setCommit } from '../backlog/finish.ts'
import type { Task } from '../backlog/model.ts'
import { readBacklog } from '../backlog/read.ts'
import { openOrigins } from './origins.ts'

/** New texts of task files and the files that go with them, and the commit that must contain only these. */
interface TaskFileCommit {
  readonly root: string
  readonly texts: ReadonlyMap<string, string>
  /** Those of them that are new. */
  readonly added?: readonly string[]
  /** The task's own file, whose uncommitted text is a person's, and part of the commit. */
  readonly task?: string
  readonly message: string
}

/** Writes files, and commits only them, while no run is at work; if git refuses, the files are as before. */
export async function commitTaskFiles(world: World, request: TaskFileCommit): Promise<void> {
  refuseInside(world, request.root)
  const opened = await openWithCommit(world, request.root)
  const folder = runFolder(request.root, opened.repository)
  // Hooks are for a run's commits, in its sandbox.
  const git = withoutHooks(opened.git)
  await withoutRun(folder, world, () => write({ ...opened, git }, request))
}

async function write(
  { git, repository }: Awaited<ReturnType<typeof openWithCommit>>,
  { root, texts, added = [], task, message }: TaskFileCommit,
): Promise<void> {
  const files = [...texts.keys()]
  const paths = files.map((file) => relative(repository.root, join(root, file)).replaceAll('\\', '/'))
  const [{ entries }, spelling] = [await readStatus(git), await pathSpelling(git)]
  const changed = new Set(entries.map(({ path }) => pathKey(path, spelling)))
  const isDirty = (file: string, index: number): boolean =>
    file !== task && changed.has(pathKey(paths[index]!, spelling))
  const dirty = files.find(isDirty)
  if (dirty !== undefined) {
    throw new UserError(`${dirty} is not committed`, 'Commit your changes to it first.')
  }
  const taken = added.find((file) => existsSync(join(root, file)))
  if (taken !== undefined)
    throw new UserError(`${taken} was created meanwhile`, 'Nothing was changed: run the command again.')
  const before = files.map((file) => (existsSync(join(root, file)) ? readFileSync(join(root, file)) : null))
  let isCommitted = false
  try {
    for (const [file, text] of texts) {
      mkdirSync(dirname(join(root, file)), { recursive: true })
      writeFileSync(join(root, file), text)
    }
    const specs = fewerPaths(paths, { changed, keyOf: (path) => pathKey(path, spelling) })
    const result = await commit(git, { message, paths: specs })
    isCommitted = result.kind === 'committed'
    if (result.kind !== 'committed')
      throw new UserError(`git did not take the commit:\n${result.output}`, 'Nothing was changed.')
  } finally {
    if (!isCommitted) for (const [index, file] of files.entries()) restore(join(root, file), before[index])
  }
}

/** From here on git takes long, as it compares each path with each file. */
const MANY_PATHS = 500

/** The paths to commit; for many the folders that they are in, if nothing else in those has changed. */
function fewerPaths(
  paths: readonly string[],
  { changed, keyOf }: { changed: ReadonlySet<string>; keyOf: (path: string) => string },
): readonly string[] {
  if (paths.length < MANY_PATHS) return paths
  const folders = [...new Set(paths.map((path) => posix.dirname(path)))]
  const own = new Set(paths.map(keyOf))
  const keys = folders.map((folder) => (folder === '.' ? '' : `${keyOf(folder)}/`))
  const isAmong = (path: string): boolean => keys.some((key) => path.startsWith(key) || key.startsWith(path))
  return [...changed].some((path) => !own.has(path) && isAmong(path)) ? paths : folders
}

function restore(path: string, before: Buffer | null | undefined): void {
  if (before) writeFileSync(path, before)
  else rmSync(path, { force: true })
}

/**
 * Makes a blocked task TODO again, in a commit of its own. The reason is kept for the next prompt, and below it
 * the answer.
 */
export async function retry(
  world: World,
  where: Where,
  request: { task: string; answer: string | null },
): Promise<Task> {
  const place = await openPlace(where)
  const task = await readNamed(place, request.task)
  const { id } = task
  const answer = request.answer?.trim() ?? null
  if (answer === '') throw new UserError('an answer needs a text', `ralph answer ${id} "MIT"`)
  if (task.status !== 'BLOCKED' && !task.held) {
    const status = task.status ?? 'without a clear status'
    throw new UserError(`${id} is not blocked: it is ${status}`, `ralph show ${id} says where it stands.`)
  }
  const message = answer === null ? retryMessage(`${id}: Try again`, id) : answerMessage(id, answer)
  await commitAsTodo(world, place, task, {
    text: retryTask(task, await spelledWords(place), answer),
    message,
  })
  return task
}

/** Makes a DONE task TODO again, in a commit of its own. What is known of its completion is kept for the next prompt. */
export async function reopen(
  world: World,
  where: Where,
  { task: named, why }: { task: string; why: string },
): Promise<Task> {
  const place = await openPlace(where)
  const task = await readNamed(place, named)
  const { id, number, status } = task
  if (status !== 'DONE')
    throw new UserError(
      `only a task that is DONE can be reopened: ${id} is ${status ?? 'without a clear status'}`,
      `ralph show ${id} says where it stands.`,
    )
  const dependants = dependantsOf(await selectByHeads(place), number).map((dependant) => dependant.task)
  const done = dependants.filter((dependant) => dependant.status === 'DONE').map((dependant) => dependant.id)
  if (done.length > 0)
    throw new UserError(
      `${id} cannot be TODO while tasks that need it are DONE: ${fewOf(done)}`,
      `Reopen those first, or add a task: ralph new "Title" --depends ${id}`,
    )
  const text = reopenTask(task, why, await spelledWords(place))
  const subject = [`${id}: Reopen`, ...(why === '' ? [] : [why])].join(': ')
  await commitAsTodo(world, place, task, { text, message: retryMessage(subjectOf(subject), id) })
  await endSeries(world, place, id)
  return task
}

/** Lets the attempts at a reopened task be counted from the beginning. */
async function endSeries(world: World, { root }: Place, id: string): Promise<void> {
  const { git } = await openWithCommit(world, root)
  const last = (await listRecords(git, id)).at(-1)
  if (!last || last.final) return
  const message = attemptMessage({ ...last, final: true })
  // Its time says before which completion it was.
  const dated = git.with({ env: { GIT_COMMITTER_DATE: `@${last.keptAt} +0000` } })
  await keepCommit(dated, { ...last, message, replaces: last.commit })
}

async function commitAsTodo(
  world: World,
  { root, config }: Place,
  task: Task,
  { text, message }: { text: string; message: string },
): Promise<void> {
  const origins = await openOrigins(config.bridges, root)
  const origin = await origins.texts(task, { status: 'TODO', reason: '', at: world.now(), failed: [] })
  const texts = new Map([[task.file, text], ...origin])
  await commitTaskFiles(world, { root, task: task.file, texts, message })
}

function retryMessage(subject: string, id: string): string {
  const trailers = Object.entries({ Task: id, Retried: 'yes' }).map(([key, value]) => ({ key, value }))
  return composeMessage({ subject, body: '', trailers })
}

/** Rewrites the Commit fields of these tasks, each with as many digits as before, in one commit. */
export async function nameCommits(
  world: World,
  place: Place,
  commits: ReadonlyMap<string, string>,
): Promise<void> {
  const { root, vocabulary } = place
  const { tasks } = await readBacklog(place)
  const texts = tasks.flatMap((task): [string, string][] => {
    const commit = commits.get(task.id)
    const name = commit?.slice(0, digitsOf(task.commit))
    return name === undefined ? [] : [[task.file, setCommit(task, name, vocabulary)]]
  })
  const subject = `Name the commits that completed ${counted(texts.length, 'task')}`
  const message = composeMessage({ subject, body: [...commits.keys()].join(', '), trailers: [] })
  await commitTaskFiles(world, { root, texts: new Map(texts), message })
}

/** The number of digits; git's usual number for a field without a hash. */
function digitsOf(named: string | null): number {
  return named !== null && /^[0-9a-f]{4,64}$/i.test(named) ? named.length : 7
}
