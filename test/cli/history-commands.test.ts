import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { env, git, projectFolder, taskText } from '../repository.ts'
import { repository, run } from './script-repository.ts'
import { ralph } from './ralph.ts'

/** Two tasks done by the embedded agent. */
async function finished(config: object = {}, second = 'echo two > two.txt'): Promise<string> {
  const first = 'echo one > one.txt; echo "- Wrote one.txt" > "$RALPH_NOTES_FILE"'
  const cwd = repository({ 'T-001': first, 'T-002': second }, config)
  await run(cwd, '--loop')
  return cwd
}

/** The same, the second only when it was tried again. */
const finishedAtLast = (): Promise<string> => finished({}, 'test "$RALPH_ATTEMPT" = 2 && echo two > two.txt')

describe('ralph log', () => {
  it('tells what was completed, newest first, from git alone', async () => {
    const cwd = await finishedAtLast()
    rmSync(join(cwd, '.ralph'), { recursive: true })
    const { code, stdout } = await ralph(['log'], { cwd, env })
    expect(code).toBe(0)
    expect(stdout.match(/^T-\d+/gm)).toEqual(['T-002', 'T-001'])
    expect(stdout).toMatch(/T-002 {2}Do T-002 {2}[0-9a-f]{7}\n {2}script · 2 attempts/)
  })

  it('is of one task, or since a tag, or in Markdown, or JSON, where asked', async () => {
    const cwd = await finished()
    git(cwd, 'tag', 'v1', 'HEAD~1')
    const one = await ralph(['log', '1'], { cwd, env })
    expect(one.stdout.match(/^T-\d+/gm)).toEqual(['T-001'])
    const since = await ralph(['log', '--since', 'v1'], { cwd, env })
    expect(since.stdout.match(/^T-\d+/gm)).toEqual(['T-002'])
    const notes = await ralph(['log', '--markdown', '--since', 'v1'], { cwd, env })
    expect(notes.stdout).toMatch(/^## Other tasks\n\n- \*\*T-002\*\* Do T-002 \([0-9a-f]{7}\)/)
    const json = JSON.parse((await ralph(['log', '--json'], { cwd, env })).stdout)
    expect(json).toMatchObject({
      version: 1,
      completions: [
        { id: 'T-002', attempts: 1 },
        { id: 'T-001', attempts: 1 },
      ],
    })
  })

  it('has the titles of tasks, whatever subject their commits are given', async () => {
    const cwd = await finished({ commit: { seal: false, subject: 'feat({id}): {title}' } })
    expect(git(cwd, 'log', '-1', '--format=%s')).toBe('feat(T-002): Do T-002')
    expect((await ralph(['log', '2'], { cwd, env })).stdout).toMatch(/T-002 {2}Do T-002 {2}[0-9a-f]{7}\n/)
    const shown = JSON.parse((await ralph(['show', '2', '--json'], { cwd, env })).stdout)
    expect(shown).toMatchObject({ completion: { title: 'Do T-002' } })
  })

  it('is in one form, not in two', async () => {
    const cwd = repository({ 'T-001': 'true' })
    expect(await ralph(['log', '--markdown', '--json'], { cwd, env })).toMatchObject({
      code: 2,
      stderr: 'error: give one of --json and --markdown\n',
    })
  })

  it('refuses a time that git would silently take for now', async () => {
    const { code, stderr } = await ralph(['log', '--since', 'nonsense'], {
      cwd: repository({ 'T-001': 'true' }),
      env,
    })
    expect(code).toBe(2)
    expect(stderr).toBe("error: --since takes a date, a tag or another commit, not 'nonsense'\n")
  })

  it('says so where nothing is completed', async () => {
    const { stdout } = await ralph(['log'], { cwd: repository({ 'T-001': 'true' }), env })
    expect(stdout).toBe('No commit in this history says that it completed a task.\n')
  })
})

describe('ralph verify inside a GitHub action', () => {
  it('says beside the run and in its summary which commits are not as the files say', async () => {
    const cwd = await finished()
    const summary = join(cwd, '..', `summary-${git(cwd, 'rev-parse', 'HEAD')}.md`)
    const inAction = { ...env, GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary }
    const file = join(cwd, 'docs/tasks/T-001.md')
    writeFileSync(file, readFileSync(file, 'utf8').replace('\n## Desc', '- **Commit**: 1234567\n\n## Desc'))
    const { code, stdout } = await ralph(['verify'], { cwd, env: inAction })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^::error title=ralph verify::T-001: /m)
    expect(readFileSync(summary, 'utf8')).toMatch(
      /^### Commits of tasks\n\n```text\n[^]*2 tasks done: 1 match, 1 moved\n/,
    )
    rmSync(summary)
  })
})

