import { tmpdir } from 'node:os'
import type { AgentEvent, AgentRequest, Provider } from '../../src/agents/port.ts'
import { createAgent } from '../../src/agents/runtime.ts'
import { startProcess } from '../../src/process/start.ts'

/** A request of which a test says only what it is about. */
export function requestOf(changes: Partial<AgentRequest> = {}): AgentRequest {
  return {
    prompt: 'Do it.',
    cwd: tmpdir(),
    env: process.env,
    model: null,
    limits: { turns: 50, seconds: 600, stallSeconds: 300, budgetUsd: null, tokens: null },
    permission: { level: 'edit' },
    gateCommands: [],
    mcpServers: {},
    task: { id: 'T-004', file: 'docs/tasks/T-004.md', attempt: 1, notesFile: 'no-notes', script: null },
    signal: new AbortController().signal,
    log: () => undefined,
    ...changes,
  }
}

/** How a provider's program is started in tests, and how soon it is ended. */
export const QUICK = {
  start: startProcess,
  now: () => new Date('2026-11-18T12:00:00Z'),
  killAfterSeconds: 0.1,
  resultGraceSeconds: 0.05,
}

/** All events of a run, and its outcome. */
export async function runOf(
  provider: Provider,
  changes: Partial<AgentRequest> = {},
  options: Partial<Parameters<typeof createAgent>[1]> = {},
) {
  const events: AgentEvent[] = []
  const agent = createAgent(provider, { ...QUICK, ...options })
  const outcome = await agent.run(requestOf(changes), (event) => events.push(event))
  return { events, outcome }
}
