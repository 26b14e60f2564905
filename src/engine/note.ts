import { rmSync } from 'node:fs'
import { writeFileAtomic } from '../base/atomic-file.ts'
import type { Usage } from '../base/nouns.ts'
import { parsedJson } from '../base/text.ts'
import { addAmounts, amountsOf, UNKNOWN_USAGE, type Amounts } from '../base/usage.ts'
import { readPlainFile } from '../base/read-file.ts'
import type { AttemptFacts } from '../git/record.ts'
import type { StartedProcess } from '../process/started.ts'
import type { Move } from './slot/follow.ts'

/** What a run has under way: enough for the next run to resume it, whatever happens to this one. */
interface RunNote {
  readonly version: 3
  /** Marks every process that the run starts. */
  readonly mark: string
  /** The agents and gates that it started and that were alive, for systems on which marks cannot be read. */
  readonly processes: readonly StartedProcess[]
  readonly startedAt: string
  /** The cost of the run so far, without the attempt under way; null if unknown. */
  readonly spentUsd: number | null
  readonly spentTokens: number | null
  /** The attempts under way, each in its slot. */
  readonly jobs: readonly { readonly workspace: number; readonly attempt: AttemptNote }[]
  /** A move of the branch that the checkout perhaps has not followed yet. */
  readonly move: Move | null
}

/** An attempt under way: what is known of it, if there is no record of it. */
export interface AttemptNote extends AttemptFacts {
  readonly startedAt: string
  /** Why the task is to be blocked: the commit that does so may exist. Null while the attempt goes on. */
  readonly blocking: string | null
}

/** The note about the attempt under way in one place. */
export interface JobNote {
  /** Notes that an attempt begins. */
  begin(attempt: AttemptNote): void
  /** Changes the note on the attempt under way. */
  update(part: Partial<AttemptNote>): void
  /** Adds the attempt's usage to the run's, and removes it from the attempt in the same write, so that it counts once. */
  spend(usage: Usage): void
  /** Notes that nothing is under way there. */
  clear(): void
}

/** Keeps `.ralph/run.json` up to date with what the run has under way, for a run that resumes after it. */
export class NoteKeeper {
  readonly #path: string
  #note: RunNote

  constructor(
    path: string,
    start: Pick<RunNote, 'mark' | 'spentUsd' | 'spentTokens' | 'jobs'>,
    now: () => Date,
  ) {
    this.#path = path
    this.#note = {
      version: 3,
      startedAt: now().toISOString(),
      processes: [],
      move: null,
      ...start,
    }
    this.#write()
  }

  /** What the run has used so far. */
  get spent(): Amounts {
    const { spentUsd, spentTokens } = this.#note
    return { usd: spentUsd, tokens: spentTokens }
  }

  /** Adds a usage to the run's. */
  spend(usage: Usage): void {
    this.#change(this.#spentWith(usage))
  }

  #spentWith(usage: Usage): Pick<RunNote, 'spentUsd' | 'spentTokens'> {
    const { usd, tokens } = addAmounts(this.spent, amountsOf(usage))
    return { spentUsd: usd, spentTokens: tokens }
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
  of(place: number): JobNote {
    return {
      begin: (attempt) => this.#change(this.#with(place, attempt)),
      update: (part) => {
        const attempt = this.#attemptAt(place)
        if (!attempt) return
        const changed = { ...attempt, ...part }
        if (JSON.stringify(changed) !== JSON.stringify(attempt)) this.#change(this.#with(place, changed))
      },
      spend: (usage) => {
        const attempt = this.#attemptAt(place)
        if (attempt)
          this.#change({
            ...this.#spentWith(usage),
            ...this.#with(place, { ...attempt, usage: UNKNOWN_USAGE }),
          })
      },
      clear: () => this.#change(this.#with(place, null)),
    }
  }

  /**
   * The note about an attempt that a worker makes: the next run has nothing of it here to restore, so it is written
   * only once the task is to be blocked.
   */
  distant(place: number): JobNote {
    const own = this.of(place)
    let begun: AttemptNote | null = null
    return {
      ...own,
      begin(attempt) {
        begun = attempt
      },
      update(part) {
        if (begun && part.blocking) own.begin({ ...begun, ...part })
      },
      spend: (usage) => this.spend(usage),
    }
  }

  /** Notes that the branch moves, and the checkout is to follow; null once it has. */
  moving(move: Move | null): void {
    this.#change({ move })
  }

  /** Ends the notes. Only a run that leaves nothing to finish removes the file. */
  end(): void {
    const { jobs, move } = this.#note
    if (jobs.length === 0 && move === null) rmSync(this.#path, { force: true })
  }

  #attemptAt(place: number): AttemptNote | null {
    return this.#note.jobs.find(({ workspace }) => workspace === place)?.attempt ?? null
  }

  #with(place: number, attempt: AttemptNote | null): Partial<RunNote> {
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
  const read = parsedJson(readPlainFile(path, MOST_BYTES) ?? '')
  return isNote(read) ? read : null
}

const MOST_BYTES = 16 * 1024 * 1024

function isNote(read: unknown): read is RunNote {
  if (typeof read !== 'object' || read === null) return false
  return (
    'version' in read && read.version === 3 && 'mark' in read && 'jobs' in read && Array.isArray(read.jobs)
  )
}
