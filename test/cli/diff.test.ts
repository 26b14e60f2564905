import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { page, pagerCommand } from '../../src/process/pager.ts'
import { env, git, projectFolder, put, taskText } from '../repository.ts'
import { barrier, repository, run } from './script-repository.ts'
import { by } from './ralph.ts'

const diff = (cwd: string, ...argv: string[]) => by(cwd, 'diff', ...argv)

describe('ralph diff of a range', () => {
  it('tells in words what the checkout does to the backlog', async () => {
    const cwd = repository({ 'T-001': 'true', 'T-002': 'true' })
    expect((await diff(cwd)).stdout).toBe('Nothing in the backlog has changed in main....\n')
    put(cwd, { 'docs/tasks/T-003.md': taskText('T-003', 'Lock it', { Depends: 'T-001' }) })
    writeFileSync(
      join(cwd, 'docs/tasks/T-002.md'),
      taskText('T-002', 'Do T-002', { Depends: 'T-001', Priority: 'high' }),
    )
    expect(await diff(cwd)).toEqual({
      code: 0,
      stderr: '',
      stdout: `main...  1 added, 1 changed

Added
  T-003  Lock it
         TODO · needs T-001

Changed
  T-002  Do T-002
         Depends: none → T-001
         Priority: – → high
         text of Script
`,
    })
    expect((await diff(cwd, '--markdown')).stdout).toMatch(/^### Backlog: 1 added, 1 changed\n/)
    expect(JSON.parse((await diff(cwd, '--json')).stdout)).toMatchObject({
      version: 1,
      range: 'main...',
      added: [{ id: 'T-003', depends: ['T-001'] }],
      changed: [{ id: 'T-002', sections: ['Script'] }],
    })
  })

  it('is in one form, and of commits that there are', async () => {
    const cwd = repository({ 'T-001': 'true' })
    expect((await diff(cwd, '--json', '--markdown')).stderr).toBe(
      'error: give one of --json and --markdown\n',
    )
    expect(await diff(cwd, 'nope..HEAD')).toMatchObject({ code: 2, stdout: '' })
    expect((await diff(projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'x') }))).stderr).toContain(
      'there is no git repository here',
    )
  })
})

describe('ralph diff of a task', () => {
  it('is the code of its commit, as a patch', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' })
    await run(cwd)
    const { stdout } = await diff(cwd, '1')
    expect(stdout).toContain('+++ b/one.txt')
    expect(stdout).toContain('one.txt             | 1 +')
    git(cwd, 'checkout', '-q', 'HEAD~1')
    put(cwd, { patch: stdout })
    git(cwd, 'apply', 'patch')
    expect(readFileSync(join(cwd, 'one.txt'), 'utf8')).toBe('one\n')
  })

  it('is that of the last attempt, where none has passed', async () => {
    const cwd = repository({ 'T-001': 'echo half > half.txt; exit 1' })
    expect((await diff(cwd, 'T-001')).stderr).toContain('there is no code of T-001 yet')
    await run(cwd, '--retries', '0', '--on-failure', 'block')
    expect(JSON.parse((await diff(cwd, 'T-001', '--json')).stdout)).toMatchObject({
      id: 'T-001',
      kind: 'attempt',
      patch: expect.stringContaining('+half') as unknown,
    })
  })

  it('is the work so far, while a run is at it, and touches neither index nor objects', async () => {
    const { waits, letGo } = barrier()
    const cwd = repository({ 'T-001': `echo so far > new.txt; ${waits}` })
    const running = run(cwd)
    await expect.poll(async () => (await diff(cwd, 'T-001')).stdout).toContain('+so far')
    const objects = git(cwd, 'count-objects')
    expect((await diff(cwd, 'T-001')).stdout).toContain('+++ b/new.txt')
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    expect(git(cwd, 'count-objects')).toBe(objects)
    letGo()
    expect((await running).code).toBe(0)
  })
})

describe('the pager', () => {
  it("is the person's own", () => {
    const PATH = env.PATH
    expect(pagerCommand({ PATH, GIT_PAGER: 'delta', PAGER: 'more' }, 'less -S')).toBe('delta')
    expect(pagerCommand({ PATH, PAGER: 'more' }, 'less -S')).toBe('less -S')
    expect(pagerCommand({ PATH, PAGER: 'more' }, null)).toBe('more')
    expect(pagerCommand({ PATH, PAGER: 'cat' }, null)).toBe(null)
    expect(pagerCommand({ PATH: '/nowhere' }, null)).toBe(null)
  })

  it('gets the bytes, and is done without where it is not there', async () => {
    const cwd = projectFolder({})
    expect(await page(Buffer.from('bytes\n'), { command: 'cat > seen', cwd, env })).toBe(true)
    expect(readFileSync(join(cwd, 'seen'), 'utf8')).toBe('bytes\n')
    expect(await page(Buffer.from('x'), { command: 'no-such-pager-here 2>/dev/null', cwd, env })).toBe(false)
    expect(await page(Buffer.alloc(1e6), { command: 'true', cwd, env })).toBe(true)
  })
})
