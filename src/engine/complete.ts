import { UserError } from '../base/errors.ts'
import { fewOf } from '../base/text.ts'
import { rawChanges } from '../git/raw-changes.ts'
import { attemptRef, candidateRef, listRecords, type AttemptFacts } from '../git/record.ts'
import { retryTask } from '../backlog/finish.ts'
import { parseTask } from '../backlog/parse.ts'
import { sectionBodies } from '../backlog/edit-section.ts'
import type { Task } from '../backlog/model.ts'
import { withoutRun } from './alone.ts'
import { keep, NOTHING_YET } from './attempt.ts'
import { dropCandidate } from './candidates.ts'
import { jobTaskOf } from './job.ts'
import { checkWork, objectionTo } from './judge.ts'
import { land, type Landed } from './land.ts'
import { Ledger } from './ledger.ts'
import { NoteKeeper } from './note.ts'
import { HUMAN, outcome } from './outcome.ts'
import type { Emit, RunOptions, RunPorts } from './ports.ts'
import { branchToLandOn, refuseImpossible } from './preflight.ts'
import { landingPorts, openPlace } from './run-parts.ts'
import { openBranch } from './slot/branch.ts'
import { takeCheckout } from './slot/checkout.ts'
import type { Happening } from './events/event.ts'

/** The trailer's value for a task done by a person, which otherwise names the agent. */
/**
 * Completes a task that a person has done: what is in the checkout is the work. The gates run on it in a clean room, and it
 * lands as an agent's work does. What does not pass stays in the checkout as it is. `written` is the task as the person has
 * it, without its blockage.
 */
export async function completeByHand(
  { options, ports, emit }: { options: RunOptions; ports: RunPorts; emit: Emit<Happening> },
  written: Task,
): Promise<Landed> {
  return withoutRun(ports.folder, ports, async () => {
    await refuseImpossible(ports)
    const startedAt = ports.now()
    const { home, slots } = ports
    const notes = new NoteKeeper(
      ports.folder.note,
      { mark: ports.mark, spentUsd: null, spentTokens: null, jobs: [] },
      ports.now,
    )
    const name = await branchToLandOn({ ...options, branch: null }, home)
    const branch = openBranch(home, name, (move) => notes.moving(move))
    const base = await branch.tip()
    const place = await openPlace({ ports, notes, emit, options }, 1)
    const run = { ports, branch, inForce: async (tip: string) => tip }
    const landing = landingPorts(run, place)
    try {
      place.slot.open()
      const { tree, nested, problem, index, folder } = await takeCheckout(home, slots.folder)
      if (nested.length > 0)
        emit({ type: 'warning', message: `a repository of its own is in no commit: ${fewOf(nested)}` })
      const changes = await rawChanges(home.git, base.head, tree)
      const work = { base: base.head, tree, changes, nested, from: null, problem }
      const ledger = new Ledger(await listRecords(home.git))
      const number = (ledger.attemptsAt(written.id).at(-1)?.number ?? 0) + 1
      const job = { task: jobTaskOf(written), attempt: number, gates: options.gates }
      const root = ports.folder.root
      const early = await objectionTo(job, work, { home, root, git: folder.git }, emit)
      if (early) return { kind: 'refused', outcome: early }
      const checked = await checkWork(job, work, { ...landing, branch: name }, emit)
      if (checked.outcome) return { kind: 'refused', outcome: checked.outcome }
      if (checked.tree !== tree)
        return {
          kind: 'refused',
          outcome: outcome('gate-failed', 'the gates change files: run them here first'),
        }
      const facts: AttemptFacts = {
        ...NOTHING_YET,
        outcome: 'done',
        task: written.id,
        number,
        detail: sectionBodies(written, 'Completion Notes').join('\n\n'),
        base: base.head,
        counted: ledger.nextCountedAt(written.id),
        most: options.retries + 1,
        agent: HUMAN,
        model: null,
        log: null,
        tier: ports.tierOf(written).tier,
        seconds: (ports.now().getTime() - startedAt.getTime()) / 1000,
        gates: checked.passed,
        changed: changes.map(({ path }) => path),
      }
      const ref = candidateRef(written.id, number, crypto.randomUUID().slice(0, 8))
      const candidate = await keep(ports, facts, { ref, tree })
      const landed = await land(
        {
          candidate,
          job,
          earlier: ledger.seriesAt(written.id),
          kept: ledger.attemptsAt(written.id),
          options: { ...options, checkCriteria: false },
          isForeign: false,
          objection: () => null,
          byPerson: { task: written, checkout: { tree, index } },
        },
        landing,
        emit,
      )
      if (landed.kind === 'refused') {
        const { kind, reason, detail } = landed.outcome
        const failed = { ...facts, outcome: kind, reason, detail, gates: null }
        await keep(ports, failed, { ref: attemptRef(written.id, number), tree })
      }
      await dropCandidate({ ports, ledger }, candidate)
      return landed
    } finally {
      notes.end()
    }
  })
}

/** The task as its file is in the checkout, without its blockage, which becomes part of the earlier attempts. */
export async function openedTask({ source }: Pick<RunPorts, 'source'>, task: Task): Promise<Task> {
  if (task.problems.some(({ kind }) => kind === 'unreadable'))
    throw new UserError(`${task.file} cannot be read`, 'Write it again, or restore it with git.')
  if (task.status !== 'BLOCKED' && !task.held) return task
  return parseTask({ file: task.file, text: retryTask(task, source.words) }, source.words)
}
