import { fileURLToPath } from 'node:url'
import { lintContext } from '../authoring/lint-context.ts'
import { setStatus } from '../backlog/edit-field.ts'
import { fix } from '../backlog/lint/fix.ts'
import { byPlace, lint } from '../backlog/lint/lint.ts'
import { lintLibrary } from '../prompt/library.ts'
import type { LintContext } from '../backlog/lint/rule.ts'
import { edited } from '../backlog/markdown/splice.ts'
import type { Status, Task } from '../backlog/model.ts'
import { parseTask } from '../backlog/parse.ts'
import { TASK_VOCABULARY, type TaskVocabulary } from '../backlog/vocabulary.ts'
import { builtFile } from '../base/built-file.ts'
import type { Diagnostic } from '../base/diagnostic.ts'
import type { World } from '../base/world.ts'
import { findTask } from '../config/find-task.ts'
import { openProject as open, type Project } from '../config/project.ts'
import { Control } from '../engine/control.ts'
import type { RunEvent } from '../engine/events/event.ts'
import type { Git } from '../git/git.ts'
import { readHistory } from '../git/open-repository.ts'
import { resolveRange } from '../git/range.ts'
import { listRecords, type KeptAttempt } from '../git/record.ts'
import { diffBacklog, type BacklogDiff } from '../history/backlog-diff.ts'
import { readCompletions, type CompletionRecord } from '../history/completions.ts'
import { periodOf } from '../history/period.ts'
import { statsOf, type Stats } from '../history/stats.ts'
import { verifyTasks, type Verification } from '../history/verify.ts'
import { openRun } from './setup/read-from-branch.ts'
import { type RunRequest, startRun } from './setup/start-run.ts'
import { unreadDiagnostics } from '../config/unread.ts'
import { previewPrompt } from './setup/task-prompt.ts'

/** The world of the program that uses the library: its folder, environment and clock, unchanged. */
function ownWorld(): World {
  return {
    cwd: process.cwd(),
    env: process.env,
    self: [process.execPath, fileURLToPath(builtFile('bin.cjs'))],
    pid: process.pid,
    now: () => new Date(),
    signal: new AbortController().signal,
    urgent: new AbortController().signal,
  }
}

/** Opens the project of a folder: its configuration, its tasks, and decisions about them. */
export function openProject(
  cwd: string,
  { dir }: { /** Another task folder. */ readonly dir?: string } = {},
): Promise<Project> {
  return open({ cwd, dir })
}

/** Checks a whole project, like `ralph lint`: the problems, their places, and their fixes if there is one right fix. */
export async function lintProject(project: Project): Promise<readonly Diagnostic[]> {
  const around = await lintContext(project)
  return [
    ...lint(project.tasks, around),
    ...(await lintLibrary(project.root, around)),
    ...unreadDiagnostics(project),
  ].sort(byPlace)
}

/** The new texts of the tasks that lint can fix, by file; writes nothing. */
export async function fixTasks(
  tasks: readonly Task[],
  context: LintContext = {},
  vocabulary: TaskVocabulary = TASK_VOCABULARY,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  const known = new Map(tasks.map((task) => [task.file, task]))
  const rewrite = async (textOf: (task: Task) => string | null): Promise<readonly string[]> => {
    const written: string[] = []
    for (const [file, task] of known) {
      const text = textOf(task)
      if (text === null) continue
      written.push(file)
      texts.set(file, text)
      known.set(file, await parseTask({ file, text }, vocabulary))
    }
    return written
  }
  await fix(tasks, { read: async () => [...known.values()], rewrite }, context)
  return texts
}

/** The text of a task's file with another status; all other bytes stay the same. */
export function withStatus(task: Task, status: Status, vocabulary: TaskVocabulary = TASK_VOCABULARY): string {
  return edited(task, setStatus(task, status, vocabulary))
}

/** The exact prompt that an agent would get for a task, with its estimated tokens. */
export async function promptFor(
  project: Project,
  id: string,
): Promise<{ readonly text: string; readonly estimate: number; readonly warnings: readonly string[] }> {
  const { tasks } = project
  const prompt = await previewPrompt(ownWorld(), project, { task: findTask(tasks, id), tasks })
  const { text, estimate, warnings } = prompt
  return { text, estimate, warnings }
}

/** A completed task, with the milestone in its file. */
export interface Completion extends CompletionRecord {
  readonly milestone: string | null
}

