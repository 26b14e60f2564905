import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { FOLDER, type AgentLimits, type AgentRequest } from '../../src/agents/port.ts'
import { createAgent } from '../../src/agents/runtime.ts'
import type { Usage } from '../../src/base/nouns.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import { QUICK, requestOf, runOf } from './requests.ts'
import { jsonProvider, steeredAgent, type SteeredAgent } from './steered-agent.ts'
import { isAlive } from '../process/programs.ts'
import { makeFolder } from '../repository.ts'

const shell = (script: string) => jsonProvider({ program: 'sh', args: ['-c', script] })
const limits = (changes: Partial<AgentLimits>): AgentLimits => ({ ...requestOf().limits, ...changes })

const used = (usage: Partial<Usage>) =>
  JSON.stringify({ type: 'usage', usage: { ...UNKNOWN_USAGE, ...usage } })
const said = (message: string) =>
  `printf '%s\\n' '${JSON.stringify({ type: 'end', end: { kind: 'finished' }, message })}'`
const DONE = said('All is in place.\n\n<TASK_DONE>')

describe.skipIf(process.platform === 'win32')('an agent', () => {
  test('gets the prompt on its input, and is done when it says so', async () => {
    const { outcome, events } = await runOf(shell(`cat >&2; echo '{"type":"text","text":"hi"}'; ${DONE}`))
    expect(events.map(({ type }) => type)).toEqual(['started', 'text'])
    expect(outcome).toMatchObject({ end: { kind: 'done' }, finalMessage: 'All is in place.' })
    expect(outcome.seconds).toBeGreaterThan(0)
  })

  test('that says it is blocked is blocked, and without a word it is neither', async () => {
    const blocked = await runOf(shell(said('No key.\n\n<TASK_BLOCKED reason="needs KEY">')))
    expect(blocked.outcome.end).toEqual({ kind: 'blocked', reason: 'needs KEY' })
    expect((await runOf(shell(said('I am done.')))).outcome.end).toEqual({ kind: 'no-marker' })
  })

  test('is not out of time while it waits for a person', async () => {
    const begun = performance.now()
    const waiting = { limits: limits({ seconds: 0.2 }), held: () => performance.now() - begun }
    expect((await runOf(shell(`sleep 0.6; ${DONE}`), waiting)).outcome.end).toEqual({ kind: 'done' })
    const { outcome } = await runOf(shell(`sleep 9; ${DONE}`), {
      limits: limits({ seconds: 0.2 }),
      held: () => 0,
    })
    expect(outcome.end.kind).toBe('timeout')
  })

  test('whose conversation ends with its cage tells none to go on with', async () => {
    const told = shell(`echo '{"type":"session","sessionId":"s","model":"m"}'; ${DONE}`)
    const heard = await runOf(told, {}, { forgets: true })
    expect(heard.outcome).toMatchObject({ sessionId: null, model: 'm' })
  })

  test('that prints a marker outside its final message is not done', async () => {
    const { outcome } = await runOf(shell(`echo '<TASK_DONE>'; echo '{"type":"text","text":"<TASK_DONE>"}'`))
    expect(outcome.end.kind).toBe('crashed')
  })

  test('is logged byte by byte', async () => {
    const log = { stdout: '', stderr: '' }
    await runOf(shell('printf "a\\377"; echo b >&2'), {
      log: (chunk, stream) => (log[stream] += Buffer.from(chunk).toString('latin1')),
    })
    expect(log).toEqual({ stdout: 'a\u00ff', stderr: 'b\n' })
  })

  test('finds its private files, which are gone after it', async () => {
    const provider = jsonProvider({
      program: 'sh',
      args: ['-c', 'cat "$1/deep/x.json" >&2; echo "$1" >&2; ls -ld "$FOLDER" >&2', 'sh', FOLDER],
      env: { FOLDER },
      files: { 'deep/x.json': '{"a":1}\n' },
    })
    const { outcome } = await runOf(provider)
    const [, content, folder] =
      /^0: (.*)\n(.*)\ndrwx------/.exec((outcome.end as { reason: string }).reason) ?? []
    expect(content).toBe('{"a":1}')
    expect(existsSync(folder!)).toBe(false)
  })

  test.each([
    [
      'is not there',
      join(makeFolder(), 'no-such-agent'),
      /was not found; to install it: npm install -g fake$/,
    ],
    ['is not executable', import.meta.filename, /is not executable$/],
  ])('that %s ends as crashed, and says why', async (_, program, reason) => {
    const { outcome, events } = await runOf(jsonProvider({ program, args: [] }))
    expect(events).toEqual([])
    expect(outcome.end).toEqual({ kind: 'crashed', reason: expect.stringMatching(reason) })
  })

  test.each([
    ['an exit code', 'echo broken >&2; exit 7', '7: broken'],
    ['a signal', 'kill -9 $$', 'SIGKILL: '],
    ['input that it never read', 'exec 0<&-; exit 3', '3: '],
  ])('can end by %s', async (_, script, reason) => {
    const { outcome } = await runOf(shell(script), { prompt: 'x'.repeat(1_000_000) })
    expect(outcome.end).toEqual({ kind: 'crashed', reason })
  })

  test('whose reader fails, or whose log cannot be written, ends as crashed', async () => {
    const broken = { ...shell(DONE), reader: () => ({ line: fail, end: fail }) }
    expect((await runOf(broken)).outcome.end).toMatchObject({ kind: 'crashed' })
    expect((await runOf(shell('echo x; sleep 60'), { log: fail })).outcome.end).toMatchObject({
      kind: 'crashed',
      reason: 'disk full',
    })
  })

  test('is ended where what it says cannot be taken', async () => {
    let pid = 0
    const agent = createAgent(shell('sleep 60'), QUICK)
    const running = agent.run(requestOf(), (event) => {
      if (event.type === 'started') pid = event.pid
      fail()
    })
    await expect(running).rejects.toThrow('disk full')
    expect(isAlive(pid)).toBe(false)
  })

  test('does not start once it is interrupted', async () => {
    const { events, outcome } = await runOf(shell('exit 0'), { signal: AbortSignal.abort('interrupt') })
    expect(events).toEqual([])
    expect(outcome.end.kind).toBe('interrupted')
  })
})

