import { statSync } from 'node:fs'
import type { Emitted, Happening } from './events/event.ts'
import { addAmounts, amountsOf, NO_AMOUNTS, UNKNOWN_USAGE, type Amounts } from '../base/usage.ts'
import { rawChanges } from '../git/raw-changes.ts'
import { attemptRef, listCandidates, listRecords, type AttemptFacts } from '../git/record.ts'
import { keep } from './attempt.ts'
import type { GivenUp } from './jobs.ts'
import { readNote, type AttemptNote } from './note.ts'
import type { Emit, RunPorts } from './ports.ts'
import { endLeftovers } from '../process/tree.ts'
import { finishBranchMove } from './slot/branch.ts'
import type { Slot } from './slot/slot.ts'

/** What a run that died leaves to the next one. */
interface Inheritance {
  /** What it used, as far as it is known. */
  readonly spent: Amounts
  /** Tasks that it had given up, and perhaps not blocked yet. */
  readonly toBlock: readonly GivenUp[]
}

/**
 * Goes on where a run was killed: ends what it left alive, finishes the move of the branch that was under way, and records
 * what is in each slot that no ref holds. Candidates wait on their refs, and land as any other. It can itself be killed at
 * any moment.
 */
export async function recover(
  ports: Pick<RunPorts, 'folder' | 'home' | 'slots' | 'now' | 'checkpoint'>,
  branch: string | null,
  emit: Emit<Emitted>,
): Promise<Inheritance> {
  const dead = readNote(ports.folder.note)
  if (!dead) {
    await finishBranchMove(ports.home, { branch, move: null })
    return { spent: NO_AMOUNTS, toBlock: [] }
  }
  for (const line of await endLeftovers(dead))
    emit(recovered(null, `ended what the last run had left running: ${line}`))
  await finishBranchMove(ports.home, { branch, move: dead.move })
  let spent: Amounts = { usd: dead.spentUsd, tokens: dead.spentTokens ?? null }
  const toBlock: GivenUp[] = []
  for (const { workspace, attempt } of dead.jobs) {
    const slot = ports.slots.get(workspace)
    slot.removeCheck()
    const there: Emit<Happening> = (event) => emit({ ...event, workspace })
    spent = addAmounts(spent, amountsOf(attempt.usage))
    const givenUp = await recoverAttempt(ports, slot, attempt, there)
    // Its usage is the run's by now: it must not count again if this run dies too.
    if (givenUp) toBlock.push({ workspace, attempt: { ...givenUp, usage: UNKNOWN_USAGE } })
  }
  return { spent, toBlock }
}

/** Records what an attempt has left in its slot; returns the attempt, with the reason, if its task was given up. */
async function recoverAttempt(
  ports: Parameters<typeof recover>[0],
  slot: Slot,
  attempt: AttemptNote,
  emit: Emit<Happening>,
): Promise<AttemptNote | null> {
  const { task, number, base, blocking } = attempt
  const { git } = ports.home
  const record = (await listRecords(git, task)).find((one) => one.number === number)
  const candidate = (await listCandidates(git)).find((one) => one.task === task && one.number === number)
  if (blocking !== null) return attempt
  const kept = candidate ?? record
  if (kept) {
    const how = candidate ? `attempt ${number} had passed: its work` : `attempt ${number}: it`
    emit(recovered(task, `${task}: the last run died after ${how} is kept under ${kept.ref}`, kept.ref))
    return !candidate && kept.final ? { ...attempt, blocking: kept.reason } : null
  }
  const tree = slot.isThere ? await treeLeft(slot, attempt) : null
  if (tree === null) {
    const gone = `${task}: the last run died during attempt ${number}, and its slot is gone`
    emit(recovered(task, gone))
    return null
  }
  const changes = await rawChanges(git, base, tree)
  const changed = changes.map(({ path }) => path)
  const made = await keep(ports, factsOf(ports, attempt, changed), { ref: attemptRef(task, number), tree })
  ports.checkpoint('attempt-kept')
  const files = changed.length === 1 ? '1 changed file is' : `${changed.length} changed files are`
  const what = changed.length === 0 ? 'nothing had changed' : `${files} kept under ${made.ref}`
  emit(recovered(task, `${task}: the last run died during attempt ${number}: ${what}`, made.ref))
  return null
}

/** The tree of a slot's work folder; null if nothing can be made of it. */
async function treeLeft(slot: Slot, { base }: AttemptNote): Promise<string | null> {
  for (const isAgain of [false, true])
    try {
      slot.open()
      if (isAgain) await slot.work.folder.know(base)
      return (await slot.take(base)).tree
    } catch {
      // The index may be broken, and the files whole.
      continue
    }
  slot.remove()
  return null
}

function factsOf(
  { folder }: Pick<RunPorts, 'folder'>,
  attempt: AttemptNote,
  changed: readonly string[],
): AttemptFacts {
  const lastSign = statSync(folder.note, { throwIfNoEntry: false })?.mtimeMs ?? Date.parse(attempt.startedAt)
  return {
    ...attempt,
    outcome: 'interrupted',
    reason: 'the run was killed',
    seconds: Math.max(0, (lastSign - Date.parse(attempt.startedAt)) / 1000),
    changed,
  }
}

/** The event for something found of a dead run. */
function recovered(
  task: string | null,
  message: string,
  ref: string | null = null,
): Extract<Happening, { type: 'recovered' }> {
  return { type: 'recovered', message, task, ref }
}
