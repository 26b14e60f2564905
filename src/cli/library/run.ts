import type { RunEvent } from '../../engine/events/event.ts'
import { findTask } from '../../config/find-task.ts'
import type { Project } from '../../config/project.ts'
import { overridden } from '../options/option.ts'
import { RUN_OPTIONS } from '../options/run-options.ts'
import { runOptions, type RunRequest } from '../setup/run-options.ts'
import { readFromBranch } from '../setup/read-from-branch.ts'
import { startRun } from '../setup/start-run.ts'
import { refuseToStart } from '../../base/world.ts'
import { Control } from '../../engine/control.ts'
import { ownWorld } from './world.ts'

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
  refuseToStart(world, project.root)
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
    const read = await readFromBranch(world, where, project, { request: wanted, ask: null })
    const asked = overridden(read.project, RUN_OPTIONS, wanted)
    const options = runOptions(wanted, asked)
    const run = { request: wanted, options, ask: null, emit, control, warnings: read.warnings }
    await startRun(world, asked, run)
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
