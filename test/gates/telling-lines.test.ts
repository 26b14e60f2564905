import { expect, test } from 'vitest'
import { failedText, isErrorLine, tellingLine, tellingLines } from '../../src/base/failure-lines.ts'

test.each([
  [
    'node --test',
    '> node --test\n✔ any error is told (1ms)\n✖ the sign stands first (2ms)\n  AssertionError [ERR]: not equal:\n\n  + actual\n}',
    ['✖ the sign stands first (2ms)', '  AssertionError [ERR]: not equal:'],
  ],
  [
    'vitest',
    ' ✓ a.test.ts\n FAIL  b.test.ts > locks after five\nAssertionError: expected 4\n Tests  1 failed',
    [' FAIL  b.test.ts > locks after five', 'AssertionError: expected 4'],
  ],
  [
    'tsc',
    '> tsc\nsrc/a.ts(3,1): error TS2304: no name\n  3 x',
    ['src/a.ts(3,1): error TS2304: no name', '  3 x'],
  ],
  [
    'go test',
    '=== RUN TestA\n--- FAIL: TestA (0.00s)\n    a_test.go:7: no\nFAIL',
    ['--- FAIL: TestA (0.00s)', '    a_test.go:7: no'],
  ],
  [
    'pytest',
    '____ test_a ____\n>   assert f()\nE   assert 1 == 2\na.py:3: AssertionError',
    ['E   assert 1 == 2', 'a.py:3: AssertionError'],
  ],
  [
    'cargo',
    "running 2 tests\nthread 'a' panicked at src/lib.rs:9:5:\nassertion failed",
    ["thread 'a' panicked at src/lib.rs:9:5:", 'assertion failed'],
  ],
])('begin where %s says what failed', (_, output, expected) => {
  expect(tellingLines(output, 2)).toEqual(expected)
})

test('are the last where nothing looks like the beginning of a failure', () => {
  expect(tellingLines('one\ntwo\n\nthree\r\n', 2)).toEqual(['two', 'three'])
})

test.each([
  ['the error, not the place above it', 'one\n  File "a.py", line 3\nTypeError: no\ndone', 'TypeError: no'],
  ['the first of several', 'error: one\nerror: two', 'error: one'],
  [
    'the error, not the files that it fails',
    ' FAIL  test/a.test.ts [ test/a.test.ts ]\n FAIL  test/b.test.ts\nError: Transform failed with 1 error:\nsrc/utils.ts:808:16: ERROR: Multiple exports with the same name "isLocalhost"',
    'src/utils.ts:808:16: ERROR: Multiple exports with the same name "isLocalhost"',
  ],
  [
    'the error, where node prints it into its list of tests',
    'TAP version 13\n# src/round.js:2\n# SyntaxError: declared twice\nnot ok 1 - test/a.test.js\n  error: no',
    '# SyntaxError: declared twice',
  ],
  [
    'the test, and why it fails',
    ' × locks\n FAIL  b.test.ts > locks\nAssertionError: expected 4',
    'FAIL  b.test.ts > locks: AssertionError: expected 4',
  ],
  ['what pytest marks, without its mark', '    assert 2 == 4\nE       assert 4 == 2', 'assert 4 == 2'],
  ['the last where there is none', 'one\n  two  \n\n…', 'two'],
  ['nothing of nothing', '\n \n', ''],
])('of which one says most: %s', (_, output, expected) => {
  expect(tellingLine(output)).toBe(expected)
})

test('of which one says most may be the last that is meant', () => {
  const output = '  x no-debugger: unexpected\nFound 2 errors.\nFinished in 16ms.'
  expect(tellingLine(output)).toBe('Finished in 16ms.')
  expect(tellingLine(output, isErrorLine)).toBe('Found 2 errors.')
  expect(tellingLine('one\ntwo', isErrorLine)).toBe('two')
})

test.each([
  [' Test Files  14 failed | 2 passed (16)\n      Tests  no tests', '14 suites failed'],
  [' Test Files  1 failed (1)\n      Tests  2 failed | 46 passed (48)', '2 tests failed'],
  ['Test Suites: 1 failed, 1 total\nTests:       3 failed, 1 passed, 4 total', '3 tests failed'],
  ['========= 1 failed, 3 passed in 0.12s =========', '1 test failed'],
  ['# pass 3\n# fail 2\n# cancelled 0', '2 tests failed'],
  ['test result: FAILED. 3 passed; 2 failed; 0 ignored', '2 tests failed'],
  ['# fail 0\n3 passed', null],
])('are counted where a test runner counts them: %j', (output, expected) => {
  expect(failedText(output)).toBe(expected)
})
