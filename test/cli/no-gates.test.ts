import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { env, git, PROGRAM, makeRepository, taskText } from '../repository.ts'
import { everybodyLeaves, sitAt } from './person.ts'
import { by, jsonOf } from './ralph.ts'

afterEach(everybodyLeaves)

/** A project in which nothing says how it is tested. */
function project(config: object = {}, fields: Readonly<Record<string, string>> = {}): string {
  return makeRepository({
    'README.md': '# shop\n',
    'docs/tasks/T-001.md': taskText('T-001', 'Write it', fields),
    'ralph.config.json': JSON.stringify({ commit: { seal: false }, ...config }),
  })
}

const DOES_IT = 'echo "it works" > new.md; echo "<TASK_DONE>"'
const COMMAND = ['--agent', 'command', '--command', DOES_IT, '--no-color'] as const

describe('a run without any gate', () => {
  it('does not begin, and says what to add', async () => {
    const cwd = project()
    const { code, stderr } = await by(cwd, 'run', ...COMMAND)
    expect(code).toBe(2)
    expect(stderr).toContain('no gate is known, so nothing would check the work')
    expect(stderr).toContain('"gates": [{ "name": "test", "command": "npm test" }]')
    expect(git(cwd, 'log', '--format=%s')).toBe('Begin')
    const { warnings } = await jsonOf(cwd, 'run', '--dry-run', ...COMMAND)
    expect(warnings).toContain('no gate is known, so nothing would check the work')
  })

  it.each([
    ['with --no-gates', {}, {}, ['--no-gates']],
    ['where a person wrote that there are none', { gates: [] }, {}, []],
    ['for a task that produces only Markdown', {}, { Produces: 'new.md' }, ['--retries', '0']],
  ])('begins %s', async (_, config, fields, argv) => {
    const { stdout, stderr } = await by(project(config, fields), 'run', ...COMMAND, ...argv)
    expect(stdout + stderr).toContain('T-001  Write it')
  })

  it('ends at once where nobody can be asked', () => {
    const argv = [PROGRAM, 'run', ...COMMAND]
    const { status } = spawnSync(process.execPath, argv, { cwd: project(), env, timeout: 20_000 })
    expect(status).toBe(2)
  })

  it('begins for a script, which is in the task', async () => {
    const { stdout } = await by(project(), 'run', '--agent', 'script', '--no-color')
    expect(stdout).toContain('T-001  Write it')
  })

  it('says so if none of its gates runs tests', async () => {
    const cwd = project({ gates: [{ name: 'lint', command: 'true' }] })
    expect((await by(cwd, 'run', ...COMMAND)).stdout).toContain('gates: lint (no test gate)')
    const tested = project({ gates: [{ name: 'unit', command: 'true test' }] })
    expect((await by(tested, 'run', ...COMMAND)).stdout).not.toContain('no test gate')
  })
})

describe.skipIf(process.platform === 'win32')('in a terminal', () => {
  it('a run asks once how the project is tested, and commits the answer', async () => {
    const cwd = project()
    const person = await sitAt(['run', ...COMMAND], { cwd, env })
    await person.shows('How is this project tested?')
    person.type('grep -q works new.md\r')
    await person.endsWith(0)
    expect(JSON.parse(readFileSync(join(cwd, 'ralph.config.json'), 'utf8'))).toEqual({
      commit: { seal: false },
      gates: [{ name: 'test', command: 'grep -q works new.md' }],
    })
    const subjects = git(cwd, 'log', '--format=%s').split('\n')
    expect(subjects.slice(0, 2)).toEqual(['T-001: Write it', 'Say how the project is tested'])
    expect(git(cwd, 'log', '-1', '--format=%(trailers:key=Gates,valueonly)')).toContain('test')
  })

  it('and does not begin without an answer', async () => {
    const cwd = project()
    const person = await sitAt(['run', ...COMMAND], { cwd, env })
    await person.shows('How is this project tested?')
    person.type('\u0003')
    await person.endsWith(2)
    expect(git(cwd, 'log', '--format=%s')).toBe('Begin')
  })
})