function fail(): never {
  throw new Error('disk full')
}

describe.skipIf(process.platform === 'win32')('an agent that is steered', () => {
  let agent: SteeredAgent
  afterEach(() => agent.close())

  async function begin(changes: Partial<AgentRequest> = {}) {
    agent = await steeredAgent()
    return runOf(agent.provider, changes)
  }
  /** Runs it beside the steps that a test takes. */
  async function steer(steps: () => Promise<void>, changes: Partial<AgentRequest> = {}) {
    agent = await steeredAgent()
    const [result] = await Promise.all([runOf(agent.provider, changes), steps()])
    return result
  }
  const FINISHED = `{ type: 'end', end: { kind: 'finished' }, message: 'Ready. <TASK_DONE>' }`

  test('and stays after its result is ended without harm', async () => {
    const { outcome } = await steer(() => agent.step(`process.on('SIGTERM', () => {}); say(${FINISHED})`))
    expect(outcome).toMatchObject({ end: { kind: 'done' }, finalMessage: 'Ready.' })
  })

  test('and runs out of time tells what its stream had told', async () => {
    const usage = { turns: 3, inputTokens: 10, cachedTokens: null, outputTokens: 5, costUsd: 0.2 }
    const { outcome } = await steer(
      () =>
        agent.step(
          `say({ type: 'session', sessionId: 's', model: 'm' }, { type: 'usage', usage: ${JSON.stringify(usage)} })`,
        ),
      { limits: limits({ seconds: 1 }) },
    )
    expect(outcome).toMatchObject({
      end: { kind: 'timeout', reason: 'the time limit of 1s is over' },
      usage,
      sessionId: 's',
      model: 'm',
    })
  })

  test('and says nothing is stalled', async () => {
    const { outcome } = await begin({ limits: limits({ stallSeconds: 0.3 }) })
    expect(outcome.end.kind).toBe('stalled')
  })

  test('and has a tool at work is not stalled, but once the tool has ended it is', async () => {
    const tool = (status: string) =>
      `say({ type: 'tool', id: '1', name: 'Bash', summary: 'npm test', status: '${status}' })`
    const { outcome } = await steer(
      async () => {
        await agent.step(tool('running'))
        // Twice the silence that it would be allowed without a tool, by the agent's own clock.
        await agent.step(`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000)`)
        await agent.step(tool('ok'))
      },
      { limits: limits({ stallSeconds: 1.5 }) },
    )
    expect(outcome.end.kind).toBe('stalled')
    expect(outcome.seconds).toBeGreaterThan(3)
  })

  test('and takes one turn too many is stopped', async () => {
    const usage = (turns: number) => `say(${used({ turns })})`
    const { outcome } = await steer(
      async () => {
        await agent.step(usage(2))
        await agent.step(usage(3))
      },
      { limits: limits({ turns: 2 }) },
    )
    expect(outcome).toMatchObject({ end: { kind: 'max-turns' }, usage: { turns: 3 } })
  })

  test('and tells its last sum with its result is not stopped for it', async () => {
    const line = `say(${used({ turns: 9, costUsd: 9 })}, ${FINISHED})`
    const { outcome } = await steer(() => agent.step(line), {
      limits: limits({ turns: 9, budgetUsd: 10, tokens: null }),
    })
    expect(outcome.end.kind).toBe('done')
  })

  test('and spends too much is stopped', async () => {
    const { outcome } = await steer(() => agent.step(`say(${used({ turns: 1, costUsd: 5.01 })})`), {
      limits: limits({ budgetUsd: 5, tokens: null }),
    })
    expect(outcome.end).toEqual({ kind: 'budget', reason: 'what was left of the budget, $5.00, is spent' })
  })

  test.each([
    ['an hour', '2026-11-18T13:00:00Z'],
    ['longer than its time', '2026-11-18T12:02:00Z'],
  ])('and would sleep for %s until a limit ends is ended', async (_, until) => {
    const { outcome } = await steer(
      () => agent.step(`say({ type: 'retrying', reason: 'usage limit', until: '${until}' })`),
      { limits: limits({ seconds: 100 }) },
    )
    expect(outcome.end).toEqual({ kind: 'rate-limited', reason: 'usage limit', until: new Date(until) })
  })

  test('and waits for its service for a while is waited for', async () => {
    const { outcome } = await steer(async () => {
      await agent.step(`say({ type: 'retrying', reason: 'overloaded', until: '2026-11-18T12:00:30Z' })`)
      await agent.step(`say(${FINISHED})`)
    })
    expect(outcome.end.kind).toBe('done')
  })

  test('and hears no more of its service is no failure of its own', async () => {
    const { outcome } = await steer(
      () => agent.step(`say({ type: 'retrying', reason: '429', until: null })`),
      {
        limits: limits({ stallSeconds: 2 }),
      },
    )
    expect(outcome.end).toMatchObject({ kind: 'rate-limited', until: null })
  })

  test('and is interrupted ends with TERM, and a second time at once', async () => {
    const [first, second] = [new AbortController(), new AbortController()]
    const file = join(makeFolder(), 'termed')
    agent = await steeredAgent()
    const signals = { signal: first.signal, killSignal: second.signal }
    const result = runOf(agent.provider, signals, { killAfterSeconds: 1000 })
    await agent.step(
      `process.on('SIGTERM', () => { require('fs').writeFileSync('${file}', 'x'); say({ type: 'text', text: 'no' }) })`,
    )
    first.abort('interrupt')
    // The file is there before anything stands in it.
    while (!existsSync(file) || readFileSync(file, 'utf8') === '') await agent.step('')
    second.abort()
    const { outcome } = await result
    expect(outcome.end.kind).toBe('interrupted')
    expect(readFileSync(file, 'utf8')).toBe('x')
  })
})
