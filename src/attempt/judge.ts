import type { Happening } from '../events/event.ts'
import { isAttributes } from '../workspace/record.ts'
import type { Work } from '../workspace/port.ts'
import { checkWork, type WorkVerdict } from './check.ts'
import { taskChanges, workChanges } from './interference.ts'
import type { Job } from './job.ts'
import { outcome, type Outcome } from './outcome.ts'
import type { AttemptPorts, Emit } from './ports.ts'

/** Checks an agent's "done": has anything changed, does all that was required exist, do the gates pass? */
export async function judge(
  job: Job,
  ended: { readonly end: Outcome; readonly work: Work; readonly gatesChanged: readonly string[] },
  ports: AttemptPorts,
  emit: Emit<Happening>,
): Promise<WorkVerdict> {
  const { end, work } = ended
  const refuse = (failed: Outcome): WorkVerdict => ({ outcome: failed, work, passed: [] })
  if (end.kind !== 'done') return refuse(end)
  const early = await beforeGates(job, ended, ports)
  if (early) return refuse(early)
  await warnOfLeftOut(job, work, ports, emit)
  const verdict = await checkWork(
    {
      id: job.task.id,
      attempt: job.attempt,
      gates: job.gates,
      work,
      written: [job.task.file],
      produced: job.backlog.produced,
      objection: (now) => afterGates(job, { before: work, now }, ports),
    },
    ports,
    emit,
  )
  if (verdict.outcome || job.gates.length === 0) return verdict
  const gone = await missingOutputs(job, verdict.work, ports)
  return gone === null ? verdict : { ...verdict, outcome: outcome('gate-failed', tookOut(gone)) }
}

/** The checks that need no gate; null if all of them pass. */
async function beforeGates(
  job: Job,
  { work, gatesChanged }: { readonly work: Work; readonly gatesChanged: readonly string[] },
  ports: AttemptPorts,
): Promise<Outcome | null> {
  const changes = workChanges(job, work, await taskChanges(job, work, ports))
  // Work that the agent committed and a person has built on is on the branch already.
  const isWork = changes.length > 0 || work.below.length > 0
  if (!isWork && job.task.produces?.length !== 0)
    return outcome('no-change', 'the agent says that it is done, but no file has changed')
  const missing = await missingOutputs(job, work, ports)
  if (missing !== null) return outcome('missing-output', `not there though Produces names it: ${missing}`)
  if (gatesChanged.length > 0 && job.gatesChanged.action === 'refuse')
    return outcome('gate-failed', `it changes what decides the gates: ${gatesChanged.join(', ')}`)
  if (work.changedInside.length > 0)
    return outcome(
      'gate-failed',
      `what has changed inside of a submodule would be in no commit: commit it there, or take it back: ${work.changedInside.join(', ')}`,
    )
  if (work.refused !== null)
    return outcome(
      'gate-failed',
      `git refused the commit: ${work.refused.replace('fatal: ', '')} (core.safecrlf)`,
    )
  if (
    work.changes.some(({ path }) => isAttributes(path)) &&
    !(await ports.workspace.inspect.isStoredAsBefore(work.base, job.task.file))
  )
    return outcome('gate-failed', `its .gitattributes would have git store ${job.task.file} as other bytes`)
  return null
}

/** Why the state after the gates is not the work any more; null if it is. */
async function afterGates(
  job: Job,
  { before, now }: { readonly before: Work; readonly now: Work },
  ports: AttemptPorts,
): Promise<string | null> {
  const earlier = await taskChanges(job, before, ports)
  const later = await taskChanges(job, now, ports)
  const touched = later.touched.filter((path) => !earlier.touched.includes(path))
  if (touched.length > 0) return `the gates change task files, or what they came from: ${touched.join(', ')}`
  const isGone = workChanges(job, before, earlier).length > 0 && workChanges(job, now, later).length === 0
  const missing = isGone ? 'all of it' : await missingOutputs(job, now, ports)
  return missing === null ? null : tookOut(missing)
}

function tookOut(what: string): string {
  return `the gates took the work out of the tree: ${what}`
}

/** The paths under Produces that do not exist, or lead out of the project; null if all exist. */
export async function missingOutputs(
  { task }: Pick<Job, 'task'>,
  { tree }: Work,
  { workspace }: Pick<AttemptPorts, 'workspace'>,
): Promise<string | null> {
  const produced = task.produces ?? []
  const missing = new Set(await workspace.inspect.missingFrom(tree, produced.map(beforeGlob)))
  const named = produced.filter((path) => missing.has(beforeGlob(path)))
  return named.length === 0 ? null : named.join(', ')
}

/** Warns of paths under Produces that git ignores or ignored, or that are in a nested repository. */
async function warnOfLeftOut(
  { task }: Job,
  work: Work,
  { workspace }: AttemptPorts,
  emit: Emit<Happening>,
): Promise<void> {
  const named = (task.produces ?? []).filter((path) => beforeGlob(path) === path)
  const left = await workspace.inspect.leftOut(work, named)
  if (left.length > 0)
    emit({
      type: 'warning',
      message: `Produces of ${task.id} names what no commit will hold: ${left.join(', ')}`,
    })
}

/** The folder before a pattern: for `src/*.ts` nobody said which files there must be. */
function beforeGlob(path: string): string {
  const wild = path.search(/[*?[{]/)
  return wild < 0 ? path : path.slice(0, path.lastIndexOf('/', wild) + 1) || '.'
}
