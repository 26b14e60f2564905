import type { RunEvent } from '../events/event.ts'
import { findTask } from '../project/find-task.ts'
import type { Project } from '../project/project.ts'
import { NO_WISH, runOptions, type RunWish } from '../project/run-options.ts'
import { NO_QUESTIONS } from '../project/questions.ts'
import { startRun } from '../project/start-run.ts'
import { refuseInside } from '../project/world.ts'
import { Control } from '../run/control.ts'
import { ownWorld } from './world.ts'

/** What is asked of a run; what is left out is as the configuration has it. */
export type RunRequest = Partial<Omit<RunWish, 'isInteractive'>>

/** A run under way: its events, one after the other to the last, and what can be done to it meanwhile. */
export interface Run extends AsyncIterable<RunEvent> {
  /** No further attempt begins until somebody resumes. */
  readonly pause: () => void
  readonly resume: () => void
  /** Ends it: after the attempt that is under way, in order, or at once. */
  readonly stop: (how?: 'after-attempt' | 'clean' | 'now') => void
  /** Ends the attempt at that task, which is kept, and leaves the task out of this run. */
  readonly skip: (task: string) => void
  /** Answers the question about that task; false where none is asked. */
  readonly answer: (task: string, text: string) => boolean
}

/**
 * Runs tasks of a project, as `ralph run` does. It begins when its events are first asked for. Who stops reading them stops
 * the run, in order; what keeps it from beginning is thrown to the reader.
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
  refuseInside(world, project.root)
  const task = request.task == null ? null : findTask(project.tasks, request.task).id
  const wish: RunWish = { ...NO_WISH, ...request, task }
  const events: RunEvent[] = []
  let wake = (): void => undefined
  let isOver = false
  const emit = (event: RunEvent): void => {
    events.push(event)
    wake()
  }
  const options = runOptions(wish, project)
  const finished = startRun(world, project, {
    wish,
    options,
    questions: NO_QUESTIONS,
    emit,
    control,
  }).finally(() => {
    isOver = true
    wake()
  })
  // Whoever reads is told where it is awaited below.
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
