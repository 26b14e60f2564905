import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { git, projectFolder } from '../repository.ts'
import { repository } from '../cli/script-repository.ts'
import { hasTmux, openTmux } from './tmux.ts'

/** Alone it works until it is ended; at a terminal it switches on whatever there is. */
const AGENT = `#!/bin/sh
if [ -n "$RALPH_PROMPT_FILE" ]; then
  stty raw -echo
  printf '\\033[?1049h\\033[?25l\\033[?7l\\033[?1003h\\033[?1006h\\033[?2004h\\033[?1h\\033=\\033[>4;2m\\033]2;its own\\007'
  echo the program is here
else echo half >half.txt; echo at work
fi
while :; do sleep 0.2; done
`
/** Has ralph make a mistake when it is told to. */
const MISTAKE = `if (/\\b(?:run|watch)\\b/.test(process.argv.join(' '))) require('node:fs').writeFileSync('.git/pid', String(process.pid))
process.on('SIGUSR2', () => { throw new Error('a mistake of its own') })`

/** A terminal, in which ralph can be asked to make a mistake. */
function terminal() {
  const agent = join(projectFolder({ 'agent.sh': AGENT }), 'agent.sh')
  const cwd = repository({ 'T-001': '' }, { agent: 'command', command: `sh '${agent}'`, baseline: 'off' })
  writeFileSync(join(cwd, '.git/mistake.cjs'), MISTAKE)
  const NODE_OPTIONS = `--require ${join(cwd, '.git/mistake.cjs')}`
  const made = openTmux(cwd, {}, { NODE_OPTIONS })
  const pid = (): number => Number(readFileSync(join(cwd, '.git/pid'), 'utf8'))
  const isAlive = (): boolean => {
    try {
      return process.kill(pid(), 0)
    } catch {
      return false
    }
  }
  return { ...made, cwd, isAlive, kill: (signal: NodeJS.Signals) => process.kill(pid(), signal) }
}

const AT_WORK = [
  ['lines', [], 'at work'],
  ['the full screen', ['--tui'], /▸ ● T-001/],
  ['a take-over', ['--interactive'], 'the program is here'],
] as const

describe.skipIf(!hasTmux)('the terminal is as it was found, and the work on record', () => {
  it.each(AT_WORK)('after a mistake of ralph in %s', async (_, args, shown) => {
    const { ralph, modes, shows, kill, cwd, isCooked, hasEnded, history } = terminal()
    await shows(/\S/)
    const before = modes()
    ralph('run', 'T-001', ...args)
    await shows(shown)
    kill('SIGUSR2')
    await expect.poll(hasEnded, { timeout: 30_000 }).toBe(true)
    await shows('ended with 2')
    expect(modes()).toBe(before)
    await expect.poll(isCooked).toBe(true)
    expect(history()).toMatch(/T-001 is kept[^]*error: a mistake of its own\s+This is a bug in ralph/)
    expect(history()).not.toMatch(/ {4}at /)
    expect(git(cwd, 'for-each-ref', '--format=%(refname)', 'refs/ralph/attempts')).toContain('T-001/1')
    expect(existsSync(join(cwd, '.ralph/lock'))).toBe(false)
  })

  it.each(['SIGTERM', 'SIGHUP'] as const)('after %s at a take-over', async (signal) => {
    const { ralph, modes, shows, kill, isCooked } = terminal()
    await shows(/\S/)
    const before = modes()
    ralph('run', 'T-001', '--interactive')
    await shows('the program is here')
    kill(signal)
    await shows('ended with 130')
    expect(modes()).toBe(before)
    await expect.poll(isCooked).toBe(true)
  })

  it.each(AT_WORK.slice(0, 2))(
    'while ralph is stopped in %s, which goes on after',
    async (_, args, shown) => {
      const { ralph, modes, shows, kill, isCooked, type, press, isAlive } = terminal()
      await shows(/\S/)
      const before = modes()
      ralph('run', 'T-001', ...args)
      await shows(shown)
      const during = modes()
      kill('SIGTSTP')
      await shows(/Stopped|suspended/)
      expect(modes()).toBe(before)
      expect(isCooked()).toBe(true)
      type('fg')
      press('Enter')
      await shows(shown)
      await expect.poll(modes).toBe(during)
      await expect.poll(isCooked).toBe(false)
      kill('SIGTERM')
      await expect.poll(isAlive, { timeout: 20_000 }).toBe(false)
    },
  )

  it('again after a kill -9, when ralph watch was left', async () => {
    const { ralph, modes, shows, kill, press, type, isCooked } = terminal()
    await shows(/\S/)
    const before = modes()
    ralph('run', 'T-001', '--interactive')
    await shows('the program is here')
    kill('SIGKILL')
    await shows('ended with 137')
    // What is typed while the shell takes its terminal back may be lost.
    const mend = (): boolean => {
      type('stty sane')
      press('C-j')
      return isCooked()
    }
    await expect.poll(mend, { interval: 500 }).toBe(true)
    ralph('watch')
    await shows(/this run crashed while it worked on T-001/)
    press('q')
    await shows('ended with 0')
    // A title that is gone nobody brings back.
    const withoutTitle = (text: string): string => text.split(' ').slice(0, 4).join(' ')
    expect(withoutTitle(modes())).toBe(withoutTitle(before))
  })
})
