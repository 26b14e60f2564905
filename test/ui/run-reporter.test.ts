import { describe, expect, it } from 'vitest'
import type { Usage } from '../../src/events/usage.ts'
import type { Gate, GateResult } from '../../src/events/gate.ts'
import type { Happening, RunEvent } from '../../src/events/event.ts'
import { RunReporter } from '../../src/ui/run-reporter.ts'
import { measureForAny } from '../../src/ui/width.ts'
import { taskJson } from '../../src/select/task-json.ts'
import { tierOf } from '../../src/select/tier.ts'
import { buildTask } from '../task/build-task.ts'

const START = new Date(2025, 0, 15, 14, 30).getTime()
const test: Gate = { name: 'test', command: 'npm test', required: true, timeoutSeconds: 60 }
const typecheck: Gate = { ...test, name: 'typecheck' }
const usage = (turns: number, costUsd: number): Usage => ({
  turns,
  costUsd,
  inputTokens: null,
  cachedTokens: null,
  outputTokens: null,
})

function result(gate: Gate, seconds: number, excerpt = ''): GateResult {
  const verdict = excerpt === '' ? 'passed' : 'failed'
  return {
    gate,
    verdict,
    seconds,
    reason: verdict === 'passed' ? 'passed' : 'exited with code 1',
    excerpt,
    fingerprint: '',
  }
}

const ended = { id: 'T-004', detail: '', denied: [], ref: null } as const

/** Each with the second at which it happens: the run of SCREENS, in which a gate refuses the first attempt. */
const STORY: readonly (readonly [number, Happening])[] = [
  [
    0,
    {
      type: 'run-started',
      version: 1,
      run: 'r',
      root: '/home/ana/shop',
      branch: 'main',
      head: '91c2d07aaaaaaa',
      agent: 'claude 2.1.326',
      gates: [typecheck, test],
      sandbox: { on: false, reason: null },
      loop: true,
      jobs: 1,
      queue: null,
    },
  ],
  [10, { type: 'baseline-finished', results: [result(typecheck, 1.2), result(test, 8.4)], known: false }],
  [
    10,
    {
      type: 'task-started',
      id: 'T-004',
      task: taskJson(
        { task: buildTask('T-004', { title: 'Add the login form' }), eligible: true, waiting: [] },
        (task) => tierOf(task),
      ),
      tier: 'Standard',
      limits: { turns: 75, seconds: 900, attempts: 4 },
      agent: 'claude 2.1.326',
    },
  ],
  [
    10,
    {
      type: 'attempt-started',
      id: 'T-004',
      attempt: 1,
      counted: 1,
      most: 4,
      agent: 'claude',
      model: null,
      log: '',
    },
  ],
  [
    20,
    { type: 'agent-tool', id: 'T-004', name: 'Edit', summary: 'Edit src/auth/login.ts', status: 'running' },
  ],
  [194, { type: 'agent-usage', id: 'T-004', usage: usage(12, 0.21) }],
  [
    200,
    {
      type: 'caged',
      id: 'T-004',
      by: 'agent',
      action: 'connect',
      target: 'example.com:443',
      allowedBy: 'sandbox.network: "example.com"',
    },
  ],
  [382, { type: 'gate-started', id: 'T-004', gate: test }],
  [
    391,
    {
      type: 'gate-finished',
      id: 'T-004',
      result: result(test, 9.1, 'login.test.ts\n  refuses an empty password'),
    },
  ],
  [
    391,
    {
      ...ended,
      type: 'attempt-finished',
      attempt: 1,
      counted: 1,
      outcome: 'gate-failed',
      reason: 'test: exited with code 1',
      seconds: 381,
      usage: usage(31, 0.42),
    },
  ],
  [
    391,
    {
      type: 'attempt-started',
      id: 'T-004',
      attempt: 2,
      counted: 2,
      most: 4,
      agent: 'claude',
      model: null,
      log: '',
    },
  ],
  [491, { type: 'gate-started', id: 'T-004', gate: typecheck }],
  [492, { type: 'gate-finished', id: 'T-004', result: result(typecheck, 1.3) }],
  [501, { type: 'gate-finished', id: 'T-004', result: result(test, 8.9) }],
  [
    501,
    {
      ...ended,
      type: 'attempt-finished',
      attempt: 2,
      counted: 2,
      outcome: 'done',
      reason: 'done',
      seconds: 110,
      usage: usage(8, 0.11),
    },
  ],
  [
    502,
    {
      type: 'task-completed',
      id: 'T-004',
      title: 'Add the login form',
      commit: 'a41f7c2bbbbbbb',
      duration: 492,
      attempts: 2,
      turns: 39,
      cost: 0.53,
      usage: usage(39, 0.53),
      files: 3,
      added: 120,
      removed: 4,
    },
  ],
  [
    600,
    {
      type: 'task-blocked',
      asks: false,
      id: 'T-006',
      title: 'Payments',
      reason: 'needs STRIPE_KEY',
      attempts: 1,
      commit: 'ccc',
    },
  ],
  [
    600,
    {
      type: 'run-finished',
      completed: ['T-004'],
      blocked: ['T-006'],
      failed: [],
      held: [],
      waiting: 3,
      end: 'nothing-eligible',
      reason: 'nothing is eligible any more',
      seconds: 600,
      cost: 0.53,
    },
  ],
]

