import { checkWork } from '../attempt/check.ts'
import type { Job } from '../attempt/job.ts'
import type { QuestionToPerson, AttemptPorts, Emit } from '../attempt/ports.ts'
import type { Happening } from '../events/event.ts'
import type { LandingPorts, Refusal } from '../landing/land.ts'
import { withMark } from '../process/mark.ts'
import type { Task } from '../task/model.ts'
import type { Work } from '../workspace/port.ts'
import type { RunOptions, RunPorts } from './ports.ts'
import { announced } from './prepare.ts'
import { currentTask } from './source.ts'

/** The ports of a run's attempts. */
export function attemptPorts(ports: RunPorts, task: string): AttemptPorts {
  const { workspace, agent, runGate, statusIn, logs, now, control, terminal, server, checkpoint } = ports
  return {
    workspace,
    agent,
    runGate,
    statusIn,
    logs,
    env: withMark(ports.env, ports.mark),
    now,
    signal: control.signal,
    killSignal: control.killSignal,
    control: {
      unpaused: () => control.unpaused(),
      skipped: control.skipped(task),
      offer: (take) => control.offer(task, take),
    },
    terminal,
    server,
    ask: (question, signal) => answerFor(ports, question, signal),
    addTask: (draft) => ports.addTask(draft, { root: workspace.root, tasks: ports.source.tasks() }),
    checkpoint,
  }
}

/** A person's answer to an agent, from the run's terminal or from another one, whichever is first. */
export async function answerFor(
  { control, reply }: Pick<RunPorts, 'control' | 'reply'>,
  question: QuestionToPerson,
  signal: AbortSignal,
): Promise<string | null> {
  const answered = new AbortController()
  const over = AbortSignal.any([signal, answered.signal])
  const elsewhere = control.answerTo(question.id, over)
  const here = reply?.(question, over).then((text) => {
    // Ctrl-C at a question stops the run.
    if (text === null && !over.aborted) control.stop('clean')
    return text
  })
  const answer = await Promise.race([elsewhere, ...(here ? [here] : [])])
  answered.abort()
  return answer
}

/**
 * The files that a landing writes: these task files, the progress file, and the files of other tools with the tasks'
 * status.
 */
export function writtenBesideWork(
  {
    options,
    ports,
  }: { readonly options: Pick<RunOptions, 'progress'>; readonly ports: Pick<RunPorts, 'origins'> },
  tasks: readonly Pick<Task, 'file'>[],
): readonly string[] {
  const { progress } = options
  return [...tasks.map(({ file }) => file), ...(progress === null ? [] : [progress]), ...ports.origins.files]
}

/** The ports of a landing. */
export function landingPorts(
  run: {
    readonly options: Pick<RunOptions, 'progress'>
    readonly ports: RunPorts
    readonly emit: Emit<Happening>
  },
  job: Pick<Job, 'task' | 'attempt' | 'gates'>,
): LandingPorts {
  const { ports, emit } = run
  const { source, workspace, edits, origins, sealer, now, control, checkpoint } = ports
  return {
    workspace,
    async taskNow() {
      const task = await currentTask(source, job.task)
      return task?.problems.every(({ kind }) => kind !== 'unreadable') ? task : null
    },
    complete: (task, completion) => edits.complete(task, completion),
    origins,
    async check(work: Work) {
      const verdict = await checkWork(
        {
          id: job.task.id,
          attempt: job.attempt,
          gates: job.gates,
          work,
          written: writtenBesideWork(run, [job.task]),
          produced: announced(source.tasks()),
          objection: async () => null,
        },
        attemptPorts(ports, job.task.id),
        emit,
      )
      return { refusal: refusalOf(verdict.outcome), work: verdict.work, passed: verdict.passed }
    },
    sealer,
    now,
    signal: control.signal,
    killSignal: control.killSignal,
    checkpoint,
  }
}

function refusalOf(failed: Awaited<ReturnType<typeof checkWork>>['outcome']): Refusal | null {
  if (!failed) return null
  const kind = failed.kind === 'interrupted' ? 'interrupted' : 'gate-failed'
  return { kind, reason: failed.reason, detail: failed.detail, fingerprint: failed.fingerprint }
}
