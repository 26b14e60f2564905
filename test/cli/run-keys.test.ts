import { describe, expect, it } from 'vitest'
import type { Keyboard } from '../../src/cli/keyboard.ts'
import type { Key } from '../../src/screen/full/keys.ts'
import { runKeys, type KeyDesk } from '../../src/cli/run/keys.ts'
import type { Emitted } from '../../src/engine/events/event.ts'
import { Control } from '../../src/engine/control.ts'
import { liveRun } from '../ui/live-run.ts'
import { attemptStarted, completed, recordedRun, START, taskStarted } from '../ui/recorded.ts'

/** A run at work, with keys that a test presses. */
async function keys({ pushes = false, columns = 80 } = {}) {
  const { reporter, screen, emit, play, pass } = await liveRun(columns, 24)
  const control = new Control()
  const done: string[] = []
  let hear: ((key: Key) => void) | null = null
  const keyboard: Keyboard = {
    listen(onKey) {
      hear = onKey
      return () => void done.push('unlistened')
    },
    pause(to = 'reader') {
      done.push(`lent to a ${to}`)
      return () => void done.push('given back')
    },
  }
  let closePager = (): void => undefined
  const open: KeyDesk['open'] = async (what, id, lend) => {
    if (what === 'log') return 'no attempt has begun'
    done.push(`reads ${id}`)
    await lend(() => new Promise((resolve) => (closePager = () => resolve(true))))
    return ''
  }
  play(recordedRun('at-work'))
  const shown = runKeys({
    keyboard,
    reporter,
    control,
    open,
    leaving: 'detach',
    pushes,
    full: null,
    canTakeOver: false,
  })
  let seconds = 200
  const happen = (event: Emitted): void => {
    emit(seconds++, event)
    shown.event({ at: new Date(START + seconds * 1000).toISOString(), ...event })
  }
  control.listen(happen)
  const press = async (name: string): Promise<string> => {
    hear?.({ name, ctrl: false, shift: false, text: name })
    await new Promise((resolve) => setImmediate(resolve))
    pass(1)
    return (await screen.frame()).join('\n').trimEnd()
  }
  const foot = (frame: string): string => frame.slice(frame.lastIndexOf('─') + 1)
  return { control, done, press, happen, shown, screen, closePager: () => closePager(), foot }
}

describe('the keys of a run', () => {
  it('pause it, and let it go on, which the foot says', async () => {
    const { control, press, foot } = await keys({ columns: 100 })
    expect(foot(await press('p'))).toMatch(/^\n paused · 5 of 14 done.* p go on {2}s skip/)
    expect(control.isPaused).toBe(true)
    expect(foot(await press('p'))).toMatch(/^\n 5 of 14 done.* p pause {2}s skip/)
    expect(control.isPaused).toBe(false)
  })

  it('skip the task at work, once that is confirmed', async () => {
    const { control, press, foot } = await keys()
    expect(foot(await press('s'))).toContain('skip T-004? its attempt is kept, and it stays TODO')
    expect(foot(await press('x'))).toContain('5 of 14 done')
    expect(control.skipped('T-004').aborted).toBe(false)
    await press('s')
    await press('y')
    expect(control.skipped('T-004').aborted).toBe(true)
  })

  it('ask which of several tasks is meant', async () => {
    const { control, press, foot, happen } = await keys()
    happen(taskStarted('T-007', 'Exchange rates'))
    expect(foot(await press('s'))).toMatch(/skip which\?.* 1 T-004 {3}2 T-007\s+esc back/s)
    await press('2')
    expect([control.skipped('T-004').aborted, control.skipped('T-007').aborted]).toEqual([false, true])
  })

  it('stop it as is meant, and say how it can be left', async () => {
    const { control, press, foot } = await keys()
    const asked = foot(await press('q'))
    expect(asked).toContain('? stop?   a after this attempt   n now: what is under way is recorded')
    expect(asked).toContain('\n   detach')
    await press('escape')
    expect(control.isStopping).toBe(false)
    await press('q')
    await press('a')
    expect([control.isStopping, control.signal.aborted]).toEqual([true, false])
    expect(foot(await press('q'))).not.toContain('after this attempt')
    await press('n')
    expect([control.signal.aborted, control.killSignal.aborted]).toEqual([true, false])
    expect(foot(await press('q'))).toContain('n end at once what still runs')
    await press('n')
    expect(control.killSignal.aborted).toBe(true)
  })

  it('show the work so far, while nothing else is drawn and no key is ours', async () => {
    const { done, press, happen, screen, closePager, shown } = await keys()
    await press('d')
    expect(done).toEqual(['reads T-004', 'lent to a program'])
    expect((await screen.frame()).join('\n')).not.toContain('─')
    happen({ type: 'warning', message: 'meanwhile' })
    expect((await screen.frame()).join('\n')).not.toContain('meanwhile')
    const end = shown.end().then(() => done.push('ended'))
    await press('p')
    expect(done).not.toContain('ended')
    closePager()
    await end
    expect(done).toEqual(['reads T-004', 'lent to a program', 'given back', 'unlistened', 'ended'])
    expect((await screen.frame()).join('\n')).toContain('warning meanwhile')
  })

  it('say why there is nothing to read, until the next key', async () => {
    const { press, foot } = await keys()
    expect(foot(await press('l'))).toContain('no attempt has begun')
    expect(foot(await press('escape'))).toContain('5 of 14 done')
  })

  it('are shown', async () => {
    const { press, foot } = await keys()
    const help = foot(await press('?'))
    for (const word of [
      'p no new attempt starts',
      's skips the task in this run',
      "d the task's code so far",
      'ralph pause',
    ])
      expect(help).toContain(word)
    expect(foot(await press('?'))).toContain('5 of 14 done')
    await press('?')
    expect(foot(await press('q'))).toContain('stop?')
  })

  it('are not read while git commits, or pushes, for it may ask for a password', async () => {
    const { done, happen } = await keys({ pushes: true })
    happen({ type: 'committing', id: 'T-004' })
    expect(done.splice(0)).toEqual(['lent to a reader'])
    happen({ type: 'sealing', id: 'T-004', seconds: 0, expectedSeconds: 1 })
    expect(done.splice(0)).toEqual(['given back'])
    happen(completed('T-004', 'Add the login form'))
    expect(done.splice(0)).toEqual(['lent to a reader'])
    happen(taskStarted('T-005', 'Next'))
    happen(attemptStarted('T-005'))
    expect(done.splice(0)).toEqual(['given back'])
  })

  it('leave the lines to the shell at a Ctrl-Z', async () => {
    const { press } = await keys()
    expect(await press('suspend')).not.toContain('5 of 14 done')
    expect(await press('resume')).toContain('5 of 14 done')
  })
})
