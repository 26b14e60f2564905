import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jobTaskOf, type Job } from '../attempt/job.ts'
import { missingOutputs } from '../attempt/judge.ts'
import { UserError } from '../base/errors.ts'
import { fewOf } from '../base/text.ts'
import { UNKNOWN_USAGE } from '../events/usage.ts'
import type { AttemptFacts, KeptAttempt } from '../git/record.ts'
import { land, type Landed, type LandingPorts } from '../landing/land.ts'
import { sectionBodies } from '../task/edit-section.ts'
import type { Task } from '../task/model.ts'
import type { Work } from '../workspace/port.ts'
import { withoutRun } from './alone.ts'
import { Ledger } from './ledger.ts'
import { NoteKeeper, noteOf } from './note.ts'
import { adoptCheckout, baseOf, refuseObstacles } from './preflight.ts'
import { currentTask } from './source.ts'
import { landingPorts, writtenBesideWork } from './job-ports.ts'
import type { Run } from './task.ts'

/** The trailer's value for a task done by a person, which otherwise names the agent. */
const HUMAN = 'human'

/**
 * Completes a task that a person has done: the gates run on the tree, which then lands as an agent's work
 * does. What does not pass stays in the tree as it is.
 */
export async function completeByHand(
  run: Pick<Run, 'options' | 'ports' | 'emit'>,
  task: Task,
): Promise<Landed> {
  const { ports } = run
  return withoutRun(ports.folder, { pid: ports.pid, now: ports.now() }, async () => {
    const startedAt = ports.now()
    const { work, records } = await begin(run)
    const ledger = new Ledger(records)
    const number = (ledger.attemptsAt(task.id).at(-1)?.number ?? 0) + 1
    const job = { task: jobTaskOf(task), attempt: number, gates: run.options.gates }
    const taskNow = (): Promise<Task> => openedTask(run, task)
    const landing: LandingPorts = { ...landingPorts(run, job), taskNow }
    const { refusal, work: checked, passed } = await check(job, work, landing)
    if (refusal) return { kind: 'refused', refusal, work: checked, undone: null }
    const earlier = ledger.seriesAt(task.id)
    const now = await taskNow()
    const facts = {
      ...NO_AGENT,
      task: task.id,
      number,
      detail: sectionBodies(now, 'Completion Notes').join('\n\n'),
      base: checked.base.head,
      counted: ledger.nextCountedAt(task.id),
      most: run.options.retries + 1,
      tier: ports.tierOf(now).tier,
      seconds: (ports.now().getTime() - startedAt.getTime()) / 1000,
      gates: passed,
      changed: checked.changes.map(({ path }) => path),
    }
    return landKept(run, { facts, work: checked, earlier, startedAt }, landing)
  })
}

/** The facts of an attempt without an agent. */
const NO_AGENT = {
  outcome: 'done',
  reason: '',
  fingerprint: '',
  final: false,
  idle: false,
  agent: HUMAN,
  model: null,
  usage: UNKNOWN_USAGE,
  log: null,
  gatesChanged: [],
  runsLater: [],
  criteriaMet: [],
  caged: [],
  undone: [],
} as const satisfies Partial<AttemptFacts>

async function begin({
  ports,
  emit,
}: Pick<Run, 'ports' | 'emit'>): Promise<{ work: Work; records: readonly KeptAttempt[] }> {
  const { workspace } = ports
  await refuseObstacles(ports)
  const base = baseOf(await workspace.inspect.status())
  await adoptCheckout(ports)
  const work = await workspace.inspect.work(base)
  if (work.nested.length > 0)
    emit({ type: 'warning', message: `a repository of its own is in no commit: ${fewOf(work.nested)}` })
  return { work, records: await ports.records() }
}

/** The same checks as for an agent's "done": Produces exists, git accepts it, the gates pass. */
async function check(
  job: Pick<Job, 'task' | 'attempt' | 'gates'>,
  work: Work,
  landing: LandingPorts,
): ReturnType<LandingPorts['check']> {
  const missing = await missingOutputs(job, work, landing)
  const reason = missing === null ? work.refused : `not there though Produces names it: ${missing}`
  if (reason === null) return landing.check(work)
  const refusal = { kind: 'gate-failed', reason, detail: '', fingerprint: null } as const
  return { refusal, work, passed: [] }
}

/** The task as its file is now, without its blockage, which becomes part of the earlier attempts. */
async function openedTask({ ports }: Pick<Run, 'ports'>, { id, file }: Task): Promise<Task> {
  const task = await currentTask(ports.source, { id, file })
  if (!task) throw new UserError(`${file} is gone`, 'Write it again, or restore it with git.')
  return task.status === 'BLOCKED' || task.held ? ports.edits.reopened(task) : task
}

/** Lands the work: from here on a run can resume it, whatever happens to this process. */
async function landKept(
  { options, ports, emit }: Pick<Run, 'options' | 'ports' | 'emit'>,
  made: {
    readonly facts: AttemptFacts
    readonly work: Work
    readonly earlier: readonly KeptAttempt[]
    readonly startedAt: Date
  },
  landing: LandingPorts,
): Promise<Landed> {
  const { facts, work, earlier } = made
  const { workspace, folder, source } = ports
  const { subject, progress } = options
  const task = source.tasks().find(({ id }) => id === facts.task)
  const kept = await workspace.record.candidate({ facts, work, at: ports.now(), token: ports.newToken() })
  const note = new NoteKeeper(
    folder.note,
    {
      mark: ports.mark,
      cleanSince: statSync(folder.lock).ctimeMs,
      isApart: false,
      spentUsd: null,
      attempt: null,
    },
    ports.now,
  )
  try {
    const job = note.of('checkout')
    job.begin(noteOf(facts, { title: task?.title ?? '', base: work.base, startedAt: made.startedAt }))
    const written = writtenBesideWork({ options, ports }, task ? [task] : [])
    const before = new Map(written.map((file) => [file, workspace.inspect.text(file)]))
    const request = { candidate: { kept, facts, work }, earlier, subject, progress, checkCriteria: false }
    const landed = await land(request, landing, emit)
    if (landed.kind === 'refused' && landed.undone !== null) {
      const { reason } = landed.refusal
      const failed = { ...facts, outcome: 'gate-failed', reason, gates: null } as const
      const at = ports.now()
      const { ref } = await workspace.record.keep({ facts: failed, work, at, commits: [landed.undone] })
      emit({ type: 'warning', message: `what a hook changed is kept as it was under ${ref}` })
      // Undoing the commit restored these files to the base, and so lost what a person wrote in them.
      for (const [file, text] of before) if (text !== null) writeFileSync(join(workspace.root, file), text)
    }
    if (landed.kind === 'landed' && landed.sealPending) return landed
    job.clear()
    workspace.record.dropCandidate(kept)
    await workspace.record.removeDropped()
    return landed
  } finally {
    note.end()
  }
}
