import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Gate } from '../../src/base/nouns.ts'
import { gateRunner, type GateContext } from '../../src/engine/gates/run.ts'
import { startProcess } from '../../src/process/start.ts'
import { isAlive } from '../process/programs.ts'
import { makeFolder } from '../repository.ts'

const runGate = gateRunner(startProcess)
const cwd = makeFolder()

const gate = (command: string, changes: Partial<Gate> = {}): Gate => ({
  name: 'test',
  command,
  required: true,
  timeoutSeconds: 60,
  ...changes,
})
const context = (changes: Partial<GateContext> = {}): GateContext => ({
  cwd,
  env: process.env,
  signal: new AbortController().signal,
  log: () => undefined,
  killAfterSeconds: 0.1,
  ...changes,
})
const run = (command: string, changes: Partial<Gate> = {}) => runGate(gate(command, changes), context())

describe.skipIf(process.platform === 'win32')('a gate', () => {
  test('passes with exit code 0, and has nothing to read', async () => {
    const result = await run('pwd; echo "error: not really"')
    expect(result).toMatchObject({ verdict: 'passed', reason: 'passed', excerpt: '', fingerprint: '' })
    expect(result.seconds).toBeGreaterThan(0)
  })

  test.each([
    ['another exit code', 'exit 3', 'failed', 'exited with code 3'],
    ['a signal', 'kill -SEGV $$', 'failed', 'was ended by SIGSEGV'],
    ['a command that is not there', './nothing --all', 'not-runnable', /was not found/],
    [
      'a program that a script of it lacks',
      "sh -c 'no-such-vitest run'",
      'not-runnable',
      /^no-such-vitest was/,
    ],
    [
      'one that make lacks',
      'printf "all:\\n\\tno-such-go vet\\n" | make -f -',
      'not-runnable',
      /^no-such-go was/,
    ],
    ['a command that is not executable', '/dev/null', 'not-runnable', /is not executable/],
    ['a syntax error', 'if', 'failed', /exited with code/],
  ])('fails with %s', async (_, command, verdict, reason) => {
    expect(await run(command)).toMatchObject({ verdict, reason: expect.stringMatching(reason) })
  })

  test('says how much failed, and names files from the root of the project', async () => {
    const command = 'echo "$PWD/src/a.ts:8:16: ERROR: no"; echo "Test Files  14 failed (14)"; exit 1'
    expect(await run(command)).toMatchObject({
      reason: '14 suites failed',
      excerpt: 'src/a.ts:8:16: ERROR: no\nTest Files  14 failed (14)',
    })
  })

  test('in a folder that is gone is not runnable', async () => {
    const result = await runGate(gate('true'), context({ cwd: join(cwd, 'gone') }))
    expect(result).toMatchObject({
      verdict: 'not-runnable',
      reason: expect.stringContaining('does not exist'),
    })
  })

  test('has no input to wait for', async () => {
    expect((await run('cat')).verdict).toBe('passed')
  })

  test('is read in the order of its lines, whichever stream they are on', async () => {
    const { excerpt } = await run('for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; exit 1')
    expect(excerpt.split('\n')).toEqual([1, 2, 3, 4, 5].flatMap((i) => [`out ${i}`, `err ${i}`]))
  })

  test('is logged as it runs', async () => {
    let log = ''
    await runGate(gate('echo a; echo b >&2'), context({ log: (chunk) => (log += Buffer.from(chunk)) }))
    expect(log).toBe('a\nb\n')
  })

  test('that takes too long is ended, with all that it started, though that ignores TERM', async () => {
    const result = await run(`trap '' TERM; echo "pid=$$"; sleep 60`, { timeoutSeconds: 0.2 })
    expect(result).toMatchObject({ verdict: 'timed-out', reason: 'took longer than 0s' })
    expect(isAlive(Number(/pid=(\d+)/.exec(result.excerpt)?.[1]))).toBe(false)
  })

  test('that leaves a server behind does not leave it alive', async () => {
    const result = await run('sleep 60 & echo "pid=$!"; exit 1')
    expect(isAlive(Number(/pid=(\d+)/.exec(result.excerpt)?.[1]))).toBe(false)
  })
})

describe.skipIf(process.platform === 'win32')('a gate that is ended', () => {
  test.each(['interrupt', 'now'])('is no failure (%s)', async (reason) => {
    const controller = new AbortController()
    const result = await runGate(gate('echo ready; sleep 60'), {
      ...context({ signal: controller.signal }),
      log: () => controller.abort(reason),
    })
    expect(result.verdict).toBe('interrupted')
  })

  test('ends at once on a second word', async () => {
    const [first, second] = [new AbortController(), new AbortController()]
    const command = `trap 'echo termed' TERM; echo ready; while :; do sleep 0.01; done`
    const result = await runGate(gate(command), {
      ...context({ signal: first.signal, killSignal: second.signal, killAfterSeconds: 1000 }),
      log: (chunk) => (String(Buffer.from(chunk)).includes('termed') ? second : first).abort('interrupt'),
    })
    expect(result.verdict).toBe('interrupted')
  })
})

test.skipIf(process.platform === 'win32')('100 MB of output are read in flat memory', async () => {
  // What is still in use: how much garbage is around depends on what else the machine does.
  v8.setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const inUse = (): number => {
    collect()
    const { heapUsed, external, arrayBuffers } = process.memoryUsage()
    return heapUsed + external + arrayBuffers
  }
  const before = inUse()
  let [bytes, peak] = [0, 0]
  const log = (chunk: Uint8Array) => {
    bytes += chunk.length
    if (bytes % 10_000_000 < chunk.length) peak = Math.max(peak, inUse())
  }
  const command = `yes 'compiling a module and another one of the same kind' | head -c 100000000; echo 'error: no'; exit 1`
  const result = await runGate(gate(command), context({ log }))
  expect(result.excerpt).toMatch(/error: no$/)
  expect(bytes).toBe(100_000_010)
  expect(peak - before).toBeLessThan(20_000_000)
})
