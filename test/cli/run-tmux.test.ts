import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { barrier, repository } from './script-repository.ts'
import { git, PROGRAM, put } from '../repository.ts'
import { hasTmux, openTmux } from '../tui/tmux.ts'

/** An agent's script that says that it works, until a test lets it go on. */
function worker(): { readonly works: string; readonly letGo: () => void } {
  const { waits, letGo } = barrier()
  return { works: `echo at work; ${waits}; echo x > $RALPH_TASK.txt`, letGo }
}

type Terminal = ReturnType<typeof terminal>

/** A terminal in which `ralph run` can be typed. */
function terminal(cwd: string) {
  const tmux = openTmux(cwd, { columns: 90 }, { PAGER: 'cat' })
  const line = (text: string): void => {
    tmux.type(text)
    tmux.press('Enter')
  }
  line('stty -g > .git/before')
  return { ...tmux, line, run: (...args: readonly string[]) => tmux.ralph(...RUN, ...args) }
}

const RUN = ['run', '--agent', 'script', '--baseline', 'off']

/** The terminal is set as it was, and takes what is typed. */
async function isRestored(cwd: string, { line, shows }: Terminal): Promise<void> {
  line('stty -g > .git/after; echo "and $((40 + 2))"')
  await shows(/^and 42/m)
  expect(readFileSync(join(cwd, '.git/after'), 'utf8')).toBe(readFileSync(join(cwd, '.git/before'), 'utf8'))
}

