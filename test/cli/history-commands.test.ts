import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { env, git, projectFolder, put, taskText } from '../repository.ts'
import { by, jsonOf, ralph } from './ralph.ts'
import { madeOnce, repository, run } from './script-repository.ts'

/** Two tasks done by the embedded agent. */
async function done(config: object = {}, second = 'echo two > two.txt'): Promise<string> {
  const first = 'echo one > one.txt; echo "- Wrote one.txt" > "$RALPH_NOTES_FILE"'
  const cwd = repository({ 'T-001': first, 'T-002': second }, config)
  await run(cwd, '--loop')
  return cwd
}
const finished = madeOnce(done)
const sealed = madeOnce(() => done({ commit: { seal: true, digits: 4 } }))
/** The second only when it was tried again. */
const finishedAtLast = madeOnce(() => done({}, 'test "$RALPH_ATTEMPT" = 2 && echo two > two.txt'))

describe('ralph log', () => {
  it('lists what was completed, newest first, from git alone', async () => {
    const cwd = await finishedAtLast()
    rmSync(join(cwd, '.ralph'), { recursive: true })
    const { code, stdout } = await by(cwd, 'log')
    expect(code).toBe(0)
    expect(stdout.match(/^T-\d+/gm)).toEqual(['T-002', 'T-001'])
    expect(stdout).toMatch(/T-002 {2}Do T-002 {2}[0-9a-f]{7}\n {2}script · 2 attempts/)
  })

  it('is of one task, or since a tag, or in Markdown, or JSON', async () => {
    const cwd = await finished()
    git(cwd, 'tag', 'v1', 'HEAD~1')
    expect((await by(cwd, 'log', '1')).stdout.match(/^T-\d+/gm)).toEqual(['T-001'])
    expect((await by(cwd, 'log', '--since', 'v1')).stdout.match(/^T-\d+/gm)).toEqual(['T-002'])
    const notes = await by(cwd, 'log', '--markdown', '--since', 'v1')
    expect(notes.stdout).toMatch(/^## Other tasks\n\n- \*\*T-002\*\* Do T-002 \([0-9a-f]{7}\)/)
    const completions = ['T-002', 'T-001'].map((id) => ({ id, attempts: 1 }))
    expect(await jsonOf(cwd, 'log')).toMatchObject({ version: 1, completions })
  })

  it('has the titles of tasks, whatever subject their commits are given', async () => {
    const cwd = await done({ commit: { seal: false, subject: 'feat({id}): {title}' } })
    expect(git(cwd, 'log', '-1', '--format=%s')).toBe('feat(T-002): Do T-002')
    expect((await by(cwd, 'log', '2')).stdout).toMatch(/T-002 {2}Do T-002 {2}[0-9a-f]{7}\n/)
    expect(await jsonOf(cwd, 'show', '2')).toMatchObject({ completion: { title: 'Do T-002' } })
  })

  it.each([
    [['--markdown', '--json'], 'error: give one of --json and --markdown\n'],
    [['--since', 'nonsense'], "error: --since takes a date, a tag or another commit, not 'nonsense'\n"],
  ])('refuses %j', async (argv, stderr) => {
    const cwd = repository({ 'T-001': 'true' })
    expect(await by(cwd, 'log', ...argv)).toMatchObject({ code: 2, stderr })
  })

  it('says so where nothing is completed', async () => {
    const { stdout } = await by(repository({ 'T-001': 'true' }), 'log')
    expect(stdout).toBe('No commit in this history says that it completed a task.\n')
  })
})

it('ralph verify annotates a GitHub action, and writes its summary', async () => {
  const cwd = await finished()
  const summary = join(projectFolder({}), 'summary.md')
  const inAction = { ...env, GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary }
  const file = 'docs/tasks/T-001.md'
  const text = readFileSync(join(cwd, file), 'utf8')
  put(cwd, { [file]: text.replace('\n## Desc', '- **Commit**: 1234567\n\n## Desc') })
  const { code, stdout } = await ralph(['verify'], { cwd, env: inAction })
  expect(code).toBe(1)
  expect(stdout).toMatch(/^::error title=ralph verify::T-001: /m)
  expect(readFileSync(summary, 'utf8')).toMatch(
    /^### Commits of tasks\n\n```text\n[^]*2 tasks done: 1 match, 1 moved\n/,
  )
})

it.each(['log', 'stats', 'verify'])('ralph %s says so where there is no history', async (name) => {
  const cwd = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'One', { Status: 'DONE' }) })
  const first = async () => (await by(cwd, name)).stderr.split('\n')[0]
  expect(await first()).toBe('error: there is no git repository here')
  git(cwd, 'init', '--quiet')
  expect(await first()).toBe('error: this repository has no commit yet')
})

