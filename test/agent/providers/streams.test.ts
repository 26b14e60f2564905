import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Provider, StreamEnd } from '../../../src/agents/port.ts'
import { AGENTS } from '../../../src/agents/registry.ts'
import { hear, sample } from './sample.ts'

const folder = new URL('../samples/', import.meta.url)
const recorded = readdirSync(folder)
  .filter((file) => file.endsWith('.jsonl'))
  .map((file) => file.replace('.jsonl', ''))
const providers = new Map(
  await Promise.all(AGENTS.map(async ({ name, load }) => [name, await load(null)] as const)),
)

/** How each recorded run ended; a run that was cut off by a signal has no end in its stream. */
const ENDS: Readonly<Record<string, StreamEnd['end']['kind']>> = {
  'claude-401': 'auth',
  'claude-429long': 'rate-limited',
  'claude-529': 'overloaded',
  'claude-budget': 'budget',
  'claude-hang-to': 'crashed',
  'claude-kill-SIGINT': 'crashed',
  'claude-kill-SIGTERM': 'crashed',
  'claude-maxturns': 'max-turns',
  'claude-offline': 'no-network',
  'codex-401': 'auth',
  'codex-429': 'rate-limited',
  'codex-cut': 'crashed',
  'copilot-401': 'auth',
  'gemini-401': 'auth',
  'gemini-404': 'refused',
  'gemini-empty': 'crashed',
  'gemini-maxturns': 'max-turns',
  'gemini-safety': 'refused',
  'opencode-401': 'auth',
  'opencode-ask': 'crashed',
  'opencode-cut': 'crashed',
  'opencode-filter': 'refused',
  'qwen-maxturns': 'crashed',
}

/** The line that ends a finished stream, by which a cut stream is known to be whole. */
const RESULT: Readonly<Record<string, RegExp>> = {
  claude: /"type":"result"/,
  codex: /"turn\.completed"/,
  gemini: /"type":"result"/,
  opencode: /"reason":"stop"/,
  copilot: /"type":"result"/,
  qwen: /"type":"result"/,
  continue: /"response"/,
}

function of(name: string): Provider {
  return providers.get(name.slice(0, name.indexOf('-')))!
}

describe.each(recorded)('the recorded stream %s', (name) => {
  const lines = sample(name)

  test('ends as the run did', () => {
    expect(hear(of(name), lines).end.end.kind).toBe(ENDS[name] ?? 'finished')
  })

  test('is never finished before its result, wherever it is cut', () => {
    for (let length = 0; length < lines.length; length++) {
      const cut = lines.slice(0, length)
      const { end } = hear(of(name), cut, { exit: { code: null, signal: 'SIGKILL' } })
      const whole = RESULT[of(name).name]!
      expect([length, end.end.kind === 'finished']).toEqual([length, cut.some((line) => whole.test(line))])
      if (end.end.kind !== 'finished') expect('reason' in end.end && end.end.reason).not.toBe('')
    }
  })

  test('means the same with events between that nobody knows, and with lines that are no JSON', () => {
    const strange = [
      '{"type":"brand.new","data":{"type":"result"}}',
      'npm warn something',
      '',
      '{"type":',
      '[1]',
      'null',
      '{}',
    ]
    const mixed = lines.flatMap((line) => [...strange, line])
    expect(hear(of(name), [...mixed, ...strange])).toEqual(hear(of(name), lines))
  })

  test('means the same whatever the order of its keys', () => {
    expect(hear(of(name), lines.map(reversed))).toEqual(hear(of(name), lines))
  })
})

test.each(recorded.filter((name) => name.endsWith('-ok')))(
  '%s tells the final message, and its numbers or nothing',
  (name) => {
    const { end } = hear(of(name), sample(name))
    expect(end.finalMessage).toBe('Created hello.txt. <TASK_DONE>')
    expect(Object.values(end.usage).every((value) => value === null || value > 0)).toBe(true)
  },
)

test.each(Object.keys(RESULT))('%s reads a line of ten million characters, and a cut one', (name) => {
  const long = JSON.stringify({ type: 'text', text: 'x'.repeat(10_000_000), part: { text: 'y' } })
  const provider = providers.get(name)!
  expect(hear(provider, [long, long.slice(0, -10)]).end.end.kind).toBe('crashed')
})

test.each(Object.keys(RESULT))('%s survives events whose fields are of another type', (name) => {
  const lines = recorded
    .filter((other) => /-(?:ok|denied|401)$/.test(other) && other.startsWith(`${name}-`))
    .flatMap(sample)
  const keys = new Set<string>()
  for (const line of lines) JSON.parse(line, (key, value: unknown) => (keys.add(key), value))
  for (const wrong of keys) {
    for (const value of [null, 7, 'text', [], {}, [null], true]) {
      const changed = lines.map((line) => (line.includes(`"${wrong}"`) ? replaced(line, wrong, value) : line))
      expect(() => hear(providers.get(name)!, changed), wrong).not.toThrow()
    }
  }
})

/** The line with another value wherever that key stands, at any depth. */
function replaced(line: string, wrong: string, value: unknown): string {
  return JSON.stringify(JSON.parse(line, (key, old: unknown) => (key === wrong ? value : old)))
}

function reversed(line: string): string {
  return JSON.stringify(JSON.parse(line), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toReversed())
      : value,
  )
}
