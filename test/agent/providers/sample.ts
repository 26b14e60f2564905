import { readFileSync } from 'node:fs'
import { UNKNOWN_USAGE } from '../../../src/base/usage.ts'
import type { AgentRequest, Exit, Provider } from '../../../src/agents/port.ts'
import { requestOf } from '../requests.ts'

const NOW = new Date(2026, 10, 18, 9, 0, 0)

/** A run as it was asked for, with what a test wants different. */
export function request(changes: Partial<AgentRequest> = {}): AgentRequest {
  return requestOf({ prompt: 'Do the task.', cwd: '/repo', env: {}, gateCommands: ['npm test'], ...changes })
}

/** The lines that a real run printed. */
export function sample(name: string): readonly string[] {
  const text = readFileSync(new URL(`../samples/${name}.jsonl`, import.meta.url), 'utf8')
  return text.replace(/\n$/, '').split('\n')
}

/** What a real run printed on stderr. */
export function stderrOf(name: string): string {
  return readFileSync(new URL(`../samples/${name}.err`, import.meta.url), 'utf8')
}

/** Reads lines to their end, as the runtime does. */
export function hear(
  provider: Provider,
  lines: readonly string[],
  { exit = {}, ...changes }: { exit?: Partial<Exit> } & Partial<AgentRequest> = {},
) {
  const reader = provider.reader(request(changes), () => NOW)
  const { stderr = '' } = exit
  const complaints = stderr.split('\n').flatMap((line) => reader.complaint?.(line) ?? [])
  const events = [...complaints, ...lines.flatMap((line) => reader.line(line))]
  const end = reader.end({ code: 0, signal: null, stderr, ...exit })
  const used = events.findLast((event) => event.type === 'usage')
  // With the usage that was reported last.
  return { events, end: { ...end, usage: used?.usage ?? UNKNOWN_USAGE } }
}

/** The tools in one line each, as they ended. */
export function tools({ events }: ReturnType<typeof hear>): readonly string[] {
  return events.flatMap((event) => (event.type === 'tool' ? [`${event.status}: ${event.summary}`] : []))
}

/** The moment that the tests take for now, moved by so many seconds. */
export function after(seconds: number): Date {
  return new Date(NOW.getTime() + seconds * 1000)
}
