import type { Emitted, Happening } from './events/event.ts'
import type { Base } from '../git/head.ts'
import { makeCommit, treeWith } from '../git/made-commit.ts'
import type { Amounts } from '../base/usage.ts'
import type { InTurn } from '../base/mutex.ts'
import { fewOf } from '../base/text.ts'
import type { Task } from '../backlog/model.ts'
import type { OriginReport } from '../backlog/origin.ts'
import { type LandingPorts, currentTask, originTexts } from './land.ts'
import type { Ledger } from './ledger.ts'
import type { JobNote, NoteKeeper } from './note.ts'
import type { AttemptPorts, Emit, Programs, RunOptions, RunPorts } from './ports.ts'
import { answerFor } from './questions.ts'
import type { Branch } from './slot/branch.ts'
import type { Slot } from './slot/slot.ts'

/** A running run: its options, its ports, and its state. */
export interface Run {
  readonly options: RunOptions
  readonly ports: RunPorts
  readonly branch: Branch
  readonly ledger: Ledger
  readonly notes: NoteKeeper
  readonly emit: Emit<Emitted>
  /** Files of other tools' backlogs that are kept in sync. */
  readonly origins: readonly string[]
  /** Does one thing with the branch at a time. */
  readonly inTurn: InTurn
  /** What the next attempt at that task may use. */
  readonly reserve: (task: string) => Amounts
  /** Gives back what was reserved for that task. */
  readonly release: (task: string) => void
  /** The commit whose hooks and configuration are in force, for a tip. */
  readonly inForce: (tip: string) => Promise<string>
}

/** Where a run works on one task. */
export interface Place {
  readonly slot: Slot
  readonly work: Programs
  readonly check: Programs
  readonly note: JobNote
  readonly emit: Emit<Happening>
}

/** A slot with what starts programs in it. Events name the slot if several jobs run at once. */
export async function openPlace(
  run: Pick<Run, 'ports' | 'notes' | 'emit' | 'options'>,
  number: number,
): Promise<Place> {
  const { slots, workers } = run.ports
  const slot = slots.get(number)
  const note = workers ? run.notes.distant(number) : run.notes.of(number)
  const isMarked = run.options.jobs > 1
  return {
    slot,
    work: await slots.programs(slot, slot.work),
    check: await slots.programs(slot, slot.check),
    note,
    emit: isMarked ? (event) => run.emit({ ...event, workspace: number }) : run.emit,
  }
}

/** What attempts in a slot use. */
export function attemptPorts(
  { ports }: Pick<Run, 'ports'>,
  { slot, work, check }: Pick<Place, 'slot' | 'work' | 'check'>,
): AttemptPorts {
  return {
    ...ports,
    slot,
    work,
    check,
    ask: (question, signal) => answerFor(ports, question, signal),
    draftTask: (draft) => ports.draftTask(draft, ports.source.tasks()),
  }
}

/** What a landing in a slot uses. */
export function landingPorts(run: Pick<Run, 'ports' | 'branch' | 'inForce'>, place: Place): LandingPorts {
  const { ports, branch, inForce } = run
  const { slot, check } = place
  return { ...ports, slot, check, branch, inForce }
}

/** A text of a task's file for the branch: made from the task as it is there, together with its origin's text. */
interface TextCommit {
  readonly task: Task
  readonly text: (task: Task) => string
  readonly report?: OriginReport
  readonly message: string
}

/** How often somebody may move the branch just before a text is committed on it. */
const MOST_MOVES = 5

/** Commits a text of a task's file on the branch, but not during a landing; returns the new tip, or why not. */
export function commitText(run: Run, place: Place, request: TextCommit): Promise<Base | string> {
  const { branch, ports } = run
  const { home, source } = ports
  return run.inTurn(async () => {
    for (let moves = 0; moves < MOST_MOVES; moves++) {
      const tip = await branch.tip()
      await source.at(tip.head)
      const now = currentTask(source, request.task) ?? request.task
      const { report } = request
      const origin = report
        ? await originTexts(
            { task: now, report, tree: `${tip.head}^{tree}`, tip },
            landingPorts(run, place),
            place.emit,
          )
        : []
      const texts = new Map([[now.file, request.text(now)], ...origin])
      const inTree = new Map([...texts].map(([file, text]) => [`${home.prefix}${file}`, text]))
      const tree = await treeWith(home.git, home.repository, `${tip.head}^{tree}`, inTree)
      const commit = await makeCommit(home.git, { tree, parent: tip.head, message: request.message })
      const moved = await branch.publish(tip.head, commit)
      if (moved.kind === 'held') return [moved.reason, fewOf(moved.paths)].filter(Boolean).join(': ')
      if (moved.kind === 'overtaken') continue
      await source.at(commit)
      return { ...tip, head: commit }
    }
    return 'the branch moved on each time'
  })
}
