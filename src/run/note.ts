import { readFileSync, rmSync, utimesSync } from 'node:fs'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { UNKNOWN_USAGE, type Usage } from '../events/usage.ts'
import type { Base } from '../git/head.ts'
import type { AttemptFacts } from '../git/record.ts'
import type { StartedProcess } from '../process/remains.ts'
import type { Move } from '../workspace/follow.ts'

/** What a run is in the middle of: enough for the next one to go on, whatever happens to this one. */
export interface RunNote {
  readonly version: 1
  /** Marks every process that the run starts. */
  readonly mark: string
  /** Those that were alive of the agents and gates that it had started, for where no mark can be read. */
  readonly processes: readonly StartedProcess[]
  readonly startedAt: string
  /** When the tree was last known to be clean, by the file system's clock. */
  readonly cleanSince: number
  /** Whether its jobs were in workspaces of ralph's own, and the checkout a person's all the time. */
  readonly isApart: boolean
  /** What the run has cost so far, the attempt that is under way not counted; null where nobody said. */
  readonly spentUsd: number | null
  /** The attempt that is under way in the checkout. */
  readonly attempt: AttemptNote | null
  /** Those in workspaces of ralph's own. */
  readonly jobs: readonly { readonly workspace: number; readonly attempt: AttemptNote }[]
  /** Where the branch has moved, and the checkout perhaps not yet. */
  readonly move: Move | null
}

/** Everything that a run had under way: in the checkout, and in workspaces. */
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
  /** Why the task is to be blocked, in that phase. */
  readonly reason: string | null
}

/**
 * How far an attempt is. `working`: whatever is in the tree may be the agent's; where there is a candidate of it, a commit
 * that says it is the task's may be there too. `blocking`: the commit that blocks the task may be there.
 */
type Phase = 'working' | 'blocking'

/** What is noted of an attempt whose work has passed, and is on its way to land. */
export function noteOf(
  { task, number, counted, most, agent, model, tier, log }: AttemptFacts,
  { startedAt, ...more }: { readonly title: string; readonly base: Base; readonly startedAt: Date },
): Omit<AttemptNote, 'usage' | 'phase' | 'reason'> {
  const facts = { task, number, counted, most, agent, model, tier, log: log ?? '' }
  return { ...facts, ...more, startedAt: startedAt.toISOString() }
}

const HEARTBEAT_MS = 5000

/** What is noted of the attempt that is under way in one place. */
export interface JobNote {
  /** What the whole run has cost. */
  spentUsd(): number | null
  /** An attempt begins. */
  begin(attempt: Omit<AttemptNote, 'usage' | 'phase' | 'reason'> & Partial<AttemptNote>): void
  /** The attempt under way has come further. */
  update(part: Partial<AttemptNote>): void
  /** What the attempt has cost is the run's now; written at once with taking it off the attempt, so that it counts once. */
  spend(usd: number | null): void
  /** Nothing is under way any more: the tree is clean, and HEAD is where it should be. */
  clear(): void
  /** The same, written with whatever comes next: until then the candidate and its commit speak for themselves. */
  clearSoon(): void
}

/** The checkout, or the number of a workspace of ralph's own. */
type Place = 'checkout' | number

/** Keeps `.ralph/run.json` in step with what the run is in the middle of, for the one that may have to go on. */
export class NoteKeeper {
  readonly #path: string
  readonly #now: () => Date
  readonly #heartbeat: NodeJS.Timeout
  #note: RunNote

  constructor(
    path: string,
    start: Pick<RunNote, 'mark' | 'cleanSince' | 'isApart' | 'spentUsd' | 'attempt'> &
      Partial<Pick<RunNote, 'jobs'>>,
    now: () => Date,
  ) {
    this.#path = path
    this.#now = now
    this.#note = {
      version: 1,
      startedAt: now().toISOString(),
      processes: [],
      jobs: [],
      move: null,
      ...start,
    }
    this.#write()
    // The file's time says later until when the run was alive: what moved HEAD after that was somebody else.
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS)
    this.#heartbeat.unref()
  }

  get spentUsd(): number | null {
    return this.#note.spentUsd
  }

  /** These processes are alive of those that were started. */
  started(processes: readonly StartedProcess[]): void {
    this.#note = { ...this.#note, processes }
    try {
      this.#write()
    } catch {
      // A full disk is met again at the next step, which can end the run; what was just started must not be left alone for it.
      return
    }
  }

  /** What is noted of the job in that place. */
  of(place: Place): JobNote {
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
   * The same of an attempt that a worker makes: nothing of it is here that the next run had to put in order, so it is noted
   * only once its task is to be blocked.
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

  /** The branch moves, and the checkout is about to follow; null once it has. */
  moving(move: Move | null): void {
    this.#change({ move })
  }

  /** Writes what has not been written yet. */
  flush(): void {
    this.#write()
  }

  /** The process is about to end. Only a run that leaves nothing to finish removes the note. */
  end(): void {
    clearInterval(this.#heartbeat)
    const { attempt, jobs, move } = this.#note
    if (attempt === null && jobs.length === 0 && move === null) rmSync(this.#path, { force: true })
  }

  #attemptAt(place: Place): AttemptNote | null {
    if (place === 'checkout') return this.#note.attempt
    return this.#note.jobs.find(({ workspace }) => workspace === place)?.attempt ?? null
  }

  #with(place: Place, attempt: AttemptNote | null): Partial<RunNote> {
    if (place === 'checkout') return { attempt }
    const others = this.#note.jobs.filter(({ workspace }) => workspace !== place)
    return { jobs: attempt ? [...others, { workspace: place, attempt }] : others }
  }

  #change(part: Partial<RunNote>): void {
    this.#note = { ...this.#note, ...part }
    this.#write()
  }

  /** Before what it speaks of is done. */
  #write(): void {
    writeFileAtomic(this.#path, JSON.stringify(this.#note, null, 2) + '\n')
  }

  #beat(): void {
    try {
      utimesSync(this.#path, this.#now(), this.#now())
    } catch {
      // Somebody removed the folder: then there is nothing to keep alive.
      clearInterval(this.#heartbeat)
    }
  }
}

/** What the last run was in the middle of; null where it ended properly, or where nothing can be read. */
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

/** A ralph of before may have noted no processes, and no jobs. */
function isNote(read: unknown): read is Omit<RunNote, Later> & Partial<Pick<RunNote, Later>> {
  return (
    typeof read === 'object' && read !== null && 'version' in read && read.version === 1 && 'mark' in read
  )
}

type Later = 'processes' | 'jobs' | 'move' | 'isApart'
