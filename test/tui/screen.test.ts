import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { line } from '../../src/screen/block.ts'
import { runStarted } from '../events/run-started.ts'
import { openTui } from './harness.ts'
import { attempt, ENDED, TASKS, timed, TWO_JOBS } from './recorded.ts'

function opened({
  columns = 120,
  rows = 24,
  events = TWO_JOBS,
  ...more
}: Partial<Parameters<typeof openTui>[0]> = {}) {
  const tui = openTui({ columns, rows, events, ...more })
  const text = async () => (await tui.terminal.frame()).join('\n')
  return {
    ...tui,
    text,
    foot: async () => (await tui.terminal.frame()).at(-1)!,
    title: async () => (await tui.terminal.frame())[1]!,
  }
}

describe('the tasks', () => {
  it('follow what is at work, until somebody chooses', async () => {
    const { title, press, model, screen } = opened({
      events: timed([[0, runStarted()], ...attempt('T-004', 1)]),
    })
    expect(await title()).toContain('┬ T-004')
    const hear = (events: readonly RunEvent[]) => {
      for (const event of events) model.event(event)
      screen.changed()
    }
    hear(timed([[5, { type: 'task-given-up', id: 'T-004', title: '', reason: 'x' }], ...attempt('T-006', 6)]))
    await expect.poll(title).toContain('┬ T-006')
    press('up')
    await expect.poll(title).toContain('┬ T-004')
    hear(timed([[7, { type: 'task-given-up', id: 'T-006', title: '', reason: 'x' }], ...attempt('T-007', 8)]))
    press('x')
    expect(await title()).toContain('┬ T-004')
    press('escape')
    expect(await title()).toContain('┬ T-007')
  })

  it('are filtered by words of their id, title, milestone or status', async () => {
    const { text, press, type } = opened()
    press('/')
    type('money T-00')
    expect(await text()).toMatch(/Exchange rates 為替[^]*Password reset[^]*Audit log/)
    expect(await text()).not.toMatch(/│.*Payments.*│ {2}/)
    press('backspace', 'backspace', 'backspace', 'backspace')
    type('audit')
    press('return')
    expect(await text()).toContain('Audit log')
    expect(await text()).not.toContain('Password reset')
    press('down')
    expect((await text()).split('\n')[1]).toContain('┬ T-008')
    press('escape')
    expect(await text()).toContain('Password reset')
    press('/')
    type('nothing of this')
    expect(await text()).toContain('no task matches')
  })

  it('scroll so that the chosen one is seen, among ten thousand', async () => {
    const tasks = Array.from({ length: 10_000 }, (_, index) => ({
      ...TASKS[2]!,
      id: `T-${String(index + 1).padStart(5, '0')}`,
      milestone: `${Math.floor(index / 100)} — Part`,
    }))
    const { text, press } = opened({ tasks, events: [], isAlive: false })
    press('end')
    expect(await text()).toContain('▸ · T-10000')
    press('pageup', 'up')
    expect(await text()).toMatch(/▸ · T-099[78]\d/)
    press('home')
    expect(await text()).toContain('▸ · The run')
    press('down')
    expect(await text()).toMatch(/0 — Part.*\n.*▸ · T-00001/)
  })

  it('are those of the files, also when they change', async () => {
    const { text, changeTasks } = opened()
    changeTasks([...TASKS, { ...TASKS[2]!, id: 'T-099', title: 'Added by an agent' }])
    await expect.poll(text).toContain('T-099 Added by an agent')
  })
})

describe('the pane', () => {
  const lines = Array.from(
    { length: 100 },
    (_, index) => ({ type: 'agent-text', id: 'T-004', text: `line ${index}` }) as const,
  )
  const events = timed([[0, runStarted()], ...attempt('T-004', 1), ...lines.map((one) => [2, one] as const)])

  it('follows the newest line, stays where somebody has scrolled to, and goes back at End', async () => {
    const { text, press, model, screen } = opened({ events })
    expect(await text()).toContain('line 99')
    press('return', 'pageup')
    expect(await text()).toContain('scrolled: End goes back')
    const before = await text()
    for (const event of timed([[3, { type: 'agent-text', id: 'T-004', text: 'one more' }]]))
      model.event(event)
    screen.changed()
    press('x')
    expect(await text()).toBe(before)
    press('end')
    expect(await text()).toContain('one more')
    press('home')
    expect(await text()).toContain('attempt 1 of 4')
    expect(await text()).toMatch(/line 0$/m)
    for (let times = 0; times < 30; times++) press('pagedown')
    expect(await text()).not.toContain('scrolled')
  })

  it('turns through its tabs', async () => {
    const { text, press } = opened({ events })
    for (const tab of ['diff', 'log', 'attempts', 'notes']) {
      press('tab')
      await expect.poll(text).toContain(`${tab} of T-004`)
    }
    press('tab')
    expect(await text()).toContain('[activity]')
    press({ name: 'tab', shift: true })
    expect(await text()).toContain('[notes]')
    press('escape', 'n')
    await expect.poll(text).toContain('notes of T-004')
  })

  it('shows what is wrong where a tab cannot be made', async () => {
    const { text, press } = opened({ events, material: () => Promise.reject(new Error('git is gone')) })
    press('tab')
    await expect.poll(text).toContain('git is gone')
  })

  it('scrolls in what is there as a whole', async () => {
    const all = Array.from({ length: 60 }, (_, index) => line(`row ${index}`))
    const { text, press } = opened({ events, material: async () => all })
    press('tab')
    await expect.poll(text).toContain('row 0')
    press('pagedown')
    expect(await text()).not.toContain('row 0 ')
    press('end')
    expect(await text()).toContain('row 59')
    press('down', 'down')
    expect(await text()).toContain('row 59')
    press('home')
    expect(await text()).toContain('row 0')
  })
})

