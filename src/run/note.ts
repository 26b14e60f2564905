import { readFileSync, rmSync, utimesSync } from 'node:fs'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { UNKNOWN_USAGE, type Usage } from '../events/usage.ts'
import type { Base } from '../git/head.ts'
import type { AttemptFacts } from '../git/record.ts'
import type { StartedProcess } from '../process/remains.ts'
import type { Move } from '../workspace/follow.ts'

/** What a run has under way: enough for the next run to resume it, whatever happens to this one. */
export interface RunNote {
  readonly version: 1
  /** Marks every process that the run starts. */
  readonly mark: string
  /** The agents and gates that it started and that were alive, for systems on which marks cannot be read. */
  readonly processes: readonly StartedProcess[]
  readonly startedAt: string
  /** When the tree was last known to be clean, by the file system's clock. */
  readonly cleanSince: number
  /** Whether its jobs used workspaces of ralph's own, so that the checkout was the person's. */
  readonly isApart: boolean
  /** The cost of the run so far, without the attempt under way; null if unknown. */
  readonly spentUsd: number | null
  /** The attempt under way in the checkout. */
  readonly attempt: AttemptNote | null
  /** The attempts in workspaces of ralph's own. */
  readonly jobs: readonly { readonly workspace: number; readonly attempt: AttemptNote }[]
  /** A move of the branch that the checkout perhaps has not followed yet. */
  readonly move: Move | null
}

/** Every attempt that a run had under way: in the checkout, and in workspaces. */
export function attemptsIn({ attempt, jobs }: RunNote): readonly AttemptNote[] {
  return [...(attempt ? [attempt] : []), ...jobs.map((job) => job.attempt)]
}

export interface AttemptNote {
  readonly task: string
  readonly title: string
  readonly number: number
  readonly counted: number
  readonly most: number
  readonly base: Base
  readonly phase: Phase
  readonly agent: string
  readonly model: string | null
  readonly tier: string
  readonly usage: Usage
  readonly startedAt: string
  readonly log: string
  /** Why the task is to be blocked, in the phase `blocking`. */
  readonly reason: string | null
}

/**
 * The phase of an attempt. `working`: what is in the tree may be the agent's; if there is a candidate, the task's
 * commit may exist too. `blocking`: the commit that blocks the task may exist.
 */
type Phase = 'working' | 'blocking'

/** The note for an attempt whose work has passed, and is to land. */
export function noteOf(
  { task, number, counted, most, agent, model, tier, log }: AttemptFacts,
  { startedAt, ...more }: { readonly title: string; readonly base: Base; readonly startedAt: Date },
): Omit<AttemptNote, 'usage' | 'phase' | 'reason'> {
  const facts = { task, number, counted, most, agent, model, tier, log: log ?? '' }
  return { ...facts, ...more, startedAt: startedAt.toISOString() }
}

const HEARTBEAT_MS = 5000

/**
 * Keeps the time of a note's file fresh, until the returned function is called. The time later shows until when its writer
 * was alive: a change after that is somebody else's.
 */
export function keepFresh(path: string, now: () => Date): () => void {
  const heartbeat = setInterval(() => {
    try {
      utimesSync(path, now(), now())
    } catch {
      // The file was removed: then nothing needs to be kept up to date.
      clearInterval(heartbeat)
    }
  }, HEARTBEAT_MS)
  heartbeat.unref()
  return () => clearInterval(heartbeat)
}

/** The note about the attempt under way in one place. */
export interface JobNote {
  /** The cost of the whole run. */
  spentUsd(): number | null
  /** Notes that an attempt begins. */
  begin(attempt: Omit<AttemptNote, 'usage' | 'phase' | 'reason'> & Partial<AttemptNote>): void
  /** Changes the note on the attempt under way. */
  update(part: Partial<AttemptNote>): void
  /** Adds the attempt's cost to the run's, and removes it from the attempt in the same write, so that it counts once. */
  spend(usd: number | null): void
  /** Notes that nothing is under way: the tree is clean, and HEAD is where it should be. */
  clear(): void
  /** The same, written with the next change: until then the candidate and its commit are enough for recovery. */
  clearSoon(): void
}

/** The checkout, or the number of a workspace of ralph's own. */
type WorkspaceId = 'checkout' | number

/** Keeps `.ralph/run.json` up to date with what the run has under way, for a run that resumes after it. */
export class NoteKeeper {
  readonly #path: string
  readonly #endHeartbeat: () => void
  #note: RunNote

