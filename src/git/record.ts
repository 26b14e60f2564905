import { formatDuration } from '../base/time.ts'
import { OUTCOMES, type OutcomeKind } from '../base/names.ts'
import type { Usage } from '../base/nouns.ts'
import { formatCost, formatTokens, parseCost, parseTokens, secondsIn } from '../base/usage.ts'
import type { Git } from './git.ts'
import { makePlainCommit } from './made-commit.ts'
import { readLog, type LogEntry } from './log.ts'
import { setRef } from './refs.ts'
import { composeMessage, known, trailerValue, trailerValues, type Trailer } from './trailers.ts'

/** What the message of an attempt's commit holds. */
export interface AttemptFacts {
  readonly task: string
  readonly number: number
  readonly outcome: OutcomeKind
  /** Why it failed; empty if it passed. */
  readonly reason: string
  /** The part of a failure that is worth reading; for work that passed, the agent's notes. */
  readonly detail: string
  readonly fingerprint: string
  /** The commit that the attempt began from. */
  readonly base: string
  /** The number of this attempt among those that count, and how many the task has. */
  readonly counted: number
  readonly most: number
  /** Whether ralph gave up after it: the count begins again with the next attempt. */
  readonly final: boolean
  /** Whether it ended at once without changing anything. */
  readonly idle: boolean
  /** Whether the agent ended without saying that the task is done, and the gates decided alone. */
  readonly unsaid: boolean
  readonly agent: string
  readonly model: string | null
  /** The agent's conversation, and the slot whose folder it is about; null if it cannot be continued. */
  readonly session: string | null
  readonly slot: number | null
  readonly tier: string
  readonly usage: Usage
  readonly seconds: number
  readonly log: string | null
  /** The gates that passed on it; null if none ran. */
  readonly gates: readonly string[] | null
  /** The gates that failed. */
  readonly gatesFailed: readonly string[]
  /** Gates that failed first, and then passed twice on the same files. */
  readonly flaky: readonly string[]
  readonly gatesChanged: readonly string[]
  /** Tests that are not as they were: where, what and why. */
  readonly testsChanged: readonly string[]
  /** Who has reviewed it, and what they found. */
  readonly reviewed: readonly string[]
  readonly findings: readonly string[]
  /** Large files, and what may be a secret. */
  readonly noticed: readonly string[]
  /** What is known of the tests besides; null if nothing. */
  readonly witness: string | null
  /** How many tests came and went; null if none did. */
  readonly tests: string | null
  /** Changed files that decide what an agent, an editor or git runs later. */
  readonly runsLater: readonly string[]
  /** Acceptance criteria that the agent reports as met. */
  readonly criteriaMet: readonly string[]
  /** Questions that nobody answered, with the answers that the agent went on with. */
  readonly assumed: readonly string[]
  /** What the agent did that it may not do, and that was undone. */
  readonly undone: readonly string[]
  /** What the sandbox refused: `write ~/.bashrc`. */
  readonly caged: readonly string[]
  /** The first paths that differ from the base. */
  readonly changed: readonly string[]
}

/** An attempt's commit on its ref. */
export interface KeptAttempt extends AttemptFacts {
  readonly ref: string
  readonly commit: string
  readonly parents: readonly string[]
  readonly tree: string
  /** Seconds since 1970. */
  readonly keptAt: number
}

/** A commit to keep under a ref. */
interface CommitToKeep {
  readonly ref: string
  readonly tree: string
  /** The commit that the attempt began from, and all commits that the agent made. */
  readonly parents: readonly string[]
  readonly message: string
  /** The commit that the ref names now, to be replaced; none by default. */
  readonly replaces?: string | null
}

/** Failed attempts; work that waits to land; what had the name of another machine's work. */
export const RECORDS = 'refs/ralph/attempts'
export const CANDIDATES = 'refs/ralph/candidates'
export const STRAY = 'refs/ralph/stray'

/** The ref that keeps attempt `number` of a task. */
export function attemptRef(task: string, number: number): string {
  return `${RECORDS}/${task}/${number}`
}

/** The ref on which an attempt's work waits to land; the token differs for an attempt that replaces a lost one. */
export function candidateRef(task: string, number: number, token: string): string {
  return `${CANDIDATES}/${task}/${number}-${token}`
}

