import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commit, env, git, makeFolder } from '../repository.ts'
import { madeOnce, repository } from './script-repository.ts'
import { by, ralph } from './ralph.ts'

/** A repository in which two tasks are done, the second by a commit that was made without its gates. */
const project = madeOnce(async () => {
  const cwd = repository({ 'T-001': 'echo 1 > one', 'T-002': 'echo 2 > two' })
  const gate = '{ "gates": [{ "name": "no bad", "command": "test ! -e bad" }], "commit": { "seal": false } }'
  commit(cwd, 'Configure', { 'ralph.config.json': gate })
  await by(cwd, 'run', '--agent', 'script')
  commit(cwd, 'Break it', { bad: 'bad' })
  await by(cwd, 'run', '--agent', 'script', '--no-gates')
  // What is there now says nothing of what the commits were.
  git(cwd, 'rm', '-q', 'bad')
  commit(cwd, 'Repair it', { 'ralph.config.json': gate.replace('no bad', 'today') })
  return cwd
})
/** With a folder of caches of its own. */
const place = async () => ({ cwd: await project(), env: { ...env, XDG_CACHE_HOME: makeFolder() } })

describe('ralph verify --gates', () => {
  it('says which commits are green, by the gates that each had, and leaves the checkout alone', async () => {
    const at = await place()
    const { code, stdout } = await ralph(['verify', '--gates', '--jobs', '2'], at)
    expect(stdout).toContain('2 tasks done: 2 match')
    expect(stdout).toMatch(/✓ T-001 {2}[0-9a-f]{10} {2}no bad\n/)
    expect(stdout).toMatch(/✗ T-002 {2}[0-9a-f]{10} {2}.*no bad.*\n/)
    expect([code, stdout]).toEqual([1, expect.stringContaining('gates: 1 green, 1 not')])
    expect(git(at.cwd, 'status', '--porcelain')).toBe('')
    const left = readdirSync(join(at.env.XDG_CACHE_HOME, 'ralph'), { recursive: true, encoding: 'utf8' })
    expect(left.filter((name) => name.endsWith('.lock'))).toEqual([])
  })

  it('takes the tasks that are named, and says it all as JSON', async () => {
    const at = await place()
    const first = await ralph(['verify', '--gates', '1', '--json'], at)
    expect([first.code, JSON.parse(first.stdout)]).toEqual([
      0,
      expect.objectContaining({
        ok: true,
        tasks: [expect.objectContaining({ id: 'T-001', gates: ['no bad'] })],
      }),
    ])
    const second = await ralph(['verify', '--gates', 'T-002', '--json'], at)
    const document = JSON.parse(second.stdout) as { ok: boolean; tasks: { problem: string }[] }
    expect(document).toMatchObject({ ok: false, tasks: [{ id: 'T-002', gates: [] }] })
    expect(document.tasks[0]!.problem).toContain('no bad')
  })

  it('refuses what is not DONE, and --jobs without gates', async () => {
    const cwd = repository({ 'T-001': 'true' })
    expect((await by(cwd, 'verify', '--gates', 'T-001')).stderr).toContain('T-001 is not DONE')
    expect((await by(cwd, 'verify', '--jobs', '2')).stderr).toContain('Add --gates')
  })
})
