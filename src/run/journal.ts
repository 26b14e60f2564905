import { appendFileSync, closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { RunEvent } from '../events/event.ts'

/** Writes every event but the agent's talk into a file of this run: what happened, and when. */
export function runJournal(folder: string, now: Date): (event: RunEvent) => void {
  const path = join(folder, `run-${now.toISOString().replaceAll(/[:.]/g, '-')}.ndjson`)
  return (event) => {
    if (event.type === 'agent-text' || event.type === 'agent-tool' || event.type === 'agent-usage') return
    // An agent may clean the whole tree, ignored files too.
    mkdirSync(folder, { recursive: true })
    appendFileSync(path, JSON.stringify(event, leaveOutSource) + '\n')
  }
}

/** A task's whole text would stand in every line that speaks of it. */
function leaveOutSource(key: string, value: unknown): unknown {
  return key === 'source' || key === 'fields' || key === 'sections' ? undefined : value
}

/** A log that stops growing at its cap, saying so; its beginning is what is kept. */
export interface CappedLog {
  write(chunk: Uint8Array): void
  close(): void
}

/** Opens such a log, over whatever stood there. */
export function cappedLog(path: string, maxBytes: number): CappedLog {
  const file = openSync(path, 'w')
  let left = maxBytes
  return {
    write(chunk) {
      if (left <= 0) return
      writeSync(file, chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) writeSync(file, `\n[ralph: the log ends here, at its cap of ${maxBytes} bytes]\n`)
    },
    close: () => closeSync(file),
  }
}
