import { tmpdir } from 'node:os'
import type { AgentEvent, AgentOutcome, AgentRequest } from '../../src/agents/port.ts'

/** A request of which a test says only what it is about. */
export function requestOf(changes: Partial<AgentRequest> = {}): AgentRequest {
  return {
    prompt: 'Do it.',
    cwd: tmpdir(),
    env: process.env,
    model: null,
    limits: { turns: 50, seconds: 600, stallSeconds: 300, budgetUsd: null },
    permission: { level: 'edit' },
    gateCommands: [],
    mcpServers: {},
    task: { id: 'T-004', file: 'docs/tasks/T-004.md', attempt: 1, notesFile: 'no-notes', script: null },
    signal: new AbortController().signal,
    log: () => undefined,
    ...changes,
  }
}

/** All events of a run; the last is its outcome, and the only one. */
export async function listen(events: AsyncIterable<AgentEvent>) {
  const heard: AgentEvent[] = []
  for await (const event of events) heard.push(event)
  const outcomes = heard.flatMap((event) => (event.type === 'finished' ? [event.outcome] : []))
  if (outcomes.length !== 1 || heard.at(-1)?.type !== 'finished') throw new Error('not exactly one end')
  return { events: heard, outcome: outcomes[0] as AgentOutcome }
}
