import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentOutcome } from '../agent/port.ts'
import type { Usage } from '../events/usage.ts'
import { formatDuration } from '../base/duration.ts'
import type { CommitResult } from '../git/commit.ts'
import { composeMessage } from '../git/trailers.ts'
import type { Trailer } from '../git/trailers.ts'
import type { Task } from '../task/model.ts'
import { safeNotes } from '../task/notes.ts'
import { given } from '../git/record.ts'
import type { AttemptPlan } from '../attempt/job.ts'
import type { Happening } from '../events/event.ts'
import { fingerprintOf, outcome } from '../attempt/outcome.ts'
import type { Outcome } from '../attempt/outcome.ts'
import type { Run } from '../run/run.ts'
import { sealHead } from './seal-head.ts'
import { isTaskFile } from '../run/source.ts'
import { subjectOf } from '../history/subject.ts'
import type { Work } from '../workspace/workspace.ts'
import { setAside } from '../workspace/litter.ts'
import { addUsage, formatCost, formatTokens } from '../events/usage.ts'

/** Work that was found good, on its way into the task's one commit. */
export interface Finishing {
  readonly plan: AttemptPlan
  readonly agent: AgentOutcome
  /** Of this attempt. */
  readonly seconds: number
  readonly gatesChanged: readonly string[]
  readonly work: Work
}

/** The task's commit is there. */
export interface Completed {
  readonly kind: 'completed'
  readonly commit: string
  /** Of all attempts that led to it. */
  readonly seconds: number
  readonly attempts: number
  readonly usage: Usage
  readonly files: number
  readonly added: number
  readonly removed: number
  /** Whether the search for its seal was interrupted: the next run finishes it. */
  readonly sealPending: boolean
  /** Relative to the root. */
  readonly taskFiles: readonly string[]
}

/** Finishes the task file and commits it with the work; a commit that is not made leaves the file as it was. */
export async function* complete(
  run: Run,
  finishing: Finishing,
): AsyncGenerator<Happening, Completed | { readonly kind: 'not-committed'; readonly outcome: Outcome }> {
  const { ports, flight } = run
  const { plan, work } = finishing
  const sums = sumsOf(finishing)
  const message = messageOf(run, finishing, sums)
  const prefix = ports.sealer ? await ports.sealer.prefix(composeMessage(message)) : null
  flight.update({ phase: 'committing', prefix })
  ports.checkpoint('committing-noted')
  yield { type: 'committing', id: plan.task.id }
  const undo = writeFiles(run, finishing, { prefix, sums, task: await taskNow(run, plan.task) })
  const seal = prefix === null || !ports.sealer ? [] : [ports.sealer.trailer(prefix)]
  const result = await ports.workspace.commit({
    message: composeMessage({ ...message, trailers: [...message.trailers, ...seal] }),
    except: work.aside,
    signal: ports.killSignal,
  })
  ports.checkpoint('committed')
  if (result.kind !== 'committed') {
    undo()
    flight.update({ phase: 'working' })
    return { kind: 'not-committed', outcome: notCommitted(result, ports.signal) }
  }
  const { files, added, removed } = result
  const told = { ...sums, files, added, removed, taskFiles: taskFilesOf(run, plan, work) }
  return yield* enter(run, { plan, prefix }, told)
}

interface Sums {
  readonly seconds: number
  readonly attempts: number
  readonly usage: Usage
}

function sumsOf({ plan, agent, seconds }: Finishing): Sums {
  const { series } = plan
  return {
    seconds: series.reduce((sum, record) => sum + record.seconds, seconds),
    attempts: series.filter((record) => record.try < plan.try).length + 1,
    usage: series.reduce((sum, record) => addUsage(sum, record.usage), agent.usage),
  }
}

/** What HEAD is at after the commit, and after its seal. */
async function* enter(
  run: Run,
  { plan, prefix }: { readonly plan: AttemptPlan; readonly prefix: string | null },
  told: Omit<Completed, 'kind' | 'commit' | 'sealPending'>,
): AsyncGenerator<Happening, Completed> {
  const { ports } = run
  const status = await ports.workspace.look()
  const made = { id: plan.task.id, commit: status.head ?? plan.base.head, branch: status.branch }
  const { commit, problem, pending } = yield* sealHead(ports, made)
  const message = problem ?? strangerAt(commit, prefix)
  if (message !== null) yield { type: 'warning', message }
  if (ports.sealer) ports.checkpoint('sealed')
  const left = status.entries.filter((entry) => !(entry.nested && entry.kind === 'untracked'))
  if (left.length > 0) yield setAside(run, left, 'not committed after the commit')
  return { kind: 'completed', commit, sealPending: pending, ...told }
}

