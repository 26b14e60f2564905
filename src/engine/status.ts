import { readdirSync, readFileSync } from 'node:fs'
import type { RunEvent } from '../events/event.ts'
import { statusAfter, type RunStatus } from '../events/status.ts'
import { journalPath } from './journal.ts'

/** The runs with journals, oldest first. */
export function runsIn(logs: string): readonly string[] {
  try {
    const names = readdirSync(logs).flatMap((name) => /^run-(.+)\.ndjson$/.exec(name)?.[1] ?? [])
    return names.toSorted()
  } catch {
    // There has been no run.
    return []
  }
}

/** All events of that run that its journal holds. */
export function* readEvents(logs: string, run: string): Iterable<RunEvent> {
  for (const line of linesOf(logs, run)) {
    const event = eventIn(line)
    if (event) yield event
  }
}

/** The status of that run; null if its journal is empty. */
export function readStatus(logs: string, run: string): RunStatus | null {
  let status: RunStatus | null = null
  for (const line of linesOf(logs, run)) {
    const event = CHATTER.test(line.slice(0, 200)) ? null : eventIn(line)
    if (event) status = statusAfter(status, event)
  }
  return status
}

/** An agent's output is most of a journal, and does not change the status. */
const CHATTER = /"type":"agent-(?:text|tool|usage|started)"/

function linesOf(logs: string, run: string): readonly string[] {
  return readFileSync(journalPath(logs, run), 'utf8').split('\n')
}

function eventIn(line: string): RunEvent | null {
  if (line === '') return null
  try {
    return JSON.parse(line) as RunEvent
  } catch {
    // The last line is incomplete if the run died while writing it.
    return null
  }
}
