import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { git, makeFolder, makeRepository, put } from '../git/repository.ts'
import { makeProject, read, runAll, taskText } from './harness.ts'
import { gateOf, type Harness } from './ports.ts'

const tasks = { 'T-1': taskText('T-1') }
const deed = (root: string) => () => put(root, { work: '' })

async function refusal(root: string, more: Partial<Harness> = {}): Promise<UserError> {
  const head = () => git(root, 'rev-parse', '--quiet', '--verify', '--default', 'refs/heads/none', 'HEAD')
  const error = await runAll({ root, deed: ({ cwd }) => put(cwd, { 'agent-ran': '' }), ...more }).then(
    () => new Error('it ran'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof UserError)) throw error
  expect(existsSync(join(root, 'agent-ran'))).toBe(false)
  expect(existsSync(join(root, '.ralph/lock'))).toBe(false)
  expect(head).not.toBeNull()
  return error
}

describe('a run refuses', () => {
  it('what is not committed, listing it', async () => {
    const root = makeProject(tasks)
    put(root, { 'README.md': 'changed', 'notes.txt': '' })
    git(root, 'add', 'README.md')
    const { message, fix } = await refusal(root)
    expect(message).toBe(
      "2 files are not committed, and a run could not tell them from the agent's work:\n  M README.md\n  ? notes.txt",
    )
    expect(fix).toContain('git worktree add ../')
    expect(read(root, 'notes.txt')).toBe('')

    git(root, 'rm', '-q', '-f', 'README.md')
    git(root, 'commit', '-q', '-m', 'Remove it')
    const one = await refusal(root)
    expect(one.message).toMatch(/^1 file is not committed, and a run could not tell it from/)
    expect(one.fix).toMatch(/^Commit or stash it, or/)
  })

  it('a repository without a commit', async () => {
    const root = makeRepository({})
    put(root, { 'docs/tasks/T-1.md': taskText('T-1') })
    expect((await refusal(root)).message).toContain('no commit yet')
  })

  it('an operation under way', async () => {
    const root = makeProject(tasks)
    git(root, 'bisect', 'start')
    expect((await refusal(root)).message).toBe('a bisect is under way')
  })

  it('an identity that git does not know', async () => {
    const root = makeProject(tasks)
    git(root, 'config', '--unset', 'user.email')
    git(root, 'config', 'user.useConfigOnly', 'true')
    expect((await refusal(root)).message).toContain('git does not know who commits')
  })

  it('a key that git cannot sign with', async () => {
    const root = makeProject(tasks)
    git(root, 'config', 'commit.gpgSign', 'true')
    git(root, 'config', 'gpg.program', join(root, 'no-such-program'))
    expect((await refusal(root)).message).toContain('git is to sign commits, and cannot: ')
  })

  it('gates where there is no shell to run them', async () => {
    const root = makeProject(tasks)
    const error = await refusal(root, { options: { gates: [gateOf('test')] }, ports: { shell: null } })
    expect(error).toMatchObject({
      message: 'the gates cannot run: there is no POSIX shell: install Git for Windows, which brings one',
      exitCode: 2,
    })
  })

  it('a lock that another git has left', async () => {
    const root = makeProject(tasks)
    writeFileSync(join(root, '.git/index.lock'), '')
    const { message, fix } = await refusal(root)
    expect(message).toContain('left its lock')
    expect(fix).toContain(join(root, '.git/index.lock'))
  })

  it('a task folder that is ignored', async () => {
    const root = makeProject(tasks, { '.gitignore': '.ralph/\ndocs/\n' })
    expect((await refusal(root)).message).toContain('git ignores the task folder docs/tasks')
  })
})

