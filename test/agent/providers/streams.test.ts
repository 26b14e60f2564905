import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Exit, Provider } from '../../../src/agents/port.ts'
import { AGENTS } from '../../../src/agents/registry.ts'
import { after, hear, sample } from './sample.ts'

const folder = new URL('../samples/', import.meta.url)
const files = readdirSync(folder).toSorted()
const recorded = files.filter((file) => file.endsWith('.jsonl')).map((file) => file.replace('.jsonl', ''))
const providers = new Map(
  await Promise.all(AGENTS.map(async ({ name, load }) => [name, await load(null)] as const)),
)

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

/** The exits of the recorded runs that did not exit with 0. */
const EXITS: Readonly<Record<string, Partial<Exit>>> = {
  'claude-401': { code: 143 },
  'claude-offline': { code: 143 },
  'claude-badflag': { code: 1 },
  'claude-root-refused': { code: 1 },
  'continue-401': { code: 1 },
  'opencode-429': { code: null, signal: 'SIGTERM' },
  'qwen-429': { code: null, signal: 'SIGTERM' },
  'qwen-maxturns': { code: 53 },
}
const limits = { turns: 2, seconds: 600, stallSeconds: 300, budgetUsd: 0.5, tokens: null }

/** All that ralph hears of a recorded run, and how it ends. */
function page(name: string): string {
  const read = (file: string) =>
    files.includes(file) ? readFileSync(new URL(file, folder), 'utf8').trimEnd() : ''
  const exit = { ...EXITS[name], stderr: read(`${name}.err`) }
  const { events, end } = hear(of(name), read(`${name}.jsonl`).split('\n'), { exit, limits })
  const shown = [...events, ...Object.entries(end)].map((one) => JSON.stringify(one))
  return [`── ${name}`, ...shown]
    .join('\n')
    .replaceAll(/(?<="until":")[^"]+/g, (time) => `${(Date.parse(time) - after(0).getTime()) / 1000} s later`)
}

test.each(Object.keys(RESULT))('what is heard of the recorded runs of %s', async (agent) => {
  const names = new Set(files.map((file) => file.replace(/\..*/, '')))
  const pages = [...names].filter((name) => of(name).name === agent).map(page)
  await expect(`${pages.join('\n\n')}\n`).toMatchFileSnapshot(`golden/${agent} is heard.txt`)
})

function of(name: string): Provider {
  return providers.get(name.slice(0, name.indexOf('-')))!
}

describe.each(recorded)('the recorded stream %s', (name) => {
  const lines = sample(name)

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
