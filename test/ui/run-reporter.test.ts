import { describe, expect, it } from 'vitest'
import type { Happening, RunEvent } from '../../src/engine/events/event.ts'
import { RunReporter } from '../../src/screen/run-reporter.ts'
import { ended, recordedRun, START, usage } from './recorded.ts'

/** A run of one job, in which a gate refuses the first attempt. */
const JOURNAL = recordedRun('one-job')
const found = <Type extends RunEvent['type']>(type: Type) =>
  JOURNAL.find((event): event is Extract<RunEvent, { type: Type }> => event.type === type)!

/** Where each event is a line. */
function pipe() {
  let text = ''
  let now = START
  const reporter = new RunReporter({
    write: (chunk) => void (text += chunk),
    canvas: () => ({ columns: null, colour: false }),
    now: () => new Date(now),
    verbose: false,
    live: null,
  })
  const event = (one: RunEvent): void => {
    now = Date.parse(one.at)
    reporter.event(one)
  }
  return {
    event,
    show: (seconds: number, happening: Happening) =>
      event({ at: new Date(START + seconds * 1000).toISOString(), ...happening }),
    written: () => text,
  }
}

describe('a run in a pipe', () => {
  it('shows what the agent notes, asks and adds, and how to answer', () => {
    const { show, written } = pipe()
    show(0, { type: 'agent-signal', id: 'T-004', signal: 'progress', text: 'half of it' })
    const question = {
      type: 'question',
      id: 'T-004',
      text: 'Which licence?',
      options: ['MIT', 'BSD'],
    } as const
    show(1, question)
    expect(written()).not.toContain('Which licence?')
    show(2, found('attempt-started'))
    show(3, question)
    show(4, { type: 'answered', id: 'T-004', answer: 'MIT' })
    show(5, { type: 'task-added', id: 'T-004', added: 'T-012', title: 'Mend it' })
    show(6, { type: 'agent-signal', id: 'T-004', signal: 'done', text: 'All of it.' })
    expect(written()).toBe(
      [
        '     · half of it',
        '     ? Which licence? (MIT / BSD)',
        '       to answer: ralph answer T-004 "…"',
        '     → MIT',
        '     + added T-012: Mend it',
        '     · says that it is done: All of it.',
        '',
      ].join('\n'),
    )
  })

  it('says after an interruption what is kept, and how to go on', () => {
    const { show, written } = pipe()
    show(0, { ...found('run-started'), loop: true })
    show(1, {
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
    show(2, {
      ...found('run-finished'),
      completed: [],
      blocked: [],
      end: 'interrupted',
      reason: 'the run was interrupted',
    })
    expect(written()).toMatch(
      /The run was interrupted\.\nAttempt 2 at T-004 is kept: ralph attempts T-004\nTo go on: ralph run --loop\n$/,
    )
  })

  it('says a reason in its row, and not once more below', () => {
    const { show, written } = pipe()
    show(1, { type: 'task-given-up', id: 'T-1', title: 'One', reason: 'no key' })
    const before = written().length
    show(2, {
      ...found('run-finished'),
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

  it('is shown in plain lines', async () => {
    const { event, written } = pipe()
    JOURNAL.forEach(event)
    await expect(written()).toMatchFileSnapshot('golden/run in a pipe.txt')
    expect(written()).not.toMatch(/[\r\u001b]/)
  })
})