interface Screen {
  readonly reporter: RunReporter
  readonly tell: (seconds: number, happening: Happening) => void
  readonly resize: (columns: number) => void
  readonly written: () => string
}

async function screen(width: number | null, verbose = false): Promise<Screen> {
  let [text, now, columns] = ['', START, width]
  const reporter = new RunReporter({
    write: (chunk) => void (text += chunk),
    canvas: () => ({ columns, colour: false }),
    measure: await measureForAny(),
    now: () => new Date(now),
    verbose,
  })
  return {
    reporter,
    tell: (seconds, happening) => {
      now = START + seconds * 1000
      const event: RunEvent = { at: new Date(now).toISOString(), ...happening }
      reporter.event(event)
    },
    resize: (to) => void (columns = to),
    written: () => text,
  }
}

describe('a run in a pipe', () => {
  it('says once when it seals a commit', async () => {
    const { tell, written } = await screen(null)
    for (const seconds of [0, 1, 2])
      tell(seconds, { type: 'sealing', id: 'T-1', seconds, expectedSeconds: 12 })
    expect(written()).toBe('     · seals the commit, in about 12s\n')
  })

  it('shows what the agent notes, asks and adds, and how to answer', async () => {
    const { tell, written } = await screen(null)
    tell(0, { type: 'agent-signal', id: 'T-004', signal: 'progress', text: 'half of it' })
    const question = {
      type: 'question',
      id: 'T-004',
      text: 'Which licence?',
      options: ['MIT', 'BSD'],
    } as const
    tell(1, question)
    expect(written()).not.toContain('Which licence?')
    tell(2, STORY.find(([, { type }]) => type === 'attempt-started')![1])
    tell(3, question)
    tell(4, { type: 'answered', id: 'T-004', answer: 'MIT' })
    tell(5, { type: 'task-added', id: 'T-004', added: 'T-012', title: 'Mend it' })
    tell(6, { type: 'agent-signal', id: 'T-004', signal: 'done', text: 'All of it.' })
    expect(written()).toBe(
      [
        '     · half of it',
        '     ? Which licence? (MIT / BSD)',
        '       to answer: ralph answer T-004 "…"',
        '     + added T-012: Mend it',
        '     · says that it is done',
        '',
      ].join('\n'),
    )
  })

  it('says after an interruption what is kept, and how to go on', async () => {
    const { tell, written } = await screen(null)
    const [started, finished] = [STORY[0]![1], STORY.at(-1)![1]]
    if (started.type !== 'run-started' || finished.type !== 'run-finished') throw new Error('another story')
    tell(0, { ...started, loop: true })
    tell(1, {
      ...ended,
      type: 'attempt-finished',
      attempt: 2,
      counted: 2,
      outcome: 'interrupted',
      reason: 'the run was interrupted',
      ref: 'refs/ralph/attempts/T-004/2',
      seconds: 1,
      usage: usage(1, 0.01),
    })
    tell(2, {
      ...finished,
      completed: [],
      blocked: [],
      end: 'interrupted',
      reason: 'the run was interrupted',
    })
    expect(written()).toMatch(
      /The run was interrupted\.\nAttempt 2 at T-004 is kept: ralph attempts T-004\nTo go on: ralph run --loop\n$/,
    )
  })

  it('says a reason in its row, and not once more below', async () => {
    const { tell, written } = await screen(null)
    const finished = STORY.at(-1)![1]
    if (finished.type !== 'run-finished') throw new Error('another story')
    tell(1, { type: 'task-given-up', id: 'T-1', title: 'One', reason: 'no key' })
    const before = written().length
    tell(2, {
      ...finished,
      completed: [],
      blocked: [],
      failed: ['T-1'],
      end: 'failed',
      reason: 'T-1: no key',
    })
    expect(
      written()
        .slice(before)
        .match(/no key/g),
    ).toHaveLength(1)
  })

  it('is told in plain lines', async () => {
    const { tell, written } = await screen(null)
    for (const [seconds, happening] of STORY) tell(seconds, happening)
    await expect(written()).toMatchFileSnapshot('golden/run in a pipe.txt')
    expect(written()).not.toMatch(/[\r\u001b]/)
  })
})