describe('a command that reads history', () => {
  it.each(['log', 'stats', 'verify'])('%s says so where there is none', async (name) => {
    const cwd = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'One', { Status: 'DONE' }) })
    const first = async (): Promise<string | undefined> =>
      (await ralph([name], { cwd, env })).stderr.split('\n')[0]
    expect(await first()).toBe('error: there is no git repository here')
    git(cwd, 'init', '--quiet')
    expect(await first()).toBe('error: this repository has no commit yet')
  })
})

describe('ralph stats', () => {
  it('adds up by milestone, tier and agent', async () => {
    const cwd = await finished()
    const { total, agent, tier } = JSON.parse((await ralph(['stats', '--json'], { cwd, env })).stdout)
    expect(total).toMatchObject({ tasks: 2, attempts: 2 })
    expect(agent).toMatchObject([{ name: 'script', tasks: 2 }])
    expect(tier).toMatchObject([{ name: 'Light', tasks: 2 }])
    expect((await ralph(['stats'], { cwd, env })).stdout).toMatch(/^ {2}total +2 tasks +2 attempts/)
  })

  it('has milestones and tiers in their own order', async () => {
    const task = (id: string, fields: Record<string, string>): string =>
      `${taskText(id, `Do ${id}`, fields)}\n## Script\n\n\`\`\`sh\necho ${id} > ${id}\n\`\`\`\n`
    const cwd = repository({})
    mkdirSync(join(cwd, 'docs/tasks'), { recursive: true })
    writeFileSync(join(cwd, 'docs/tasks/T-001.md'), task('T-001', { Milestone: '1 — One' }))
    writeFileSync(
      join(cwd, 'docs/tasks/T-002.md'),
      task('T-002', { Milestone: '2 — Two', Complexity: 'Heavy' }),
    )
    await run(cwd, '--loop', '--commit-tasks')
    const { milestone, tier } = JSON.parse((await ralph(['stats', '--json'], { cwd, env })).stdout)
    expect(milestone).toMatchObject([{ name: '1 — One' }, { name: '2 — Two' }])
    expect(tier).toMatchObject([{ name: 'Light' }, { name: 'Heavy' }])
  })
})

describe('ralph show', () => {
  it('has the commit that completed a task, and what was tried', async () => {
    const cwd = await finishedAtLast()
    const { stdout } = await ralph(['show', '2'], { cwd, env })
    expect(stdout).toContain(git(cwd, 'rev-parse', '--short=10', 'HEAD'))
    expect(stdout).toContain('1 attempt kept, the last: agent-failed (ralph attempts T-002)')
    const json = JSON.parse((await ralph(['show', '2', '--json'], { cwd, env })).stdout)
    expect(json).toMatchObject({ attempts: [{ outcome: 'agent-failed' }], completion: { id: 'T-002' } })
  })
})

