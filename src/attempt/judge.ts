import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { pathWithin } from '../base/path-within.ts'
import type { GateResult } from '../events/gate.ts'
import type { Task } from '../task/model.ts'
import type { AttemptPlan } from './job.ts'
import type { Happening } from '../events/event.ts'
import { workChanges } from './interference.ts'
import type { TaskFolder } from './interference.ts'
import { runLoggedGate } from './logged-gate.ts'
import { fingerprintOf, outcome } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import type { Run } from '../run/run.ts'
import type { Work } from '../workspace/workspace.ts'

/** What an agent's "done" is worth: is anything changed, is what was asked for there, do the gates pass? */
export async function* judge(
  run: Run,
  plan: AttemptPlan,
  found: { readonly said: Outcome; readonly work: Work; readonly tasks: TaskFolder },
): AsyncGenerator<Happening, Outcome> {
  const { said, work, tasks } = found
  if (said.kind !== 'done') return said
  const { task } = plan
  const changes = workChanges(work, tasks).filter((change) => !run.litter.has(change.path))
  if (changes.length === 0 && task.produces?.length !== 0)
    return outcome('no-change', 'the agent says that it is done, but no file has changed')
  const missing = missingOutputs(run.ports.workspace.root, task)
  if (missing.length > 0)
    return outcome('missing-output', `not there though Produces names it: ${missing.join(', ')}`)
  const held = await heldBack(run, task, work)
  if (held.length > 0)
    yield {
      type: 'warning',
      message: `Produces of ${task.id} names what no commit will hold: ${held.join(', ')}`,
    }
  const results = yield* runGates(run, plan)
  return outcomeOfGates(results) ?? said
}

/** The paths under Produces that git ignores or ignored, or that stand in a repository of their own. */
async function heldBack({ ports }: Run, task: Task, work: Work): Promise<readonly string[]> {
  const { workspace } = ports
  const changed = new Set(work.changes.map(({ path }) => path))
  const named = pathsOf(task).filter((path) => beforeGlob(path) === path)
  const unseen = named.filter((path) => !changed.has(`${workspace.prefix}${path}`))
  if (unseen.length === 0) return []
  const ignored = await workspace.ignored(unseen.map((path) => `${workspace.prefix}${path}`))
  const isHeld = (path: string): boolean =>
    ignored.has(path) || work.aside.some((aside) => path === aside || path.startsWith(`${aside}/`))
  return unseen.filter((path) => isHeld(`${workspace.prefix}${path}`))
}

/** What is there after the gates, which may do what they like to the tree: a task is done by what is committed. */
export async function* lookAfterGates(
  run: Run,
  plan: AttemptPlan,
  before: { readonly said: Outcome; readonly work: Work; readonly tasks: TaskFolder },
): AsyncGenerator<Happening, { readonly outcome: Outcome; readonly work: Work }> {
  const { said, tasks } = before
  const { workspace } = run.ports
  if (said.kind !== 'done' || run.options.gates.length === 0) return { outcome: said, work: before.work }
  let work = await workspace.inspect(plan.base)
  if (work.head) {
    yield {
      type: 'warning',
      message: 'a gate moved HEAD: it is back, and what it committed is part of the work',
    }
    const lost = await workspace.lostByGoingBack(plan.base, work, await workspace.snapshot(work))
    await workspace.fold(plan.base, work)
    await workspace.restoreFiles(plan.base, lost)
    work = await workspace.inspect(plan.base)
  }
  const hadWork = workChanges(before.work, tasks).length > 0
  const missing = missingOutputs(workspace.root, plan.task)
  const isGone = hadWork && workChanges(work, tasks).length === 0
  if (!isGone && missing.length === 0) return { outcome: said, work }
  const what = isGone ? 'all of it' : missing.join(', ')
  return { outcome: outcome('gate-failed', `the gates took the work out of the tree: ${what}`), work }
}

/** Runs every gate, so that the agent hears of all that is wrong at once. */
async function* runGates(run: Run, plan: AttemptPlan): AsyncGenerator<Happening, readonly GateResult[]> {
  const { ports, options } = run
  const results: GateResult[] = []
  for (const gate of options.gates) {
    if (ports.signal.aborted) break
    yield { type: 'gate-started', id: plan.task.id, gate }
    const logName = `${plan.task.id}-${plan.number}`
    const result = await runLoggedGate(run, gate, { env: plan.env, logName })
    results.push(result)
    yield { type: 'gate-finished', id: plan.task.id, result }
  }
  ports.checkpoint('gates-ended')
  return ports.signal.aborted ? [...results, ...INTERRUPTED] : results
}

const INTERRUPTED: readonly GateResult[] = [
  {
    gate: { name: 'gates', command: '', required: true, timeoutSeconds: 0 },
    verdict: 'interrupted',
    seconds: 0,
    reason: 'the run was interrupted',
    excerpt: '',
    fingerprint: '',
  },
]

/** Null where nothing that is required failed. */
function outcomeOfGates(results: readonly GateResult[]): Outcome | null {
  if (results.some((result) => result.verdict === 'interrupted'))
    return outcome('interrupted', 'the run was interrupted while the gates ran')
  const failed = results.filter((result) => result.gate.required && result.verdict !== 'passed')
  if (failed.length === 0) return null
  return outcome('gate-failed', failed.map((result) => `${result.gate.name}: ${result.reason}`).join('; '), {
    detail: failed
      .map((result) => `${result.gate.name} (${result.gate.command})\n\n${result.excerpt}`)
      .join('\n\n'),
    fingerprint: failurePrint(failed),
  })
}

/** What tells one failure of the gates from another. */
export function failurePrint(failed: readonly GateResult[]): string {
  return fingerprintOf(failed.map((result) => `${result.gate.name}:${result.fingerprint}`).join(' '))
}

/** The paths under Produces that are not there, or lead out of the project. */
function missingOutputs(root: string, task: Task): readonly string[] {
  return pathsOf(task).filter((path) => !isInside(root, join(root, beforeGlob(path))))
}

function pathsOf({ produces }: Task): readonly string[] {
  return (produces ?? []).flatMap(({ path }) => (path === null ? [] : [path]))
}

/** Of `src/*.ts` the folder: which of its files there are to be, nobody said. */
function beforeGlob(path: string): string {
  const wild = path.search(/[*?[{]/)
  return wild < 0 ? path : path.slice(0, path.lastIndexOf('/', wild) + 1) || '.'
}

function isInside(root: string, path: string): boolean {
  return existsSync(path) && pathWithin(realpathSync(root), realpathSync(path)) !== null
}