describe.skipIf(!hasTmux)('a run in a real terminal (tmux)', () => {
  it('is steered by keys, none of which shows up, and leaves the terminal as it was', async () => {
    const { works, letGo } = worker()
    const cwd = repository({ 'T-001': works, 'T-002': works })
    const tmux = terminal(cwd)
    const { run, press, shows, resize } = tmux
    run('--loop')
    await shows('● at work')
    await shows('0 of 2 done')
    press('x', 'z', '7')
    press('p')
    await shows('paused · 0 of 2 done')
    resize(60, 20)
    await shows(/^─{59}$/m)
    resize(90, 24)
    await shows(/^─{89}$/m)
    press('q')
    await shows('a after this attempt')
    press('Escape')
    await shows('paused · 0 of 2 done')
    press('p')
    await shows('the run continues')
    press('d')
    await shows('T-001 has changed nothing yet')
    press('q')
    await shows('a after this attempt')
    press('a')
    await shows('stopping after this attempt · 0 of 2 done')
    letGo()
    const end = await shows('ended with 0')
    expect(end.match(/─/g)).toBeNull()
    expect(end).not.toMatch(/xz7|● at work/)
    expect(git(cwd, 'log', '--format=%s')).toBe('T-001: Do T-001\nBegin')
    await isRestored(cwd, tmux)
  })

  it('asks in the title and by the bell, and takes free words', async () => {
    const script =
      'echo half > half.txt; grep -q "ano""ther way" docs/tasks/T-001.md && echo whole > half.txt || exit 3'
    const cwd = repository({ 'T-001': script })
    const tmux = terminal(cwd)
    tmux.run('--retries', '0')
    await tmux.shows('1 try again')
    expect(tmux.title()).toMatch(/^ralph: T-001 failed:/)
    tmux.line('do it in another way')
    const end = await tmux.shows('ended with 0')
    expect(end).toContain('✓')
    expect(tmux.title()).not.toContain('failed')
    expect(git(cwd, 'log', '--format=%s')).toBe('T-001: Do T-001\nT-001: Answer: do it in another way\nBegin')
    await isRestored(cwd, tmux)
  })

  it('shows the other jobs while it asks', async () => {
    const { works, letGo } = worker()
    const cwd = repository({ 'T-001': 'exit 3', 'T-002': works })
    const tmux = terminal(cwd)
    tmux.run('--loop', '--jobs', '2', '--retries', '0')
    await tmux.shows('1 try again')
    expect(await tmux.shows('● at work')).toContain('1 try again')
    letGo()
    expect(await tmux.shows('✓')).toContain('1 try again')
    tmux.line('3')
    await tmux.shows('ended with 1')
    expect(git(cwd, 'log', '--format=%s')).toMatch(/^T-001: Block: .*\nT-002: Do T-002\nBegin$/)
    await isRestored(cwd, tmux)
  })

  it.each([
    ['1', 'T-002: Do T-002\nT-001: Do T-001\nWrite down T-002\nBegin', ''],
    ['n', 'T-001: Do T-001\nBegin', '?? docs/tasks/T-002.md'],
  ])('asks whether to commit a task that is not: %s', async (answer, log, status) => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' })
    const text = readFileSync(join(cwd, 'docs/tasks/T-001.md'), 'utf8')
    const other = text.replaceAll('001', '002').replace('one.txt', 'two.txt')
    put(cwd, { 'docs/tasks/T-002.md': other })
    const tmux = terminal(cwd)
    tmux.run('--loop')
    await tmux.shows('commit docs/tasks/T-002.md first?')
    // It is a question of yes or no, so other words are no answer.
    tmux.line('perhaps')
    tmux.line(answer)
    await tmux.shows('ended with 0')
    expect(git(cwd, 'log', '--format=%s')).toBe(log)
    expect(git(cwd, 'status', '--porcelain')).toBe(status)
    await isRestored(cwd, tmux)
  })

  it('ends at Ctrl-C as ever, with its attempt kept', async () => {
    const { works } = worker()
    const cwd = repository({ 'T-001': works })
    const tmux = terminal(cwd)
    tmux.run()
    await tmux.shows('● at work')
    tmux.press('C-c')
    await tmux.shows('ended with 130')
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    await isRestored(cwd, tmux)
  })

  it.skipIf(process.platform !== 'linux').each([
    ['TERM', 'dumb'],
    ['RALPH_PLAIN', '1'],
  ])('has neither foot nor keys with %s=%s: one line an event, and nothing moves', async (name, value) => {
    const cwd = repository({ 'T-001': 'echo at work; exit 3' })
    const tmux = terminal(cwd)
    tmux.line(
      `export ${name}=${value}; script -qfc "'${process.execPath}' '${PROGRAM}' ${RUN.join(' ')} --retries 0 2>&1" .git/typescript; echo over`,
    )
    await tmux.shows('1 try again')
    tmux.line('3')
    await tmux.shows(/^over/m)
    expect(git(cwd, 'log', '-1', '--format=%s')).toMatch(/^T-001: Block/)
    const typescript = readFileSync(join(cwd, '.git/typescript'), 'utf8')
    expect(typescript).toContain('     · at work')
    expect(typescript).not.toContain('of 1 done')
    expect(typescript.replaceAll(/\u001b\[[\d;]*m/g, '')).not.toContain('\u001b')
  })

  it.skipIf(!process.env['RALPH_SCREEN_RUNS'])(
    'keeps what it does, and the terminal, whatever keys are pressed',
    async () => {
      const keys = ['p', 's', 'q', 'd', 'l', '?', 'x', 'y', 'a', 'Escape', 'Enter', 'Up', 'F5', '漢', 'Space']
      for (let seed = 1; seed <= 5; seed++) {
        const slow = 'for n in 1 2 3 4 5 6; do echo line $n; sleep 0.1; done; echo x > $RALPH_TASK.txt'
        const cwd = repository({ 'T-001': slow, 'T-002': slow, 'T-003': slow, 'T-004': slow })
        const tmux = terminal(cwd)
        tmux.run('--loop', '--jobs', seed % 2 ? '1' : '2')
        await tmux.shows('of 4 done')
        let state = seed
        const pick = (below: number): number => (state = (state * 16807) % 2147483647) % below
        for (let press = 0; press < 60 && !tmux.hasEnded(); press++) {
          tmux.press(keys[pick(keys.length)]!)
          if (pick(8) === 0) tmux.resize(50 + pick(60), 14 + pick(20))
        }
        // Whatever is open is closed, and a pause ended.
        await vi.waitUntil(
          () => {
            if (tmux.hasEnded()) return true
            tmux.press('Escape')
            tmux.press('C-c')
            return false
          },
          { timeout: 60_000, interval: 2000 },
        )
        tmux.press('C-u')
        expect(git(cwd, 'status', '--porcelain')).toBe('')
        expect(existsSync(join(cwd, '.ralph/lock'))).toBe(false)
        for (const subject of git(cwd, 'log', '--format=%s').split('\n'))
          expect(subject).toMatch(/^(?:T-00\d: Do|Begin)/)
        await isRestored(cwd, tmux)
      }
    },
    300_000,
  )
})