describe('ralph stats', () => {
  it('adds up by milestone, tier and agent', async () => {
    const cwd = await finished()
    const { total, agent, tier } = await jsonOf(cwd, 'stats')
    expect(total).toMatchObject({ tasks: 2, attempts: 2 })
    expect(agent).toMatchObject([{ name: 'script', tasks: 2 }])
    expect(tier).toMatchObject([{ name: 'Light', tasks: 2 }])
    expect((await by(cwd, 'stats')).stdout).toMatch(/^ {2}total +2 tasks +2 attempts/)
  })

  it('has milestones and tiers in their own order', async () => {
    const task = (id: string, fields: Record<string, string>): string =>
      `${taskText(id, `Do ${id}`, fields)}\n## Script\n\n\`\`\`sh\necho ${id} > ${id}\n\`\`\`\n`
    const cwd = repository({})
    put(cwd, {
      'docs/tasks/T-001.md': task('T-001', { Milestone: '1 — One' }),
      'docs/tasks/T-002.md': task('T-002', { Milestone: '2 — Two', Complexity: 'Heavy' }),
    })
    await run(cwd, '--loop', '--commit-tasks')
    const { milestone, tier } = await jsonOf(cwd, 'stats')
    expect(milestone).toMatchObject([{ name: '1 — One' }, { name: '2 — Two' }])
    expect(tier).toMatchObject([{ name: 'Light' }, { name: 'Heavy' }])
  })
})

it('ralph show has the commit that completed a task, and its attempts', async () => {
  const cwd = await finishedAtLast()
  const { stdout } = await by(cwd, 'show', '2')
  expect(stdout).toContain(git(cwd, 'rev-parse', '--short=10', 'HEAD'))
  expect(stdout).toContain('1 attempt kept, the last: agent-failed (ralph attempts T-002)')
  const shown = { attempts: [{ outcome: 'agent-failed' }], completion: { id: 'T-002' } }
  expect(await jsonOf(cwd, 'show', '2')).toMatchObject(shown)
})

describe('ralph verify', () => {
  const states = async (cwd: string): Promise<string[]> =>
    (await jsonOf(cwd, 'verify')).tasks.map(({ state }: { state: string }) => state)

  it('finds sealed commits that name themselves, and else takes the trailer', async () => {
    const cwd = await sealed()
    expect(await states(cwd)).toEqual(['sealed', 'sealed'])
    expect((await by(cwd, 'verify')).code).toBe(0)
    expect(await states(await finished())).toEqual(['matches', 'matches'])
  })

  it('reports a task that is DONE though its commit was reverted', async () => {
    const cwd = await sealed()
    git(cwd, 'revert', '--no-commit', 'HEAD')
    git(cwd, 'checkout', 'HEAD', '--', 'docs')
    git(cwd, 'commit', '--quiet', '--no-edit')
    const undone = git(cwd, 'rev-parse', '--short=7', 'HEAD~1')
    expect(await by(cwd, 'verify')).toMatchObject({
      code: 0,
      stdout: `↺  T-002  ${undone}  reverted since, though the file is DONE\n\n2 tasks done: 2 sealed\n`,
    })
    expect((await jsonOf(cwd, 'verify')).tasks).toMatchObject([{ reverted: false }, { reverted: true }])
  })

  it('finds a commit that has moved by its trailer, and names it anew in one commit', async () => {
    const cwd = await sealed()
    git(cwd, 'commit', '--quiet', '--amend', '--no-edit', '--date=2020-01-01T00:00:00')
    expect(await states(cwd)).toEqual(['sealed', 'moved'])
    const moved = git(cwd, 'rev-parse', 'HEAD')
    expect((await by(cwd, 'verify')).code).toBe(1)

    expect((await by(cwd, 'verify', '--fix')).code).toBe(0)
    expect(git(cwd, 'rev-parse', 'HEAD~1')).toBe(moved)
    expect(git(cwd, 'diff', '--name-only', 'HEAD~1')).toBe('docs/tasks/T-002.md')
    const text = readFileSync(join(cwd, 'docs/tasks/T-002.md'), 'utf8')
    expect(text).toContain(`- **Commit**: ${moved.slice(0, 4)}\n`)
    expect(await states(cwd)).toEqual(['sealed', 'matches'])
  })

  it('misses what no commit completed', async () => {
    const cwd = repository({ 'T-001': 'true' })
    put(cwd, { 'docs/tasks/T-001.md': taskText('T-001', 'One', { Status: 'DONE', Commit: 'abc1234' }) })
    expect(await states(cwd)).toEqual(['missing'])
  })
})

it('ralph doctor finds a project well that can run, or names what keeps a run from starting', async () => {
  const well = await by(repository({ 'T-001': 'true' }, { agent: 'script' }), 'doctor')
  expect(well).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Nothing stands in the way of a run.'),
  })
  const cwd = repository({ 'T-001': 'true' }, { agent: 'codex' })
  const { code, stdout } = await ralph(['doctor', '--json'], { cwd, env: { ...env, PATH: '/usr/bin:/bin' } })
  const { findings, ok } = JSON.parse(stdout)
  expect([code, ok]).toEqual([1, false])
  const problems = findings.filter(({ level }: { level: string }) => level === 'problem')
  expect(problems).toMatchObject([{ area: 'agents', message: 'codex is not installed' }])
})
