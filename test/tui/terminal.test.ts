import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { barrier, repository } from '../cli/script-repository.ts'
import { git } from '../repository.ts'
import { hasTmux, openTmux } from './tmux.ts'

const terminal = (cwd: string) => openTmux(cwd, { rows: 20 })

function project() {
  const { waits, letGo } = barrier()
  const scripts = {
    'T-001': `echo hello; ${waits}; echo x > one`,
    'T-002': `echo second; ${waits}; echo x > two`,
  }
  return { cwd: repository(scripts, { agent: 'script' }), letGo }
}

describe.skipIf(!hasTmux)('in a real terminal', () => {
  it('a run under way is watched and steered, and the terminal is as it was before', async () => {
    const { cwd, letGo } = project()
    const [running, watching] = [terminal(cwd), terminal(cwd)]
    running.ralph('run', '--loop')
    await running.shows('hello')
    watching.ralph('watch')
    await watching.shows(/▸ ● T-001[^]*hello/)
    expect(watching.isAlternate()).toBe(true)
    expect(watching.isCooked()).toBe(false)
    watching.press('p')
    await watching.shows('p go on')
    await running.shows('paused')
    watching.press('p')
    await watching.shows('p pause')
    watching.press('s')
    await watching.shows(/▸ ● T-002[^]*second/)
    watching.press('d', 'e')
    await expect.poll(() => existsSync(join(cwd, '.git/T-002.md'))).toBe(true)
    watching.resize(60, 14)
    await watching.shows(/^Tasks ─{50,}$/m)
    watching.press('Enter')
    await watching.shows(/^T-002 .*\n \[activity\]/m)
    letGo()
    await watching.shows('the run ended')
    watching.press('q')
    await watching.shows('ended with 0')
    expect(watching.isAlternate()).toBe(false)
    await expect.poll(() => watching.isCooked()).toBe(true)
    expect(watching.history()).not.toContain('T-002')
    expect(git(cwd, 'log', '--format=%s')).toBe('T-002: Do T-002\nBegin')
  })

  it('a run goes from its lines to the full screen and back, and ends in its lines', async () => {
    const { cwd, letGo } = project()
    const { ralph, press, shows, history, isAlternate } = terminal(cwd)
    ralph('run', 'T-001', '--tui')
    await shows(/▸ ● T-001[^]*hello/)
    press('f')
    await shows('f full')
    press('f')
    await shows(/▸ ● T-001[^]*hello/)
    letGo()
    await shows('ended with 0')
    expect(isAlternate()).toBe(false)
    const lines = history()
    // Each of its lines once, as if the lines had been there all the time.
    expect(lines.match(/T-001 {2}Do T-001/g)).toHaveLength(1)
    expect(lines).toMatch(/agent says done[^]*1 done/)
  })
})
