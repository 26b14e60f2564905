import { appendFileSync, closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf } from '../base/errors.ts'
import type { RunEvent } from './events/event.ts'

/** The name of a run that began then, also of its journal. */
export function runId(begun: Date): string {
  return begun.toISOString().replaceAll(/[:.]/g, '-')
}

/** The journal of a run in the folder of logs. */
export function journalPath(logs: string, run: string): string {
  return join(logs, `run-${run}.ndjson`)
}

/** The limit for one attempt's agent output in a journal; the attempt's log has all of it. */
const MOST_CHARACTERS = 256 * 1024

/** Writes every event into the journal of a run, one a line: all views read from it. */
export function openJournal(folder: string, run: string): (event: RunEvent) => void {
  const path = journalPath(folder, run)
  const written = new Map<string, number>()
  const append = (event: RunEvent): void => {
    const line = `${JSON.stringify(event)}\n`
    try {
      appendFileSync(path, line)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      // An agent may clean the whole tree, with ignored files.
      mkdirSync(folder, { recursive: true })
      appendFileSync(path, line)
    }
  }
  return (event) => {
    if (event.type === 'attempt-started') written.set(event.id, 0)
    if (event.type !== 'agent-text' && event.type !== 'agent-tool' && event.type !== 'agent-retrying')
      return append(event)
    const before = written.get(event.id) ?? 0
    if (before > MOST_CHARACTERS) return
    const after = before + JSON.stringify(event).length
    written.set(event.id, after)
    if (after <= MOST_CHARACTERS) return append(event)
    const { at, id } = event
    append({ at, id, type: 'agent-text', text: '[the journal holds no more of this attempt: its log does]' })
  }
}

/** The folders of attempts' logs and results. An agent may delete them: they are created again when needed. */
export function openLogs({ logs, results }: { logs: string; results: string }, maxBytes: number) {
  return {
    /** Opens a log of that name, replacing an earlier one unless it adds to that; it stops growing at its cap. */
    open: (name: string, { adds = false } = {}) => cappedLog(join(logs, name), maxBytes, adds ? 'a' : 'w'),
    /** The path of a file or folder beside the logs. */
    result: (name: string): string => {
      mkdirSync(results, { recursive: true })
      return join(results, name)
    },
  }
}

/** A log that stops growing at its cap with a notice; it keeps the beginning. */
function cappedLog(path: string, maxBytes: number, flags: 'a' | 'w') {
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(path, flags)
  let left = maxBytes
  return {
    write(chunk: Uint8Array): void {
      if (left <= 0) return
      writeSync(file, chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) writeSync(file, `\n[ralph: the log ends here, at its cap of ${maxBytes} bytes]\n`)
    },
    close: (): void => closeSync(file),
  }
}
