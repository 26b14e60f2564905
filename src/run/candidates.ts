import { jobTaskOf } from '../attempt/job.ts'
import type { Base } from '../git/head.ts'
import type { KeptAttempt } from '../git/record.ts'
import { land } from '../landing/land.ts'
import type { Task } from '../task/model.ts'
import type { Work } from '../workspace/port.ts'
import type { TaskRunEnd } from './give-up.ts'
import { noteOf } from './note.ts'
import { landingPorts, type Run } from './task.ts'

type LandedTask = Exclude<TaskRunEnd, { kind: 'stop' }> & { readonly id: string }

/** Lands what had passed when a run died. What stands on another commit by now is a record of what was done. */
export async function landCandidates(
  run: Run,
  start: Base,
  enter: (end: LandedTask) => Promise<Base>,
): Promise<Base> {
  const { ports, ledger } = run
  const { workspace, source } = ports
  let base = start
  // The run is about to end: a commit whose seal is still missing needs its candidate.
  if (ports.control.isStopping) return base
  for (const candidate of await workspace.record.candidates()) {
    const task = source.tasks().find(({ id }) => id === candidate.task)
    const record = ledger.attemptAt(candidate.task, candidate.number)
    const hasFailed = record !== null && record.outcome !== 'interrupted' && record.outcome !== 'done'
    const isWaiting = task?.status === 'TODO' && candidate.base === base.head && !hasFailed
    const end = isWaiting ? await landCandidate(run, { task, base, candidate }) : null
    if (end) base = await enter(end)
    else {
      // That it is DONE says that it has landed: only the ref was left.
      if (task?.status !== 'DONE' && !hasFailed) await recordCandidate(run, candidate, base)
      workspace.record.dropCandidate(candidate)
    }
  }
  return base
}

/** Null where it does not land. */
async function landCandidate(
  run: Run,
  { task, base, candidate }: { readonly task: Task; readonly base: Base; readonly candidate: KeptAttempt },
): Promise<LandedTask | null> {
  const { ports, note, ledger, options, emit } = run
  const { inspect, restore } = ports.workspace
  const startedAt = ports.now()
  // What it cost stands in the sum already.
  const usage = { ...candidate.usage, costUsd: null }
  note.begin({ ...noteOf(candidate, { title: task.title, base, startedAt }), usage })
  const from = await inspect.treeOf(base.head)
  await restore.tree({ recorded: from, to: candidate.commit })
  const work = await inspect.work(base)
  const { subject, progress, checkCriteria } = options
  const job = { task: jobTaskOf(task), attempt: candidate.number, gates: options.gates }
  const landing = landingPorts(run, job)
  // An agent may have put it there itself, before the run was killed: a second look is rare, and cheap beside that.
  const checked = work.tree === candidate.tree ? await landing.check(work) : null
  const landed =
    checked && !checked.refusal
      ? await land(
          {
            candidate: {
              kept: candidate,
              facts: { ...candidate, gates: checked.passed },
              work: checked.work,
            },
            earlier: ledger.seriesAt(task.id),
            subject,
            progress,
            checkCriteria,
          },
          landing,
          emit,
        )
      : null
  if (landed?.kind === 'landed')
    return {
      kind: 'completed',
      id: task.id,
      landed,
      candidate,
      base: { ...landed.work.base, head: landed.commit },
    }
  const refusal = landed ? landed.refusal : checked?.refusal
  if (refusal) emit({ type: 'warning', message: `${task.id} did not land: ${refusal.reason}` })
  const now = await inspect.work(base)
  await restore.tree({ recorded: now.tree, to: base.head })
  note.clear()
  return null
}

/** What cannot land any more is kept as any other attempt, and the next one hears of it. */
async function recordCandidate({ ports, ledger }: Run, candidate: KeptAttempt, base: Base): Promise<void> {
  const { record } = ports.workspace
  const { commit, parents, tree, keptAt, ...facts } = candidate
  const work: Work = { ...EMPTY, base: { ...base, head: parents[0] ?? base.head }, tree }
  const kept = await record.keep({
    facts: {
      ...facts,
      outcome: 'interrupted',
      reason: 'the run was killed before it could land',
      gates: null,
    },
    work,
    at: new Date(keptAt * 1000),
    replaces: ledger.attemptAt(candidate.task, candidate.number),
    commits: [commit],
  })
  ledger.keep(kept)
}

const EMPTY = {
  persons: [],
  below: [],
  changes: [],
  head: null,
  operations: [],
  nested: [],
  exposed: [],
  refused: null,
}
