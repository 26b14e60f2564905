import { expect, it, test } from 'vitest'
import type { GateResult, Verdict } from '../../src/base/nouns.ts'
import type { Emitted, RunEvent, Interference } from '../../src/engine/events/event.ts'
import { gateText, tell, eventLines } from '../../src/screen/tell.ts'
import { bad, good, type Block } from '../../src/screen/block.ts'
import { layOut } from '../../src/screen/layout.ts'
import { RunStory } from '../../src/screen/run-story.ts'
import { runStarted } from '../events/run-started.ts'
import { attemptStarted, ended, passed, START, tool, usage } from './recorded.ts'

const at = (event: Emitted): RunEvent => ({ at: new Date(START).toISOString(), ...event })
const text = (blocks: readonly Block[]): string => layOut(blocks, { columns: null, colour: false })

it('tells what an agent was denied with the permission that would allow it', () => {
  const denied = [
    { tool: 'WebFetch', allowedBy: 'full' },
    { tool: 'Bash git push', allowedBy: 'custom' },
    { tool: 'WebSearch', allowedBy: 'full' },
  ] as const
  const attempt = { ...ended, attempt: 1, counted: 1, outcome: 'done', reason: 'done', seconds: 1 } as const
  const blocks = eventLines(at({ ...attempt, type: 'attempt-finished', usage: usage(1, 0.01), denied }))
  expect(text(blocks)).toBe(
    [
      'agent says done  1 turn · 1s · $0.01',
      '! it was denied WebFetch, WebSearch: permission "full" allows it (--yolo)',
      '! it was denied Bash git push: that is ralph\'s to do, and only "custom" allows it',
      '',
    ].join('\n'),
  )
})

it.each<[Verdict, boolean, number, ReturnType<typeof gateText>]>([
  ['passed', true, 1.24, [good('✓'), ' test 1.2s']],
  ['failed', true, 59.95, [bad('✗'), ' test 1m']],
  ['timed-out', true, 600, [bad('✗'), ' test 10m']],
  ['not-runnable', false, 0, ['✗', ' test 0.0s (not required)']],
  ['interrupted', true, 2.4, ['·', ' test 2.4s']],
])('tells a gate in a word, its reason stands beside it: %s', (verdict, required, seconds, expected) => {
  const gate = { name: 'test', command: 'npm test', required, timeoutSeconds: 600 }
  const result: GateResult = { gate, verdict, seconds, reason: '', excerpt: '', fingerprint: '' }
  expect(gateText(result)).toEqual(expected)
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
  const texts = Object.values(INTERFERENCES).map((interference) =>
    tell(at({ type: 'interference', id: 'T-1', interference })),
  )
  await expect(texts.join('\n')).toMatchFileSnapshot('golden/interference.txt')
})

test.each([
  [{}, 'stopping: no further attempt begins'],
  [{ how: 'after-attempt' }, 'stopping after this attempt; Ctrl-C does not wait for it'],
  [{ how: 'clean' }, 'stopping now: what is under way is recorded; Ctrl-C again ends it at once'],
  [{ how: 'now' }, 'stopping at once: what still runs is ended'],
] as const)('a run that is to stop says how: %s', (how, expected) => {
  expect(tell(at({ type: 'stopping', ...how }))).toBe(expected)
})

it('sums up the tools of any agent by what they are for, and the gates by their names', () => {
  const story = new RunStory({ steps: false })
  const gate = { name: 'test', command: 'npm test', required: true, timeoutSeconds: 60 }
  const read = ['Read x', 'read_file x', 'Grep x', 'ls x', 'search_file_content x']
  const edited = ['Edit x', 'apply_patch x', 'write_file x', 'replace x']
  const ran = ['Bash npm test', 'Bash cd a && npm test', 'Bash npm ci', 'run_shell_command ls']
  const events = [
    runStarted({ gates: [gate] }),
    attemptStarted('T-1'),
    ...[...read, ...edited, ...ran, 'Think x'].map((summary) => tool('T-1', summary)),
    tool('T-1', 'TodoList2', 'ok'),
    passed('T-1'),
  ]
  const shown = events.flatMap((event) => story.show(at(event)))
  expect(text(shown)).toContain('\n     read 5, edited 4, ran test 2×, 2 commands, 1 other tool\n')
})