describe('the keys', () => {
  it('steer a run that goes on', async () => {
    const { press, steered, foot, model, text } = opened()
    press('p', 's')
    expect(steered).toEqual([{ do: 'pause' }, { do: 'skip', task: 'T-004' }])
    await expect.poll(text).toContain('the run is asked to skip')
    model.event({ at: '', type: 'paused' })
    press('p')
    expect(steered.at(-1)).toEqual({ do: 'resume' })
    expect(await foot()).toContain('p go on')
    press('q', '2', 'q', '3')
    expect(steered.slice(-2)).toEqual([
      { do: 'stop', now: false },
      { do: 'stop', now: true },
    ])
  })

  it('do nothing, and are not shown, where no run goes on', async () => {
    const { press, steered, foot, shown } = opened({ events: ENDED, isAlive: false })
    press('down', 'down', 'down', 's', 'p', 'a', 'f', 'r')
    expect(steered).toEqual([])
    expect(await foot()).not.toMatch(/pause|skip|retry|answer|lines/)
    press('q')
    await shown
  })

  it('try again a task about which the run asks, and one that was blocked by a run that is over', async () => {
    const failed = {
      type: 'question',
      id: 'T-004',
      text: 'T-004 failed: tests',
      options: ['retry', 'skip', 'block', 'abort'],
    } as const
    const asking = opened({ events: timed([[0, runStarted()], ...attempt('T-004', 1), [9, failed]]) })
    expect(await asking.text()).toContain('■ T-004 failed: tests   a answers')
    asking.press('r')
    asking.press('a')
    asking.type('2')
    asking.press('return')
    expect(asking.steered).toEqual([
      { do: 'retry', task: 'T-004' },
      { do: 'answer', task: 'T-004', text: 'skip' },
    ])
    const tasks = TASKS.map((task) => (task.id === 'T-006' ? { ...task, status: 'BLOCKED' as const } : task))
    const over = opened({ events: ENDED, tasks, isAlive: false })
    over.press('/', 'T', '-', '0', '0', '6', 'return', 'down')
    expect(await over.foot()).toContain('r retry')
    over.press('r')
    expect(over.steered).toEqual([{ do: 'retry', task: 'T-006' }])
  })

  it('answer in free words, and never with nothing', async () => {
    const { press, type, steered, text, terminal } = opened()
    await terminal.frame()
    expect(terminal.bells()).toBe(1)
    press('a', 'return')
    expect(await text()).toContain('an answer needs a text')
    type('MTI')
    press('backspace', 'backspace')
    type('IT 為替')
    press({ name: 'paste', text: ' as ever' })
    expect(await text()).toContain('> MIT 為替 as ever')
    press('return')
    expect(steered).toEqual([{ do: 'answer', task: 'T-006', text: 'MIT 為替 as ever' }])
  })

  it('take a question back that somebody else has answered', async () => {
    const { press, text, model, screen } = opened()
    press('a')
    model.event({ at: '', type: 'answered', id: 'T-006', answer: 'MIT' })
    screen.changed()
    await expect.poll(text).toContain('T-006 does not ask any more')
  })

  it('open files elsewhere', () => {
    const { press, opened: shown } = opened()
    press('d', 'l', 'e')
    expect(shown).toEqual(['diff T-004', 'log T-004', 'file T-004'])
  })

  it('ask what is meant by quitting, and go back to the lines of a run in this process', async () => {
    const { press, text, shown, steered, terminal } = opened({ isOwn: true })
    press('q')
    expect(await text()).toContain('1 leave the screen')
    press('escape', 'q', '1')
    await shown
    expect(steered).toEqual([])
    expect(await terminal.isAlternate()).toBe(false)
  })
})

it('paints at most sixty frames a second, however much is printed', async () => {
  const { terminal, model, screen } = opened({ events: timed([[0, runStarted()], ...attempt('T-004', 1)]) })
  const [event] = timed([[3, { type: 'agent-text', id: 'T-004', text: 'x' }]])
  const began = performance.now()
  let printed = 0
  while (performance.now() - began < 500) {
    for (let times = 0; times < 100; times++, printed++)
      model.event({ ...event!, text: `line ${printed}` } as RunEvent)
    screen.changed()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const frames = terminal.written().split('\u001b[?2026h').length - 1
  // Half a second was measured, or more where the machine is busy.
  expect(frames).toBeLessThan(60 * Math.ceil((performance.now() - began) / 1000))
  expect(frames).toBeGreaterThan(1)
  expect(printed).toBeGreaterThan(1000)
})

it('is painted anew at each size, and says something at the smallest', async () => {
  const { resize, terminal } = opened()
  for (const [columns, rows] of [
    [40, 12],
    [250, 60],
    [3, 2],
    [1, 1],
    [99, 12],
    [100, 12],
  ] as const) {
    await resize(columns, rows)
    const frame = await terminal.frame()
    expect(frame.length).toBe(rows)
    expect(frame[0]!.trim()).not.toBe('')
  }
})
