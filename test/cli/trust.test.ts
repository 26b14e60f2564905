import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../process/programs.ts'
import { env, git, makeFolder, put } from '../repository.ts'
import { by, ralph, type Answer } from './ralph.ts'
import { repository, run } from './script-repository.ts'

const ONCE = ['--retries', '0', '--on-failure', 'block']

describe('a configuration that an agent has written', () => {
  it('is not in force before a person accepts it', async () => {
    const told = join(makeFolder(), 'told')
    const written = JSON.stringify({
      commit: { seal: false },
      gates: [],
      notify: { command: `touch ${told}` },
    })
    const cwd = repository(
      { 'T-001': `echo '${written}' > ralph.config.json; echo ok > ok`, 'T-002': 'rm ok; echo x > x' },
      { gates: [{ name: 'check', command: 'test -e ok' }] },
    )
    expect((await run(cwd, 'T-001', ...ONCE)).code).toBe(0)
    const refused = await run(cwd, 'T-002', ...ONCE)
    expect(refused.code).toBe(1)
    expect(refused.stdout).toContain('ralph.config.json was changed by an agent, and is not in force')
    expect(git(cwd, 'log', '-1', '--format=%s')).toMatch(/^T-002: Block: .*check/)
    expect(existsSync(told)).toBe(false)

    const shown = await by(cwd, 'trust', '--yes')
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('"gates":[]')])
    expect(git(cwd, 'log', '-1', '--format=%(trailers:key=Trusts,valueonly)')).toBe(
      git(cwd, 'rev-parse', 'HEAD~1'),
    )
    expect((await by(cwd, 'retry', 'T-002')).code).toBe(0)
    expect((await run(cwd, 'T-002', ...ONCE)).code).toBe(0)
    expect(existsSync(told)).toBe(true)
  })

  it('takes no detected gate away, and may add one', async () => {
    const programs = folderWith('pytest', 'test -e ok')
    const inPython = { ...env, PATH: [programs, env['PATH']].join(delimiter) }
    const once = (cwd: string, id: string): Promise<Answer> =>
      ralph(['run', id, '--agent', 'script', '--baseline', 'off', ...ONCE], { cwd, env: inPython })
    const cwd = repository(
      {
        'T-001': `echo '[tool.x]' > pyproject.toml; printf 'build:\\n\\ttrue\\n' > Makefile; echo ok > ok`,
        'T-002': 'echo x > x',
        'T-003': 'rm ok',
      },
      { gates: null, workspace: { prepare: '' } },
    )
    put(cwd, { 'pyproject.toml': '[tool.pytest]\n' })
    git(cwd, 'add', '--all')
    git(cwd, 'commit', '-qm', 'Test')
    expect((await once(cwd, 'T-001')).code).toBe(0)
    expect((await once(cwd, 'T-002')).code).toBe(0)
    expect(git(cwd, 'log', '-1', '--format=%(trailers:key=Gates,valueonly)')).toBe('test, build')
    expect((await once(cwd, 'T-003')).code).toBe(1)
  })
})
