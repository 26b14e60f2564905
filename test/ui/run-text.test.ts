import { expect, it, test } from 'vitest'
import type { GateResult, Verdict } from '../../src/base/nouns.ts'
import type { Interference } from '../../src/engine/events/event.ts'
import { bad, good } from '../../src/screen/block.ts'
import { deniedTexts, gateText, interferenceText, stoppingText } from '../../src/screen/run-text.ts'

it('tells what an agent was denied with the permission that would allow it', () => {
  expect(deniedTexts([])).toEqual([])
  expect(
    deniedTexts([
      { tool: 'WebFetch', allowedBy: 'full' },
      { tool: 'Bash git push', allowedBy: 'custom' },
      { tool: 'WebSearch', allowedBy: 'full' },
    ]),
  ).toEqual([
    'it was denied WebFetch, WebSearch: permission "full" allows it (--yolo)',
    'it was denied Bash git push: that is ralph\'s to do, and only "custom" allows it',
  ])
})

it.each<[Verdict, boolean, number, ReturnType<typeof gateText>]>([
  ['passed', true, 1.24, [good('✓'), ' test 1.2s']],
  ['failed', true, 59.95, [bad('✗'), ' test 1m']],
  ['timed-out', true, 600, [bad('✗'), ' test 10m']],
  ['not-runnable', false, 0, ['✗', ' test 0.0s (not required)']],
  ['interrupted', true, 2.4, ['·', ' test 2.4s']],
])('tells a gate in a word, its reason stands beside it: %s', (verdict, required, seconds, text) => {
  const gate = { name: 'test', command: 'npm test', required, timeoutSeconds: 600 }
  const result: GateResult = { gate, verdict, seconds, reason: '', excerpt: '', fingerprint: '' }
  expect(gateText(result)).toEqual(text)
})

/** One of each kind. */
const INTERFERENCES = {
  commits: { kind: 'commits', commits: ['a', 'b'] },
  'other-base': { kind: 'other-base', commits: ['0123456789abcdef'] },
  'task-files': { kind: 'task-files', paths: ['docs/tasks/T-001.md'] },
  origins: { kind: 'origins', paths: ['prd.json'] },
  'nested-repository': { kind: 'nested-repository', paths: ['vendor/'] },
  written: { kind: 'written', paths: ['src/a.ts'] },
  'gates-changed': { kind: 'gates-changed', paths: ['package.json'] },
  'runs-later': { kind: 'runs-later', paths: ['.mcp.json'] },
} satisfies Record<Interference['kind'], Interference>

test('what an agent did that is not its to do is one sentence each', async () => {
  const texts = Object.values(INTERFERENCES).map(interferenceText)
  await expect(texts.join('\n')).toMatchFileSnapshot('golden/interference.txt')
})

test.each([
  [undefined, 'stopping: no further attempt begins'],
  ['after-attempt', 'stopping after this attempt; Ctrl-C does not wait for it'],
  ['clean', 'stopping now: what is under way is recorded; Ctrl-C again ends it at once'],
  ['now', 'stopping at once: what still runs is ended'],
] as const)('a run that is to stop says how: %s', (how, text) => {
  expect(stoppingText(how)).toBe(text)
})