  constructor(
    path: string,
    start: Pick<RunNote, 'mark' | 'cleanSince' | 'isApart' | 'spentUsd' | 'attempt'> &
      Partial<Pick<RunNote, 'jobs'>>,
    now: () => Date,
  ) {
    this.#path = path
    this.#note = {
      version: 1,
      startedAt: now().toISOString(),
      processes: [],
      jobs: [],
      move: null,
      ...start,
    }
    this.#write()
    this.#endHeartbeat = keepFresh(path, now)
  }

  get spentUsd(): number | null {
    return this.#note.spentUsd
  }

  /** Notes which started processes are alive. */
  started(processes: readonly StartedProcess[]): void {
    this.#note = { ...this.#note, processes }
    try {
      this.#write()
    } catch {
      // The next step meets the full disk again, and can end the run; the process just started must still be followed.
      return
    }
  }

  /** The note about the job in that workspace. */
  of(place: WorkspaceId): JobNote {
    return {
      spentUsd: () => this.spentUsd,
      begin: (attempt) =>
        this.#change(this.#with(place, { usage: UNKNOWN_USAGE, phase: 'working', reason: null, ...attempt })),
      update: (part) => {
        const attempt = this.#attemptAt(place)
        if (!attempt) return
        const changed = { ...attempt, ...part }
        if (JSON.stringify(changed) !== JSON.stringify(attempt)) this.#change(this.#with(place, changed))
      },
      spend: (usd) => {
        const attempt = this.#attemptAt(place)
        if (usd === null || !attempt) return
        const usage = { ...attempt.usage, costUsd: null }
        this.#change({
          spentUsd: (this.spentUsd ?? 0) + usd,
          ...this.#with(place, { ...attempt, usage }),
        })
      },
      clear: () => this.#change(this.#with(place, null)),
      clearSoon: () => {
        this.#note = { ...this.#note, ...this.#with(place, null) }
      },
    }
  }

  /**
   * The note about an attempt that a worker makes: the next run has nothing of it here to restore, so it is written
   * only once the task is to be blocked.
   */
  distant(place: number): JobNote {
    const own = this.of(place)
    let begun: Parameters<JobNote['begin']>[0] | null = null
    return {
      ...own,
      begin(attempt) {
        begun = attempt
      },
      update(part) {
        if (begun && part.phase === 'blocking') own.begin({ ...begun, ...part })
      },
      spend: (usd) => {
        if (usd !== null) this.#change({ spentUsd: (this.spentUsd ?? 0) + usd })
      },
    }
  }

  /** Notes that the branch moves, and the checkout is to follow; null once it has. */
  moving(move: Move | null): void {
    this.#change({ move })
  }

  /** Writes what has not been written yet. */
  flush(): void {
    this.#write()
  }

  /** Ends the notes. Only a run that leaves nothing to finish removes the file. */
  end(): void {
    this.#endHeartbeat()
    const { attempt, jobs, move } = this.#note
    if (attempt === null && jobs.length === 0 && move === null) rmSync(this.#path, { force: true })
  }

  #attemptAt(place: WorkspaceId): AttemptNote | null {
    if (place === 'checkout') return this.#note.attempt
    return this.#note.jobs.find(({ workspace }) => workspace === place)?.attempt ?? null
  }

  #with(place: WorkspaceId, attempt: AttemptNote | null): Partial<RunNote> {
    if (place === 'checkout') return { attempt }
    const others = this.#note.jobs.filter(({ workspace }) => workspace !== place)
    return { jobs: attempt ? [...others, { workspace: place, attempt }] : others }
  }

  #change(part: Partial<RunNote>): void {
    this.#note = { ...this.#note, ...part }
    this.#write()
  }

  /** Must come before the action that it describes. */
  #write(): void {
    writeFileAtomic(this.#path, JSON.stringify(this.#note, null, 2) + '\n')
  }
}

/** What the last run had under way; null if it ended properly, or if nothing can be read. */
export function readNote(path: string): RunNote | null {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (!isNote(read)) return null
    return {
      ...read,
      processes: read.processes ?? [],
      jobs: read.jobs ?? [],
      move: read.move ?? null,
      isApart: read.isApart ?? false,
    }
  } catch {
    return null
  }
}

/** An earlier version of ralph may have noted no processes, and no jobs. */
function isNote(read: unknown): read is Omit<RunNote, Later> & Partial<Pick<RunNote, Later>> {
  return (
    typeof read === 'object' && read !== null && 'version' in read && read.version === 1 && 'mark' in read
  )
}

type Later = 'processes' | 'jobs' | 'move' | 'isApart'
