import { platform } from 'node:os'
import { thisMachine } from './machine.ts'
import type { StartedProcess } from './remains.ts'
import type { StartProcess } from './start.ts'
import { startOf } from './table.ts'

/** Those that are alive of what was started here. */
export class StartedProcesses {
  readonly #living = new Map<number, StartedProcess>()
  readonly #now: () => number
  #listener: ((living: readonly StartedProcess[]) => void) | null = null

  /** The time in milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Has one hear of each that begins, and of when it began; what it returns ends that. */
  listen(listener: (living: readonly StartedProcess[]) => void): () => void {
    this.#listener = listener
    return () => {
      this.#listener = null
    }
  }

  /** A way to start processes by which each is kept in mind while it runs. */
  following(start: StartProcess): StartProcess {
    return (command, options) => {
      const running = start(command, options)
      const { pid } = running
      if (pid === undefined) return running
      const forget = (): boolean => this.#living.delete(pid)
      running.finished.then(forget, forget)
      this.#keep({ ...placeOf(pid), startedAt: '', boot: '', notedAt: this.#now() })
      void this.#learn(pid)
      return running
    }
  }

  async #learn(pid: number): Promise<void> {
    const [{ boot }, startedAt] = await Promise.all([thisMachine(), startOf(pid)])
    // Of a table that cannot be read it is known no better than before.
    if (startedAt && this.#living.has(pid)) this.#keep({ ...placeOf(pid), startedAt, boot })
  }

  #keep(process: StartedProcess): void {
    this.#living.set(process.pid, process)
    this.#listener?.([...this.#living.values()])
  }
}

function placeOf(pid: number): Pick<StartedProcess, 'pid' | 'group'> {
  return { pid, group: platform() === 'win32' ? null : pid }
}