describe('task files that are not committed', () => {
  function drafted(): string {
    const root = makeProject(tasks)
    put(root, { 'docs/tasks/T-1.md': taskText('T-1') + 'more\n', 'docs/tasks/T-2.md': taskText('T-2') })
    return root
  }

  it('are refused with the flag that commits them', async () => {
    expect((await refusal(drafted())).fix).toContain('--commit-tasks')
  })

  it('are committed first where that is asked for', async () => {
    const root = drafted()
    put(root, { 'ralph.config.json': '{}' })
    await runAll({ root, deed: deed(root), options: { commitTasks: true, loop: false } })
    expect(git(root, 'log', '--format=%s').split('\n')).toEqual([
      'T-1: Do T-1',
      'Write down T-1, T-2, ralph.config.json',
      'Begin',
    ])
  })

  it('are committed first where a person says so', async () => {
    const root = drafted()
    const asked: unknown[] = []
    const askToCommit = async (paths: readonly string[]) => asked.push(paths) > 0
    await runAll({ root, deed: deed(root), options: { loop: false }, ports: { askToCommit } })
    expect(asked).toEqual([['docs/tasks/T-1.md', 'docs/tasks/T-2.md']])
    expect(git(root, 'rev-list', '--count', 'HEAD')).toBe('3')
  })

  it('are not committed where nobody answers in time', async () => {
    const root = drafted()
    const askToCommit = (_: readonly string[], signal: AbortSignal) =>
      new Promise<boolean>((resolve) => signal.addEventListener('abort', () => resolve(false)))
    const refused = await refusal(root, { options: { askSeconds: 0.01 }, ports: { askToCommit } })
    expect(refused.message).toContain('2 files')
    expect(git(root, 'rev-list', '--count', 'HEAD')).toBe('1')
  })

  it('are not committed together with anything else', async () => {
    const root = drafted()
    put(root, { other: '' })
    expect((await refusal(root, { options: { commitTasks: true } })).message).toContain('3 files')
  })
})

describe('a run works', () => {
  it('on a detached HEAD', async () => {
    const root = makeProject(tasks)
    git(root, 'checkout', '-q', '--detach')
    const main = git(root, 'rev-parse', 'main')
    await runAll({ root, deed: deed(root) })
    expect(git(root, 'log', '-1', '--format=%s %P')).toBe(`T-1: Do T-1 ${main}`)
    expect(git(root, 'rev-parse', 'main')).toBe(main)
    expect(() => git(root, 'symbolic-ref', '-q', 'HEAD')).toThrow('Command failed')
  })

  it('in a linked worktree, with a lock of its own', async () => {
    const main = makeProject(tasks)
    const root = join(makeFolder(), 'tree')
    git(main, 'worktree', 'add', '-q', root, '-b', 'side')
    put(main, { '.ralph/lock': 'held by somebody' })
    await runAll({ root, deed: deed(root) })
    expect(git(main, 'log', '-1', '--format=%s', 'side')).toBe('T-1: Do T-1')
    expect(git(main, 'log', '-1', '--format=%s', 'main')).toBe('Begin')
  })

  it('in a project below the top of its repository', async () => {
    const top = makeRepository({
      'packages/shop/docs/tasks/T-1.md': taskText('T-1'),
      '.gitignore': '.ralph/\n',
    })
    const root = join(top, 'packages/shop')
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { work: '', 'docs/tasks/T-1.md': 'mine' })
        put(top, { beside: '' })
      },
    })
    expect(git(top, 'show', '--format=', '--name-only').split('\n')).toEqual([
      'beside',
      'packages/shop/docs/tasks/T-1.md',
      'packages/shop/work',
    ])
    expect(git(top, 'status', '--porcelain')).toBe('')
  })

  it('with every kind of name, mode, link and line ending', async () => {
    const root = makeProject(tasks, { '.gitattributes': '*.txt text eol=crlf\n', old: 'x\n'.repeat(40) })
    git(root, 'config', 'core.quotepath', 'true')
    git(root, 'config', 'core.safecrlf', 'warn')
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, {
          'two\nlines': 'a',
          '한국 어': 'b',
          '-dash': 'c',
          ':(glob)*': 'd',
          'crlf.txt': 'a\r\nb\r\n',
          ' ': 'e',
        })
        git(cwd, 'mv', 'old', 'moved')
        writeFileSync(join(cwd, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 })
      },
    })
    expect(git(root, 'status', '--porcelain')).toBe('')
    expect(git(root, 'ls-tree', '-z', '--name-only', 'HEAD').split('\0')).toEqual(
      expect.arrayContaining(['two\nlines', '한국 어', '-dash', ':(glob)*', 'moved', ' ']),
    )
    expect(git(root, 'ls-tree', 'HEAD', 'run.sh')).toContain('100755')
  })
})
