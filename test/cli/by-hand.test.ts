import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { by, jsonOf } from './ralph.ts'
import { git, put } from '../repository.ts'
import { repository, run } from './script-repository.ts'

const read = (cwd: string, file = 'docs/tasks/T-001.md'): string => readFileSync(join(cwd, file), 'utf8')
const preCommit = (cwd: string, script: string): void =>
  put(cwd, { '.git/hooks/pre-commit': `#!/bin/sh\n${script}\n` })
const passes = { gates: [{ name: 'one', command: 'test -f one.txt' }] }

describe('ralph complete', () => {
  it('lands what a person has done as it does the work of an agent', async () => {
    const cwd = repository({ 'T-001': 'false' }, { ...passes, commit: { seal: true, digits: 4 } })
    put(cwd, { 'one.txt': 'one\n' })
    const { code, stdout } = await by(cwd, 'complete', '1')
    expect(stdout).toContain('✓ one')
    expect(code).toBe(0)
    const commit = git(cwd, 'rev-parse', 'HEAD')
    expect(stdout).toContain(`T-001 is DONE in ${commit.slice(0, 10)}`)
    expect(git(cwd, 'log', '-1', '--format=%s%n%(trailers:key=Agent)%(trailers:key=Gates)')).toBe(
      'T-001: Do T-001\nAgent: human\nGates: one',
    )
    expect(git(cwd, 'show', '--format=', '--name-only').split('\n')).toEqual([
      'docs/tasks/T-001.md',
      'one.txt',
    ])
    expect(read(cwd)).toContain(`- **Commit**: ${commit.slice(0, 4)}\n`)
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    expect(git(cwd, 'for-each-ref', 'refs/ralph')).toBe('')
    expect(existsSync(join(cwd, '.ralph/run.json'))).toBe(false)
    expect(await jsonOf(cwd, 'verify')).toMatchObject({
      tasks: [{ state: 'sealed' }],
    })
  })

  it('checks it in a clean room, which has of what git ignores only what is named', async () => {
    const gates = [{ name: 'env', command: 'test -f .env' }]
    const cwd = repository({ 'T-001': 'false' }, { gates })
    for (const [file, text] of Object.entries({ '.git/info/exclude': '.env\n', '.env': '', 'one.txt': '' }))
      writeFileSync(join(cwd, file), text)
    expect(await by(cwd, 'complete', '1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('env: '),
    })
    const config = { commit: { seal: false }, gates, workspace: { copy: ['.env'] } }
    put(cwd, { 'ralph.config.json': JSON.stringify(config) })
    git(cwd, 'commit', '--quiet', '--message=Copy it', 'ralph.config.json')
    expect((await by(cwd, 'complete', '1')).code).toBe(0)
    expect(git(cwd, 'show', '--format=', '--name-only').split('\n')).toEqual([
      'docs/tasks/T-001.md',
      'one.txt',
    ])
  })

  it('leaves the tree as it is where a gate fails, and says why', async () => {
    const cwd = repository({ 'T-001': 'false' }, passes)
    put(cwd, { 'two.txt': 'two\n' })
    const { code, stderr } = await by(cwd, 'complete', '1')
    expect(code).toBe(1)
    expect(stderr).toContain('error: T-001 is not completed: one: exited with code 1')
    expect(git(cwd, 'status', '--porcelain')).toBe('?? two.txt')
    expect(git(cwd, 'log', '--format=%s')).toBe('Begin')
    const { stdout, code: again } = await by(cwd, 'complete', '1', '--json')
    expect(again).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ id: 'T-001', status: 'TODO', commit: null, gates: [{}] })
  })

  it('leaves it as it is where a hook refuses the commit, or spoils it', async () => {
    const cwd = repository({ 'T-001': 'false' }, passes)
    put(cwd, { 'one.txt': 'one\n' })
    const edited = read(cwd).replace('## Script', '## Notes\n\nMine.\n\n## Script')
    put(cwd, { 'docs/tasks/T-001.md': edited })
    for (const script of ['exit 1', 'git rm --quiet --force one.txt']) {
      preCommit(cwd, script)
      expect((await by(cwd, 'complete', '1')).code).toBe(1)
      expect(read(cwd)).toBe(edited)
      expect(git(cwd, 'log', '--format=%s')).toBe('Begin')
    }
    // What the hook took out of the tree is in the record.
    expect(git(cwd, 'show', 'refs/ralph/attempts/T-001/1:one.txt')).toBe('one')
  })

  it('takes over from an agent that was blocked, with what its attempts have cost', async () => {
    const cwd = repository({ 'T-001': 'exit 1' }, { retries: 1 })
    await run(cwd)
    expect(read(cwd)).toContain('BLOCKED')
    put(cwd, { 'one.txt': 'one\n' })
    expect((await by(cwd, 'complete', '1')).code).toBe(0)
    expect(read(cwd)).toContain('- **Status**: DONE')
    expect(read(cwd)).not.toContain('## Blocked')
    expect(read(cwd)).toContain('## Previous Attempts')
  })

  it('refuses what is done, and what Produces names and is not there', async () => {
    const cwd = repository({ 'T-001': 'true' })
    put(cwd, { 'docs/tasks/T-001.md': `${read(cwd)}\n## Produces\n- \`gone.ts\`\n` })
    expect((await by(cwd, 'complete', '1')).stderr).toContain('not there though Produces names it: gone.ts')
    put(cwd, { 'gone.ts': '' })
    expect((await by(cwd, 'complete', '1')).code).toBe(0)
    expect((await by(cwd, 'complete', '1')).stderr).toContain('T-001 is DONE already')
  })

  it('waits for a run that died, and is no match for one that lives', async () => {
    const cwd = repository({ 'T-001': 'true' })
    await by(cwd, 'block', '1', 'so that there is a folder')
    const jobs = [{ workspace: 1, attempt: { task: 'T-001', phase: 'working' } }]
    const note = { version: 3, mark: 'x', processes: [], startedAt: '', jobs }
    put(cwd, { '.ralph/run.json': JSON.stringify(note) })
    expect((await by(cwd, 'complete', '1')).stderr).toContain('a run died while it worked on T-001')
  })
})

