import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/base/errors.ts'
import { git, makeFolder, makeRepository, put } from '../repository.ts'
import { changedIn, log, makeProject, read, runAll, status, taskText, those } from './harness.ts'
import type { Deed } from './ports.ts'

const deed: Deed = ({ cwd }) => put(cwd, { work: '' })

it.each<[string, Readonly<Record<string, string>>, (root: string) => unknown, string]>([
  [
    'an identity that git does not know',
    {},
    (root) => (
      git(root, 'config', '--unset', 'user.email'),
      git(root, 'config', 'user.useConfigOnly', 'true')
    ),
    'git does not know who commits',
  ],
  [
    'a key that git cannot sign with',
    {},
    (root) => (
      git(root, 'config', 'commit.gpgSign', 'true'),
      git(root, 'config', 'gpg.program', join(root, 'no-such-program'))
    ),
    'git is to sign commits, and cannot: ',
  ],
  [
    'a task folder that is ignored',
    { '.gitignore': '.ralph/\ndocs/\n' },
    () => undefined,
    'git ignores the task folder docs/tasks',
  ],
  [
    'a filter that runs a file of the repository',
    { '.gitattributes': '*.md filter=own\n', 'own.sh': 'cat\n' },
    (root) => git(root, 'config', 'filter.own.clean', 'sh own.sh'),
    "git's filter own runs a file of the repository",
  ],
])('a run refuses %s', async (_, files, prepare, message) => {
  const root = makeProject(1, files)
  prepare(root)
  let hasRun = false
  const running = runAll({ root, deed: () => void (hasRun = true) })
  await expect(running).rejects.toThrow(UserError)
  await expect(running).rejects.toThrow(message)
  expect([hasRun, existsSync(join(root, '.ralph/lock'))]).toEqual([false, false])
})

describe('what a person has in the checkout', () => {
  it.each([
    [
      'a bisect',
      (root: string) => git(root, 'bisect', 'start'),
      (root: string) => git(root, 'bisect', 'reset'),
      'a bisect',
    ],
    [
      'a lock that another git has left',
      (root: string) => writeFileSync(join(root, '.git/index.lock'), ''),
      (root: string) => rmSync(join(root, '.git/index.lock')),
      'another git is at work in the checkout',
    ],
  ])('holds the work, which lands once it is over: %s', async (_, begin, end, reason) => {
    const root = makeProject()
    begin(root)
    const events = await runAll({ root, deed })
    expect(those(events, 'run-finished')).toMatchObject([
      { end: 'held', reason: expect.stringContaining(reason) as string },
    ])
    expect(log(root)).toBe('Begin')
    // Its end fails if the run has ended it.
    end(root)
    await runAll({ root, deed: () => expect.fail('the work is there') })
    expect(log(root)).toBe('T-1: Do T-1\nBegin')
    expect(status(root)).toBe('')
  })
})

describe('a run works', () => {
  it('on a detached HEAD', async () => {
    const root = makeProject()
    git(root, 'checkout', '-q', '--detach')
    const main = git(root, 'rev-parse', 'main')
    await runAll({ root, deed })
    expect(git(root, 'log', '-1', '--format=%s %P')).toBe(`T-1: Do T-1 ${main}`)
    expect(git(root, 'rev-parse', 'main')).toBe(main)
    expect(() => git(root, 'symbolic-ref', '-q', 'HEAD')).toThrow('Command failed')
    expect([read(root, 'work'), status(root)]).toEqual(['', ''])
  })

  it('in a linked worktree, with a lock of its own', async () => {
    const main = makeProject()
    const root = join(makeFolder(), 'tree')
    git(main, 'worktree', 'add', '-q', root, '-b', 'side')
    put(main, { '.ralph/lock': 'held by somebody' })
    await runAll({ root, deed })
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
        put(join(cwd, '../..'), { beside: '' })
      },
    })
    expect(changedIn(top)).toEqual(['beside', 'packages/shop/docs/tasks/T-1.md', 'packages/shop/work'])
    // The slots of this test are beside the project.
    expect(git(top, 'status', '--porcelain', '--', ':!packages/shop.own')).toBe('')
  })

  it('with every kind of name, mode, link and line ending', async () => {
    const root = makeProject(1, { '.gitattributes': '*.txt text eol=crlf\n', old: 'x\n'.repeat(40) })
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
    expect(status(root)).toBe('')
    expect(git(root, 'ls-tree', '-z', '--name-only', 'HEAD').split('\0')).toEqual(
      expect.arrayContaining(['two\nlines', '한국 어', '-dash', ':(glob)*', 'moved', ' ']),
    )
    expect(git(root, 'ls-tree', 'HEAD', 'run.sh')).toContain('100755')
  })
})
