import { describe, expect, test } from 'vitest'
import { runsPart, TestCounter } from '../../src/engine/gates/test-counts.ts'

function counted(output: string) {
  const counter = new TestCounter()
  for (const line of output.split('\n')) counter.take(line)
  return counter.counts
}

/** Run, skipped and failed. */
type Counts = readonly [number, number, number]

describe('the tests of a gate are counted from what is printed by', () => {
  test.each<readonly [string, string, Counts]>([
    [
      'vitest',
      ' Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 2 passed | 1 skipped | 1 todo (5)',
      [3, 2, 1],
    ],
    [
      'vitest in colours',
      '\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[32m48 passed\u001b[39m\u001b[22m\u001b[90m (48)\u001b[39m',
      [48, 0, 0],
    ],
    ['vitest without tests', '      Tests  0 passed (0)', [0, 0, 0]],
    [
      'jest',
      'Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 skipped, 3 passed, 6 total\nSnapshots:   0 total',
      [4, 2, 1],
    ],
    ['mocha', '  3 passing (5ms)\n  2 pending\n  1 failing\n\n  1) adds:', [4, 2, 1]],
    [
      'node:test',
      'ℹ tests 5\nℹ suites 0\nℹ pass 3\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\nℹ duration_ms 52.4',
      [4, 1, 1],
    ],
    [
      'node:test as TAP',
      'TAP version 13\nok 1 - adds\n# tests 2\n# pass 2\n# fail 0\n# skipped 0\n# todo 0',
      [2, 0, 0],
    ],
    ['TAP', '1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP no network', [2, 1, 1]],
    ['pytest', '==== 1 failed, 3 passed, 2 skipped, 1 warning in 0.12s ====', [4, 2, 1]],
    ['pytest, quietly', '5 passed in 0.03s', [5, 0, 0]],
    ['pytest without tests', '============ no tests ran in 0.01s ============', [0, 0, 0]],
    ['unittest', 'Ran 5 tests in 0.003s\r\n\r\nFAILED (failures=1, skipped=2)', [3, 2, 1]],
    [
      'go test -v',
      '=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\n--- SKIP: TestB (0.00s)\n--- FAIL: TestC (0.01s)',
      [3, 1, 1],
    ],
    [
      'cargo',
      'test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s',
      [7, 1, 0],
    ],
    [
      'playwright',
      '  1 failed\n    [chromium] › a.spec.ts:3:1 › logs in\n  2 skipped\n  5 passed (3.2s)',
      [6, 2, 1],
    ],
    ['deno', 'ok | 5 passed | 0 failed (12ms)', [5, 0, 0]],
    [
      'dotnet',
      'Passed!  - Failed:     0, Passed:     5, Skipped:     1, Total:     6, Duration: 10 ms - a.dll',
      [5, 1, 0],
    ],
    [
      'Maven',
      '[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s\n[INFO] Tests run: 5, Failures: 1, Errors: 0, Skipped: 1',
      [4, 1, 1],
    ],
    ['PHPUnit', 'Tests: 5, Assertions: 9, Failures: 1, Skipped: 1.', [4, 1, 1]],
    ['RSpec', '12 examples, 1 failure, 2 pending', [10, 2, 1]],
    ['vitest without files', '\nNo test files found, exiting with code 0\n', [0, 0, 0]],
    ['jest without files', 'No tests found, exiting with code 0', [0, 0, 0]],
    ['PHPUnit without tests', 'No tests executed!', [0, 0, 0]],
    ['Maven without tests', '[INFO] No tests to run.', [0, 0, 0]],
    ['go without tests', 'testing: warning: no tests to run\nPASS', [0, 0, 0]],
    [
      'mocha in colours, with CRLF',
      '\u001b[92m \u001b[0m\u001b[32m 3 passing\u001b[0m\u001b[90m (5ms)\u001b[0m\r\n\u001b[36m \u001b[0m\u001b[36m 2 pending\u001b[0m\r',
      [3, 2, 0],
    ],
    [
      'pytest in colours',
      '\u001b[31m==== \u001b[31m\u001b[1m1 failed\u001b[0m, \u001b[32m3 passed\u001b[0m\u001b[31m in 0.12s\u001b[0m\u001b[31m ====\u001b[0m',
      [4, 0, 1],
    ],
    [
      'unittest of several kinds',
      'Ran 9 tests in 1.2s\n\nFAILED (failures=1, errors=1, skipped=2, expected failures=1)',
      [6, 3, 2],
    ],
    ['TAP with a part of its own', 'ok 1 - a\n    ok 1 - b\n    1..1\nok 2 - c', [2, 0, 0]],
    [
      'a run with that of another tool in it',
      'TAP version 13\nok 1 - a\nnot ok 2 - b\n\n Tests:       3 passed, 3 total\nTests:       1 skipped, 4 passed, 5 total',
      [4, 1, 0],
    ],
    ['two packages of one workspace', '      Tests  2 passed (2)\n> b\n      Tests  3 passed (3)', [5, 0, 0]],
  ])('%s', (_, output, [run, skipped, failed]) => {
    expect(counted(output)).toEqual({ run, skipped, failed })
  })
})

test.each([
  ['a tool that is not known', 'everything is fine: 5 of 5'],
  ['go test without names', 'ok  \texample.com/a\t0.003s\n?   \texample.com/b\t[no test files]'],
  ['a cache', 'ok  \texample.com/a\t(cached)\n--- PASS: TestA (0.00s)'],
  ['a cache of a whole workspace', '      Tests  2 passed (2)\n >>> FULL TURBO'],
])('the output of %s counts nothing', (_, output) => {
  expect(counted(output)).toBeNull()
})

test('a command that runs what has changed is known', () => {
  expect(['vitest --changed', 'nx affected -t test', 'pytest --lf'].every(runsPart)).toBe(true)
  expect(['npm test', 'vitest run', 'pytest -k changed'].some(runsPart)).toBe(false)
})

test('output of 200 MB is counted in the memory of one line', () => {
  const counter = new TestCounter()
  const line = `12 ${'x'.repeat(97)}`
  const before = process.memoryUsage().heapUsed
  for (let at = 0; at < 2_000_000; at++) counter.take(line)
  counter.take('Tests:       3 passed, 3 total')
  expect(counter.counts).toEqual({ run: 3, skipped: 0, failed: 0 })
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000)
})

// Where the time doubles with each part, this never ends.
test.each([
  ['numbers', `${'1 111 '.repeat(200)}x`],
  ['sums', `OK (${'a=111'.repeat(200)}`],
  ['passes', ` Tests  1 ${'(1) '.repeat(20_000)}x`],
  ['words', `${'1 passed, '.repeat(20_000)}x`],
  ['TAP', `ok 1 ${'# '.repeat(20_000)}`],
])('a line of many %s takes no time', (_, line) => {
  expect(() => counted(line)).not.toThrow()
})