describe('ralph block', () => {
  it('blocks a task in a commit of its own, and leaves other work alone', async () => {
    const cwd = repository({ 'T-001': 'true' })
    put(cwd, { 'mine.txt': '' })
    const { code, stdout } = await by(cwd, 'block', '1', 'the *key* is missing')
    expect([code, stdout]).toEqual([0, 'T-001 is BLOCKED. To go on: ralph retry T-001\n'])
    expect(read(cwd)).toMatch(
      /- \*\*Status\*\*: BLOCKED[\s\S]*## Blocked\n+the \\\*key\\\* is missing\n\nTo try again:/,
    )
    expect(git(cwd, 'log', '-1', '--format=%s')).toBe('T-001: Block: the *key* is missing')
    expect(git(cwd, 'status', '--porcelain')).toBe('?? mine.txt')
    const again = await by(cwd, 'block', '1', 'why')
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('T-001 is BLOCKED')])
    expect((await by(cwd, 'retry', '1')).code).toBe(0)
    // There was no attempt.
    expect(read(cwd)).not.toMatch(/Previous Attempts|key/)
    expect((await by(cwd, 'block', '1', ' ')).code).toBe(2)
  })
})

describe('ralph reopen', () => {
  const SEALED = { commit: { seal: true, digits: 4 } }
  const work = (name: string): string => `echo ${name} > ${name}.txt`

  it('makes a task TODO again in a commit, and keeps what was known of it for the next attempt', async () => {
    const cwd = repository({ 'T-001': `test -f now && ${work('one')}` }, { retries: 1, ...SEALED })
    await run(cwd)
    put(cwd, { now: '', 'one.txt': 'one\n' })
    await by(cwd, 'complete', '1')
    const [, commit] = /\*\*Commit\*\*: (\w+)/.exec(read(cwd))!
    const { code, stdout } = await by(cwd, 'reopen', '1', 'it is not *one*')
    expect([code, stdout]).toEqual([0, 'T-001 is TODO again. Next: ralph run T-001\n'])
    expect(read(cwd)).toContain('- **Status**: TODO')
    expect(read(cwd)).not.toMatch(/^- \*\*(?:Completed|Commit)/m)
    expect(read(cwd)).toMatch(
      new RegExp(`## Previous Attempts[^]*commit ${commit}\n\n\\*\\*Reopened\\*\\*: it is not`),
    )
    expect(git(cwd, 'log', '-1', '--format=%s')).toBe('T-001: Reopen: it is not *one*')
    expect(await jsonOf(cwd, 'attempts', '1')).toMatchObject({ attempts: [{}, { final: true }] })
    expect(git(cwd, 'status', '--porcelain')).toBe('')
  })

  it('is for a task that is DONE, and that no DONE task needs', async () => {
    const cwd = repository({ 'T-001': work('one'), 'T-002': work('two') })
    expect((await by(cwd, 'reopen', '1')).stderr).toContain(
      'only a task that is DONE can be reopened: T-001 is TODO',
    )
    const file = 'docs/tasks/T-002.md'
    put(cwd, { [file]: read(cwd, file).replace('Depends**: none', 'Depends**: T-001') })
    git(cwd, 'commit', '--quiet', '--all', '--message=Order')
    expect((await run(cwd, '--loop')).code).toBe(0)
    const { code, stderr } = await by(cwd, 'reopen', '1')
    expect([code, stderr.split('\n')[0]]).toEqual([
      2,
      'error: T-001 cannot be TODO while tasks that need it are DONE: T-002',
    ])
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    expect((await by(cwd, 'reopen', '2')).code).toBe(0)
    expect((await by(cwd, 'reopen', '1')).code).toBe(0)
  })
})