describe('ralph verify', () => {
  const sealed = { commit: { seal: true, digits: 4 } }
  const states = async (cwd: string): Promise<string[]> => {
    const { stdout } = await ralph(['verify', '--json'], { cwd, env })
    return JSON.parse(stdout).tasks.map(({ state }: { state: string }) => state)
  }

  it('finds sealed commits that name themselves', async () => {
    const cwd = await finished(sealed)
    expect(await states(cwd)).toEqual(['sealed', 'sealed'])
    expect((await ralph(['verify'], { cwd, env })).code).toBe(0)
  })

  it('tells of a task that is DONE though its commit was reverted', async () => {
    const cwd = await finished(sealed)
    git(cwd, 'revert', '--no-commit', 'HEAD')
    git(cwd, 'checkout', 'HEAD', '--', 'docs')
    git(cwd, 'commit', '--quiet', '--no-edit')
    const undone = git(cwd, 'rev-parse', '--short=7', 'HEAD~1')
    const { code, stdout } = await ralph(['verify'], { cwd, env })
    expect(code).toBe(0)
    expect(stdout).toBe(
      `↺  T-002  ${undone}  reverted since, though the file is DONE\n\n2 tasks done: 2 sealed\n`,
    )
    const { tasks } = JSON.parse((await ralph(['verify', '--json'], { cwd, env })).stdout)
    expect(tasks).toMatchObject([{ reverted: false }, { reverted: true }])
  })

  it('is content with the trailer where commits are not sealed', async () => {
    expect(await states(await finished())).toEqual(['matches', 'matches'])
  })

  it('finds commits that have moved by their trailer, and names them anew in one commit', async () => {
    const cwd = await finished(sealed)
    git(cwd, 'commit', '--quiet', '--amend', '--no-edit', '--date=2020-01-01T00:00:00')
    expect(await states(cwd)).toEqual(['sealed', 'moved'])
    const moved = git(cwd, 'rev-parse', 'HEAD')
    expect((await ralph(['verify'], { cwd, env })).code).toBe(1)

    expect((await ralph(['verify', '--fix'], { cwd, env })).code).toBe(0)
    expect(git(cwd, 'rev-parse', 'HEAD~1')).toBe(moved)
    expect(git(cwd, 'diff', '--name-only', 'HEAD~1')).toBe('docs/tasks/T-002.md')
    expect(readFileSync(join(cwd, 'docs/tasks/T-002.md'), 'utf8')).toContain(
      `- **Commit**: ${moved.slice(0, 4)}\n`,
    )
    expect(await states(cwd)).toEqual(['sealed', 'matches'])
  })

  it('finds both where several commits became one', async () => {
    const cwd = await finished(sealed)
    const message = git(cwd, 'log', '-2', '--format=%B')
    git(cwd, 'reset', '--quiet', '--soft', 'HEAD~2')
    git(cwd, 'commit', '--quiet', '--cleanup=verbatim', `--message=Squash\n\n${message}`)
    expect(await states(cwd)).toEqual(['moved', 'moved'])
    expect((await ralph(['verify', '--fix'], { cwd, env })).code).toBe(0)
  })

  it('misses what no commit tells of', async () => {
    const cwd = repository({ 'T-001': 'true' })
    const file = join(cwd, 'docs/tasks/T-001.md')
    const text = readFileSync(file, 'utf8')
      .replace('TODO', 'DONE')
      .replace('- **Depends**', '- **Commit**: abc1234\n- **Depends**')
    writeFileSync(file, text)
    expect(await states(cwd)).toEqual(['missing'])
  })
})

describe('ralph doctor', () => {
  it('finds a project well that can run', async () => {
    const cwd = repository({ 'T-001': 'true' }, { agent: 'script' })
    const { code, stdout } = await ralph(['doctor'], { cwd, env })
    expect(stdout).toContain('Nothing stands in the way of a run.')
    expect(code).toBe(0)
  })

  it('names each thing that keeps a run from starting, and what to do', async () => {
    const cwd = repository({ 'T-001': 'true' }, { agent: 'codex' })
    const { code, stdout } = await ralph(['doctor', '--json'], {
      cwd,
      env: { ...env, PATH: '/usr/bin:/bin' },
    })
    expect(code).toBe(1)
    const { findings, ok } = JSON.parse(stdout)
    expect(ok).toBe(false)
    const problems = findings.filter(({ level }: { level: string }) => level === 'problem')
    expect(problems).toMatchObject([{ area: 'agents', message: 'codex is not installed' }])
  })
})