/** The history of a project, from git alone. */
export interface History {
  /** Completed tasks, newest first; since a date, a tag or another commit, or in a range `a..b`. */
  readonly completions: (since?: string) => Promise<readonly Completion[]>
  /** The kept attempts, of one task or of all. */
  readonly attempts: (task?: string) => Promise<readonly KeptAttempt[]>
  /** Whether each DONE task names the commit that completed it. */
  readonly verify: () => Promise<Verification>
  /** The totals of tasks, by group. */
  readonly stats: (by: 'milestone' | 'tier' | 'agent') => Promise<Stats>
  /** The changes of a range to the backlog; by default from the common ancestor with the main branch to the checkout. */
  readonly diff: (range?: string) => Promise<BacklogDiff>
}

/** Opens the history of a project. Starts nothing that the repository names, and writes nothing. */
export function openHistory(project: Project): History {
  const { root, vocabulary, config, tasks } = project
  const { subject } = config.commit
  const read = <T>(work: (git: Git) => Promise<T>): Promise<T> => readHistory(ownWorld(), root, work)
  const milestones = new Map(tasks.map(({ id, milestone }) => [id, milestone]))
  const completions = (since?: string): Promise<readonly Completion[]> =>
    read(async (git) => {
      const { query } = await periodOf(git, since)
      const found = await readCompletions(git, { ...query, vocabulary, subject })
      return found.map((one) => ({ ...one, milestone: milestones.get(one.id) ?? null }))
    })
  const attempts = (task?: string): Promise<readonly KeptAttempt[]> => read((git) => listRecords(git, task))
  return {
    completions,
    attempts,
    verify: () => read((git) => verifyTasks(git, { readTasks: async () => tasks, vocabulary })),
    async stats(by) {
      const [done, tried] = await Promise.all([completions(), attempts()])
      const nameOf = (one: Completion) => (by === 'agent' ? one.agent?.split(' ')[0] : one[by])
      return statsOf(done, tried, (one) => nameOf(one) ?? 'unknown')
    },
    async diff(range) {
      const around = await lintContext(project)
      return read(async (git) =>
        diffBacklog(git, await resolveRange(git, range), { ...project, tiers: config.tiers, around }),
      )
    },
  }
}

/** A run: its events in order, and ways to control it. */
export interface Run extends AsyncIterable<RunEvent> {
  /** Begins no further attempt until `resume` is called. */
  readonly pause: () => void
  readonly resume: () => void
  /** Ends it: after the current attempt, cleanly, or at once. */
  readonly stop: (how?: 'after-attempt' | 'clean' | 'now') => void
  /** Ends the current attempt at that task, which is kept, and leaves the task out of this run. */
  readonly skip: (task: string) => void
  /** Answers the question about that task; returns false if there is none. */
  readonly answer: (task: string, text: string) => boolean
}

/**
 * Runs tasks of a project, like `ralph run`. It begins with the first request for an event. A reader that stops
 * reading stops the run cleanly; if the run cannot begin, the error is thrown to the reader.
 */
export function run(project: Project, request: RunRequest = {}): Run {
  const control = new Control()
  return {
    pause: () => control.pause(),
    resume: () => control.resume(),
    stop: (how = 'clean') => control.stop(how),
    skip: (task) => control.skip(task),
    answer: (task, text) => control.answer(task, text),
    [Symbol.asyncIterator]: () => eventsOf(project, request, control),
  }
}

async function* eventsOf(project: Project, request: RunRequest, control: Control): AsyncGenerator<RunEvent> {
  const world = ownWorld()
  const task = request.task == null ? null : findTask(project.tasks, request.task).id
  const wanted = { ...request, task }
  const events: RunEvent[] = []
  let wake = (): void => undefined
  let isOver = false
  const emit = (event: RunEvent): void => {
    events.push(event)
    wake()
  }
  const begin = async (): Promise<void> => {
    const { names, first } = project.folders
    const where = { cwd: project.root, dir: names.length === 1 ? first : undefined }
    const opened = await openRun(world, where, project, { request: wanted, ask: null })
    const { options, warnings } = opened
    const run = { request: wanted, options, ask: null, terminal: null, emit, control, warnings }
    // What fails after the end of the run, such as a notification, nobody hears.
    await startRun(world, opened.project, { ...run, warn: () => undefined })
  }
  const finished = begin().finally(() => {
    isOver = true
    wake()
  })
  // The error is reported where the promise is awaited below.
  finished.catch(() => undefined)
  try {
    for (;;) {
      const event = events.shift()
      if (event) yield event
      else if (isOver) break
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    if (!isOver) control.stop('clean')
    await finished
  }
}