describe('a run in a terminal', () => {
  it('leaves the same lines, without the steps', async () => {
    const { tell, written } = await screen(80)
    for (const [seconds, happening] of STORY) tell(seconds, happening)
    const lines = written().replaceAll(/[^\n]*\r\u001b\[2K/g, '')
    await expect(lines).toMatchFileSnapshot('golden/run in a terminal.txt')
  })

  it('has a live line below them: what the agent does, and how much of its limits is used', async () => {
    const { tell, written } = await screen(80)
    for (const [seconds, happening] of STORY.slice(0, 6)) tell(seconds, happening)
    const live = written().split('\u001b[2K').at(-1)
    expect(live).toBe(`  1  ● Edit src/auth/login.ts${' '.repeat(16)}12 turns · 3m 04s of 15m · $0.21`)
  })

  it('keeps that line one line, however much the agent has to say, with room for a ^C', async () => {
    const { tell, written } = await screen(40)
    for (const [seconds, happening] of STORY.slice(0, 6)) tell(seconds, happening)
    tell(195, { type: 'agent-text', id: 'T-004', text: `${'very '.repeat(50)}long\nand more` })
    const live = written().split('\u001b[2K').at(-1) ?? ''
    expect(live).not.toContain('\n')
    expect(live.length).toBe(40 - 3)
  })

  it('takes the live line away before somebody else writes', async () => {
    const { tell, reporter, written } = await screen(80)
    for (const [seconds, happening] of STORY.slice(0, 5)) tell(seconds, happening)
    reporter.pause()
    expect(written().endsWith('\r\u001b[2K')).toBe(true)
    const before = written()
    reporter.pause()
    expect(written()).toBe(before)
  })

  it('takes all of it away in a terminal that has become narrower', async () => {
    const { tell, reporter, resize, written } = await screen(80)
    for (const [seconds, happening] of STORY.slice(0, 6)) tell(seconds, happening)
    resize(30)
    const before = written().length
    reporter.pause()
    expect(written().slice(before)).toBe('\r\u001b[2K\u001b[1A\r\u001b[2K\u001b[1A\r\u001b[2K')
  })

  it('shows the newest line of what the agent says', async () => {
    const { tell, written } = await screen(80)
    for (const [seconds, happening] of STORY.slice(0, 4)) tell(seconds, happening)
    tell(195, { type: 'agent-text', id: 'T-004', text: 'one\ntwo\n\nthree\n' })
    expect(written().split('\u001b[2K').at(-1)).toContain('● three  ')
  })

  it('counts down a wait', async () => {
    const { tell, written } = await screen(80)
    const until = new Date(START + 600_000).toISOString()
    tell(0, { type: 'waiting', id: 'T-004', until, reason: 'usage limit' })
    expect(written()).toBe('● waits 10m more: usage limit')
  })

  it('tells of a wait in a pipe, unless it is over at once', async () => {
    const { tell, written } = await screen(null)
    const wait = (seconds: number): void => {
      const until = new Date(START + seconds * 1000).toISOString()
      tell(0, { type: 'waiting', id: 'T-004', until, reason: `${seconds} s` })
    }
    for (const seconds of [1, 29, 600]) wait(seconds)
    expect(written()).toMatch(/^ {5}· waits until \d\d:\d\d: 600 s\n$/)
  })

  it('does not show an agent at work while git commits', async () => {
    const { tell, written } = await screen(80)
    for (const [seconds, happening] of STORY.slice(0, 6)) tell(seconds, happening)
    tell(200, { type: 'committing', id: 'T-004' })
    expect(written().split('\u001b[2K').at(-1)).toBe('  1  ● commits 0s')
  })

  it('tells each step where that is asked for', async () => {
    const { tell, written } = await screen(80, true)
    for (const [seconds, happening] of STORY.slice(0, 5)) tell(seconds, happening)
    expect(written()).toContain('     · Edit src/auth/login.ts\n')
  })

  it('tells of a text with many lines the first, and how many more there are', async () => {
    const { tell, written } = await screen(null)
    tell(0, { type: 'agent-text', id: 'T-004', text: 'a\n\nb\nc\r\nd\ne\nf\n' })
    expect(written()).toBe('     · a\n     · b\n     · c\n     · d\n     · … 2 lines more\n')
  })

  it('cannot be driven by what the agent says', async () => {
    const { tell, written } = await screen(80, true)
    tell(0, { type: 'agent-text', id: 'T-004', text: '\u001b[2J\u001b]0;pwned\u0007' })
    expect(written()).toBe('     · ␛[2J␛]0;pwned␇\n')
  })
})