/** Keeps an attempt as a commit that anyone can check out; an existing ref is only replaced if `replaces` names it. */
export async function keepCommit(git: Git, keep: CommitToKeep): Promise<string> {
  const { tree, message } = keep
  const hash = await makePlainCommit(git, { tree, parents: [...new Set(keep.parents)], message })
  await setRef(git, keep.ref, { from: keep.replaces ?? null, to: hash })
  return hash
}

/** The records of attempts, of one task or of all, by task and number. */
export function listRecords(git: Git, task?: string): Promise<readonly KeptAttempt[]> {
  return list(git, `${RECORDS}/${task === undefined ? '*' : `${task}/*`}`)
}

/** The candidates that have not landed, by task and number. */
export function listCandidates(git: Git): Promise<readonly KeptAttempt[]> {
  return list(git, `${CANDIDATES}/*`)
}

async function list(git: Git, glob: string): Promise<readonly KeptAttempt[]> {
  const options = ['--no-walk=unsorted', '--decorate-refs=refs/ralph/', `--glob=${glob}`]
  const entries = await readLog(git, { options, revisions: [], refs: true })
  const kept = entries.flatMap((entry) => keptAttempt(entry) ?? [])
  return kept.sort((a, b) => (a.task < b.task ? -1 : a.task > b.task ? 1 : a.number - b.number))
}

const MOST_CHANGED = 50
const LONGEST_REASON = 500

/** The message of the commit that keeps an attempt. */
export function attemptMessage(facts: AttemptFacts): string {
  return composeMessage({
    subject: `${facts.task}: attempt ${facts.number}: ${facts.outcome}`,
    body: [facts.reason, facts.detail].filter(Boolean).join('\n\n'),
    trailers: known([
      ['Task', facts.task],
      ['Attempt', String(facts.number)],
      ['Outcome', facts.outcome],
      ['Reason', facts.reason.slice(0, LONGEST_REASON)],
      ['Failure', facts.fingerprint],
      ['Base', facts.base],
      ['Counted', `${facts.counted}/${facts.most}`],
      ['Final', facts.final ? 'yes' : null],
      ['Idle', facts.idle ? 'yes' : null],
      ['Unsaid', facts.unsaid ? 'yes' : null],
      ['Agent', facts.agent],
      ['Model', facts.model],
      ['Session', facts.session],
      ['Slot', facts.slot === null ? null : String(facts.slot)],
      ['Tier', facts.tier],
      ...usageTrailers(facts),
      ['Log', facts.log],
      ['Gates', facts.gates === null ? null : gatesText(facts.gates)],
      ['Gates-Failed', facts.gatesFailed.length > 0 ? gatesText(facts.gatesFailed) : null],
      ...each('Flaky', facts.flaky),
      ...each('Gates-Changed', facts.gatesChanged),
      ...each('Tests-Changed', facts.testsChanged),
      ['Witness', facts.witness],
      ['Tests', facts.tests],
      ...each('Reviewed', facts.reviewed),
      ...each('Finding', facts.findings),
      ...each('Noticed', facts.noticed),
      ...each('Runs-Later', facts.runsLater),
      ...each('Criterion-Met', facts.criteriaMet),
      ...each('Assumed', facts.assumed),
      ...each('Undone', facts.undone),
      ...each('Caged', facts.caged),
      ...each('Changed', facts.changed.slice(0, MOST_CHANGED)),
    ]),
  })
}

type Pairs = readonly (readonly [string, string | null])[]

function each(key: string, values: readonly string[]): Pairs {
  return values.map((value) => [key, value])
}

/** Trailers for what an attempt or a task has used. */
export function usageTrailers({ usage, seconds }: Pick<AttemptFacts, 'usage' | 'seconds'>): Pairs {
  return [
    ['Turns', usage.turns === null ? null : String(usage.turns)],
    ['Duration', formatDuration(seconds)],
    ['Tokens', formatTokens(usage)],
    ['Cost', usage.costUsd === null ? null : formatCost(usage.costUsd)],
  ]
}

/** The gates that passed, as a trailer has them: `typecheck, test (48 tests, 9s)`, or `none`. */
export function gatesText(gates: readonly string[]): string {
  return gates.length === 0 ? 'none' : gates.join(', ')
}

/** The gates in such a text; null if the commit has none. */
function gateTexts(text: string | null): readonly string[] | null {
  if (text === null) return null
  return text.trim() === 'none' ? [] : text.split(/,(?![^(]*\))/).map((gate) => gate.trim())
}

/** A gate of a commit: its name, and how long it took. */
export interface RanGate {
  readonly name: string
  readonly seconds: number
}

/** What such a text says of the gates; null if the commit has none. */
export function ranGates(text: string | null): readonly RanGate[] | null {
  return (
    gateTexts(text)?.map((gate) => {
      const [, name = gate, facts = ''] = /^(.*?)(?: \(([^()]*)\))?$/.exec(gate) ?? []
      return { name, seconds: secondsIn(facts.split(', ').at(-1) ?? '') ?? 0 }
    }) ?? null
  )
}

/** The names in it. */
export function gatesIn(text: string | null): readonly string[] | null {
  return ranGates(text)?.map(({ name }) => name) ?? null
}

/** Reads such a message; null if it is another kind of message, or one that this version does not know. */
function keptAttempt(entry: LogEntry): KeptAttempt | null {
  const value = (key: string): string | null => trailerValue(entry.trailers, key)
  const [task, number] = [value('Task'), Number(value('Attempt'))]
  const outcome = OUTCOMES.find((kind) => kind === value('Outcome'))
  if (task === null || !Number.isSafeInteger(number) || number < 1 || !outcome) return null
  // Older records have another key for it.
  const [counted = 0, most = 0] = (value('Counted') ?? value('Try') ?? '').split('/').map(Number)
  const reason = value('Reason') ?? ''
  return {
    task,
    number,
    ref: entry.ref ?? attemptRef(task, number),
    commit: entry.hash,
    parents: entry.parents,
    tree: entry.tree,
    keptAt: entry.committedAt,
    outcome,
    reason,
    detail: entry.body.slice(entry.body.startsWith(reason) ? reason.length : 0).trim(),
    fingerprint: value('Failure') ?? '',
    base: value('Base') ?? '',
    counted,
    most,
    final: value('Final') === 'yes',
    idle: value('Idle') === 'yes',
    unsaid: value('Unsaid') === 'yes',
    agent: value('Agent') ?? 'unknown',
    model: value('Model'),
    session: value('Session'),
    slot: Number(value('Slot')) || null,
    tier: value('Tier') ?? '',
    usage: usageIn(entry.trailers),
    seconds: secondsIn(value('Duration')) ?? 0,
    log: value('Log'),
    gates: gateTexts(value('Gates')),
    gatesFailed: gateTexts(value('Gates-Failed')) ?? [],
    flaky: trailerValues(entry.trailers, 'Flaky'),
    gatesChanged: trailerValues(entry.trailers, 'Gates-Changed'),
    testsChanged: trailerValues(entry.trailers, 'Tests-Changed'),
    witness: value('Witness'),
    tests: value('Tests'),
    reviewed: trailerValues(entry.trailers, 'Reviewed'),
    findings: trailerValues(entry.trailers, 'Finding'),
    noticed: trailerValues(entry.trailers, 'Noticed'),
    runsLater: trailerValues(entry.trailers, 'Runs-Later'),
    criteriaMet: trailerValues(entry.trailers, 'Criterion-Met'),
    assumed: trailerValues(entry.trailers, 'Assumed'),
    undone: trailerValues(entry.trailers, 'Undone'),
    caged: trailerValues(entry.trailers, 'Caged'),
    changed: trailerValues(entry.trailers, 'Changed'),
  }
}

/** The usage in a commit's trailers. */
function usageIn(trailers: readonly Trailer[]): Usage {
  const turns = trailerValue(trailers, 'Turns')
  return {
    turns: turns !== null && /^\d+$/.test(turns) ? Number(turns) : null,
    ...parseTokens(trailerValue(trailers, 'Tokens')),
    costUsd: parseCost(trailerValue(trailers, 'Cost')),
  }
}