/** A commit that asks for no seal is not the one that was made: a hook may have put its own on top of that. */
function strangerAt(head: string, prefix: string | null): string | null {
  if (prefix === null || head.startsWith(prefix)) return null
  return `the commit is not sealed: HEAD moved on to ${head.slice(0, 10)} meanwhile; ralph verify --fix mends the Commit field`
}

/** The task's own file, and those of tasks that the agent has added. */
function taskFilesOf({ ports }: Run, { task }: AttemptPlan, work: Work): readonly string[] {
  const { prefix } = ports.workspace
  const inside = work.changes.map(({ path }) => path).filter((path) => path.startsWith(prefix))
  const added = inside
    .map((path) => path.slice(prefix.length))
    .filter((path) => isTaskFile(path, ports.source.dir))
  return [...new Set([task.file, ...added])]
}

function messageOf(
  run: Run,
  { plan, agent, gatesChanged }: Finishing,
  { seconds, attempts, usage }: Sums,
): { readonly subject: string; readonly body: string; readonly trailers: readonly Trailer[] } {
  const { task } = plan
  return {
    subject: subjectOf(run.options.subject, task),
    body: agent.finalMessage.replaceAll('\0', ''),
    trailers: given([
      ['Task', task.id],
      ['Agent', plan.choice.label],
      ['Model', agent.model ?? plan.choice.model],
      ['Tier', plan.tier.tier],
      ['Attempts', String(attempts)],
      ['Turns', usage.turns === null ? null : String(usage.turns)],
      ['Duration', formatDuration(seconds)],
      ['Tokens', formatTokens(usage)],
      ['Cost', usage.costUsd === null ? null : formatCost(usage.costUsd)],
      ...gatesChanged.map((path): [string, string] => ['Gates-Changed', path]),
    ]),
  }
}

/** The task as its file is now: somebody may have written in it while the gates ran. */
async function taskNow({ ports: { source } }: Run, task: Task): Promise<Task> {
  await source.refresh([task.file])
  const now = source.tasks().find(({ file }) => file === task.file)
  return now?.status === 'TODO' ? now : task
}

/** Writes them in place, not over a draft: git holds the old text, and a draft could be left in the tree. */
function writeFiles(
  run: Run,
  { agent }: Finishing,
  { prefix, sums, task }: { readonly prefix: string | null; readonly sums: Sums; readonly task: Task },
): () => void {
  const { ports, options } = run
  const notes = agent.finalMessage.replaceAll('\0', '')
  const file = join(ports.workspace.root, task.file)
  const { costUsd } = sums.usage
  const text = ports.edits.complete(task, {
    at: ports.now(),
    seconds: sums.seconds,
    commit: prefix,
    costUsd,
    notes,
  })
  const undo = [remember(file)]
  writeFileSync(file, text)
  ports.checkpoint('file-completed')
  if (options.progress !== null) {
    const progress = join(ports.workspace.root, options.progress)
    undo.push(remember(progress))
    appendNotes(progress, task, notes)
    ports.checkpoint('progress-added')
  }
  return () => {
    for (const step of undo) step()
  }
}

function remember(file: string): () => void {
  const before = existsSync(file) ? readFileSync(file) : null
  return () => {
    if (before) writeFileSync(file, before)
    else rmSync(file, { force: true })
  }
}

function appendNotes(file: string, task: Task, notes: string): void {
  mkdirSync(dirname(file), { recursive: true })
  const before = existsSync(file) ? readFileSync(file, 'utf8').trimEnd() + '\n\n' : '# Progress\n\n'
  writeFileSync(file, `${before}## ${task.id}: ${task.title}\n\n${safeNotes(notes) || 'Done.'}\n`)
}

function notCommitted(result: Exclude<CommitResult, { kind: 'committed' }>, signal: AbortSignal): Outcome {
  const { output } = result
  const [line = ''] = output.split('\n')
  // Ctrl-C in a terminal reaches git and its hooks too.
  if (signal.aborted) return outcome('interrupted', 'the run was interrupted while git committed')
  if (result.kind === 'refused') {
    const reason =
      result.by === 'hook'
        ? 'a git hook refused the commit'
        : `git refused the commit: ${line.replace('fatal: ', '')} (core.safecrlf)`
    return outcome('gate-failed', reason, {
      detail: output,
      fingerprint: fingerprintOf(`commit: ${output.replaceAll(/\d+/g, '0')}`),
    })
  }
  return outcome('interrupted', `git could not commit: ${line}`, { detail: output })
}