it('no hook sees the commits of ralph block and ralph retry', async () => {
  const cwd = repository({ 'T-001': 'true' })
  preCommit(cwd, 'exit 1')
  expect((await by(cwd, 'block', '1', 'why')).code).toBe(0)
  expect((await by(cwd, 'retry', '1')).code).toBe(0)
})

describe('ralph answer', () => {
  const asked = async (): Promise<string> => {
    const cwd = repository({ 'T-001': 'true' })
    const command = `echo '<TASK_BLOCKED reason="Which licence?">'`
    const { code, stdout } = await by(cwd, 'run', '--agent', 'command', '--command', command)
    expect(code).toBe(1)
    expect(stdout).toContain('blocked, with a question: ralph answer T-001 "…"')
    expect(stdout).toContain('Next: ralph answer T-001 "…"')
    expect(stdout).not.toContain('failed')
    return cwd
  }

  it.each([
    ['answer', ['answer', '1', 'MIT']],
    ['retry --answer', ['retry', '1', '--answer', 'MIT']],
  ])('stands under the question, in the file and in the next prompt: ralph %s', async (_, argv) => {
    const cwd = await asked()
    expect(read(cwd)).toContain('Its agent asks. To answer: `ralph answer T-001 "…"`.')
    const { code, stdout } = await by(cwd, ...argv)
    expect([code, stdout]).toEqual([0, 'T-001 is TODO again. Next: ralph run T-001\n'])
    const both = 'Which licence?\n\n**Answer**: MIT\n'
    expect(read(cwd)).toContain(`## Previous Attempts\n\n${both}`)
    expect(read(cwd)).toContain('- **Status**: TODO')
    expect((await by(cwd, 'prompt', '1')).stdout).toContain(both)
    expect(git(cwd, 'log', '-1', '--format=%s')).toBe('T-001: Answer: MIT')
    expect((await by(cwd, ...argv)).stderr).toContain('T-001 is not blocked: it is TODO')
  })

  it('is what ralph next offers', async () => {
    const { stdout } = await by(await asked(), 'next', '--explain')
    expect(stdout).toContain('blocked: Which licence?  ralph answer T-001 "…"')
  })

  it('needs a text', async () => {
    const cwd = await asked()
    expect((await by(cwd, 'answer', '1', '')).stderr).toContain('an answer needs a text')
  })
})
