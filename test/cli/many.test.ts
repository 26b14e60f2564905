import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commit, env, git, projectFolder } from '../repository.ts'
import { barrier, repository } from './script-repository.ts'
import { ralph } from './ralph.ts'

/** A person's environment, with a folder of caches that is gone after the test. */
const world = (): Readonly<Record<string, string>> & { readonly XDG_CACHE_HOME: string } => {
  return { ...env, XDG_CACHE_HOME: join(projectFolder({}), 'cache') }
}

/** Whether git-lfs is installed. */
const hasLargeFiles = spawnSync('git', ['lfs', 'version']).status === 0

describe('several jobs, as a person asks for them', () => {
  it('are previewed, shown in a dry run, done, looked at, and cleared away', async () => {
    const cwd = repository({ 'T-001': 'echo 1 > one', 'T-002': 'echo 2 > two', 'T-003': 'echo 3 > three' })
    const at = { cwd, env: world() }
    const cache = at.env.XDG_CACHE_HOME
    expect((await ralph(['next', '--jobs', '2'], at)).stdout).toMatch(
      /At once\n {2}T-001 .*\n {2}T-002 .*\n\nLater\n {2}T-003 .* for a free workspace\n/,
    )
    const json: unknown = JSON.parse((await ralph(['next', '--jobs', '2', '--json'], at)).stdout)
    expect(json).toMatchObject({
      begin: [{ id: 'T-001' }, { id: 'T-002' }],
      later: [{ id: 'T-003', wait: { kind: 'jobs' } }],
    })
    const jobs = ['run', '--loop', '--jobs', '2', '--agent', 'script']
    const dry = await ralph([...jobs, '--dry-run'], at)
    expect(dry.stdout).toContain('T-001, T-002')
    expect(dry.stdout).toContain(cache)
    expect(existsSync(cache)).toBe(false)
    const { stdout, code } = await ralph(jobs, at)
    expect([code, stdout]).toEqual([0, expect.stringContaining('3 done')])
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    expect(readdirSync(cwd)).toEqual(expect.arrayContaining(['one', 'two', 'three']))
    expect((await ralph(['doctor'], at)).stdout).toMatch(/\d slots in/)
    expect((await ralph(['doctor', '--fix'], at)).stdout).toMatch(/removed \d slots/)
    expect(readdirSync(join(cache, 'ralph'))).toEqual([])
    expect(git(cwd, 'for-each-ref', 'refs/ralph')).toBe('')
  })

  it.each([
    ['another branch, made where it is missing', false, ['--branch', 'work'], ['work'], ['main', 'HEAD']],
    ['a detached HEAD', true, [], ['HEAD'], ['main']],
  ])('land on %s', async (_, isDetached, more, moved, unmoved) => {
    const cwd = repository({ 'T-001': 'echo 1 > one', 'T-002': 'echo 2 > two' })
    if (isDetached) git(cwd, 'checkout', '-q', '--detach')
    const jobs = ['run', '--loop', '--jobs', '2', '--agent', 'script', ...more]
    expect((await ralph(jobs, { cwd, env: world() })).code).toBe(0)
    const landed = (revision: string): string => git(cwd, 'log', '--format=%s', '--grep=^T-', revision)
    for (const revision of moved) expect(landed(revision).split('\n')).toHaveLength(2)
    for (const revision of unmoved) expect(landed(revision)).toBe('')
    expect(existsSync(join(cwd, 'two'))).toBe(moved.includes('HEAD'))
    expect(git(cwd, 'status', '--porcelain')).toBe('')
  })

  it('say why the gates of one run again: another has landed before it', async () => {
    const { waits, letGo } = barrier()
    const gates = [{ name: 'list', command: 'ls' }]
    const cwd = repository({ 'T-001': 'echo 1 > one', 'T-002': `${waits}; echo 2 > two` }, { gates })
    const running = ralph(['run', '--loop', '--jobs', '2', '--agent', 'script'], { cwd, env: world() })
    await expect.poll(() => git(cwd, 'log', '-1', '--format=%s')).toBe('T-001: Do T-001')
    letGo()
    const { stdout } = await running
    expect(stdout.match(/ the gates run again: .*/g)).toHaveLength(1)
    expect(stdout).toMatch(
      /T-002 .+ agent says done .+\nT-002 +the gates run again: other work has landed since\nT-002 +✓ list \S+\nT-002 +✓ /,
    )
  })

  it('that add to one lock file are done one after the other in the end, and lose nothing', async () => {
    // As a package manager does: it reads the file, adds its package in order and writes it anew.
    const add = (name: string): string =>
      `node -e 'const f = require("fs"); const l = JSON.parse(f.readFileSync("package-lock.json")); l.packages.${name} = { version: "1.0.0" }; f.writeFileSync("package-lock.json", JSON.stringify(l, null, 2) + "\\n")'`
    const cwd = repository({ 'T-001': add('alpha'), 'T-002': add('beta') })
    commit(cwd, 'Lock', { 'package-lock.json': `${JSON.stringify({ packages: {} }, null, 2)}\n` })
    const run = ['run', '--loop', '--jobs', '2', '--agent', 'script', '--json']
    const { code, stdout } = await ralph(run, { cwd, env: world() })
    expect(code).toBe(0)
    expect(stdout).toContain('"result":"conflict"')
    const lock = JSON.parse(git(cwd, 'show', 'HEAD:package-lock.json')) as { packages: object }
    expect(Object.keys(lock.packages).toSorted()).toEqual(['alpha', 'beta'])
  })

  it.skipIf(!hasLargeFiles)('have the large files that git keeps elsewhere, and land new ones', async () => {
    const cwd = repository({ 'T-001': 'wc -c < big.bin > size; head -c 2000 /dev/zero > new.bin' })
    git(cwd, 'lfs', 'install', '--local')
    git(cwd, 'lfs', 'track', '*.bin')
    commit(cwd, 'Large', { 'big.bin': 'x'.repeat(5000) })
    const { code } = await ralph(['run', '--agent', 'script'], { cwd, env: world() })
    expect(code).toBe(0)
    expect(git(cwd, 'show', 'HEAD:size').trim()).toBe('5000')
    expect(git(cwd, 'show', 'HEAD:new.bin')).toContain('git-lfs')
    expect(statSync(join(cwd, 'new.bin')).size).toBe(2000)
    expect(git(cwd, 'status', '--porcelain')).toBe('')
  })
})
