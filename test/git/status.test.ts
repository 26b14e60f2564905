import { chmodSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readStatus } from '../../src/git/status.ts'
import { doorOf, git, makeFolder, makeRepository, put } from '../repository.ts'

const look = (root: string) => readStatus(doorOf(root))
const lines = async (root: string) =>
  (await look(root)).entries.map(
    ({ isUntracked, from, path }) => `${isUntracked ? 'untracked ' : ''}${from ? `${from} > ` : ''}${path}`,
  )

describe('what is not committed', () => {
  it('is nothing in a clean checkout, which names its branch and commit', async () => {
    const root = makeRepository()
    expect(await look(root)).toEqual({
      head: git(root, 'rev-parse', 'HEAD'),
      branch: 'main',
      entries: [],
    })
  })

  it('tells no commit yet, and a detached HEAD', async () => {
    expect(await look(makeRepository({}))).toMatchObject({ head: null, branch: 'main' })
    const root = makeRepository()
    git(root, 'checkout', '-q', '--detach')
    expect(await look(root)).toMatchObject({ head: git(root, 'rev-parse', 'HEAD'), branch: null })
  })

  it('lists each kind of change once, untracked files one by one, ignored ones not', async () => {
    const root = makeRepository({ a: 'a\n', b: 'b\n', c: 'c\n'.repeat(50), d: 'd\n', '.gitignore': 'no\n' })
    put(root, { a: 'changed\n', 'new/one': '', 'new/two': '', no: '' })
    rmSync(join(root, 'b'))
    renameSync(join(root, 'c'), join(root, 'e'))
    git(root, 'add', '-A', 'c', 'e')
    chmodSync(join(root, 'd'), 0o755)
    expect(await lines(root)).toEqual(['a', 'b', 'd', 'c > e', 'untracked new/one', 'untracked new/two'])
  })

  it('reads names with spaces, quotes, line breaks and other scripts as they are', async () => {
    const root = makeRepository()
    git(root, 'config', 'core.quotepath', 'true')
    put(root, { 'a b': '', 'q"uote': '', 'two\nlines': '', 한국어: '', ' lead': '' })
    symlinkSync('nowhere', join(root, 'link'))
    expect((await look(root)).entries.map((entry) => entry.path).sort()).toEqual(
      [' lead', 'a b', 'link', 'q"uote', 'two\nlines', '한국어'].sort(),
    )
    git(root, 'add', '-A')
    expect((await look(root)).entries.map((entry) => entry.path)).toContain('two\nlines')
  })

  it('tells a conflict and a repository inside the repository', async () => {
    const root = makeRepository({ a: '1\n' })
    git(root, 'checkout', '-q', '-b', 'other')
    put(root, { a: '2\n' })
    git(root, 'commit', '-qam', 'two')
    git(root, 'checkout', '-q', 'main')
    put(root, { a: '3\n' })
    git(root, 'commit', '-qam', 'three')
    expect(() => git(root, 'merge', 'other')).toThrow('Command failed')
    git(root, 'init', '-q', 'inner')
    put(root, { 'inner/file': '' })
    const { entries } = await look(root)
    expect(entries).toEqual([
      { path: 'a', from: null, isUntracked: false },
      { path: 'inner', from: null, isUntracked: true },
    ])
  })

  it('throws outside a repository', async () => {
    await expect(look(makeFolder())).rejects.toThrow('not a git repository')
  })
})
