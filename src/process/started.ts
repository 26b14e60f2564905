import { platform } from 'node:os'
import { thisMachine } from './machine.ts'
import type { StartedProcess } from './remains.ts'
import type { StartProcess } from './start.ts'
import { startOf } from './table.ts'

/** The living ones among the processes that were started here. */
export class StartedProcesses {
  readonly #living = new Map<number, StartedProcess>()
  readonly #now: () => number
  #listener: ((living: readonly StartedProcess[]) => void) | null = null

  /** The time in milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Calls the listener each time that a process begins, and when its start is known; the returned function ends that. */
  listen(listener: (living: readonly StartedProcess[]) => void): () => void {
    this.#listener = listener
    return () => {
      this.#listener = null
    }
  }

  /** Returns a way to start processes that remembers each while it runs. */
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
    // If the table cannot be read, the note stays as it was.
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
