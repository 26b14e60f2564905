import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type Repository,
  findRepository,
  identityProblem,
  ignoredPaths,
  operationsUnderWay,
} from '../../src/git/repository.ts'
import { doorOf, git, makeFolder, makeRepository, put } from '../repository.ts'

async function find(cwd: string): Promise<Repository> {
  const found = await findRepository(doorOf(cwd))
  if (!found) throw new Error('no repository')
  return found
}

describe('a repository', () => {
  it('is found from a folder inside it', async () => {
    const root = makeRepository({ 'a/b/c': '' })
    expect(await find(join(root, 'a/b'))).toEqual({
      root,
      gitDir: join(root, '.git'),
      commonDir: join(root, '.git'),
      objectFormat: 'sha1',
      linkedWorktree: false,
    })
  })

  it('is null outside one', async () => {
    expect(await findRepository(doorOf(makeFolder()))).toBeNull()
  })

  it('tells a linked worktree and where it shares what', async () => {
    const root = makeRepository()
    const other = join(makeFolder(), 'tree')
    git(root, 'worktree', 'add', '-q', other)
    expect(await find(other)).toMatchObject({
      root: other,
      commonDir: join(root, '.git'),
      linkedWorktree: true,
    })
  })

  it('tells which hash it uses', async () => {
    expect((await find(makeRepository({}, 'sha256'))).objectFormat).toBe('sha256')
  })

  it('knows who commits, or hands on what git says', async () => {
    const root = makeRepository()
    expect(await identityProblem(doorOf(root))).toBeNull()
    git(root, 'config', '--unset', 'user.email')
    git(root, 'config', 'user.useConfigOnly', 'true')
    expect(await identityProblem(doorOf(root))).toContain('no email was given')
  })

  it('tells which paths are ignored', async () => {
    const root = makeRepository({ '.gitignore': '*.log\n' })
    expect(await ignoredPaths(doorOf(root), ['a.log', 'a\nb.log', 'c'])).toEqual(
      new Set(['a.log', 'a\nb.log']),
    )
    expect(await ignoredPaths(doorOf(root), [])).toEqual(new Set())
  })

  it('takes what a pattern takes back in, what is tracked and what is in no repository for not ignored', async () => {
    const root = makeRepository({ '.gitignore': '*.log\n!b.log\n', 'c.txt': '' })
    put(root, { 'tracked.log': '' })
    git(root, 'add', '--force', 'tracked.log')
    expect(await ignoredPaths(doorOf(root), ['a.log', 'b.log', 'tracked.log', 'c.txt'])).toEqual(
      new Set(['a.log']),
    )
    expect(await ignoredPaths(doorOf(makeFolder()), ['a.log'])).toEqual(new Set())
  })

  it('tells which paths are ignored beside those in a submodule', async () => {
    const [root, inner] = [makeRepository({ '.gitignore': '*.log\n' }), makeRepository({ 'x.log': '' })]
    git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'sub')
    const paths = ['a.log', 'sub/x.log', 'b.log', 'sub/y', 'c']
    expect(await ignoredPaths(doorOf(root), paths)).toEqual(new Set(['a.log', 'b.log']))
  })
})

describe('an operation under way', () => {
  function conflicted(): string {
    const root = makeRepository({ a: '1\n' })
    git(root, 'checkout', '-q', '-b', 'other')
    put(root, { a: '2\n' })
    git(root, 'commit', '-qam', 'two')
    git(root, 'checkout', '-q', 'main')
    put(root, { a: '3\n' })
    git(root, 'commit', '-qam', 'three')
    return root
  }
  const begin = {
    merge: (root: string) => git(root, 'merge', 'other'),
    rebase: (root: string) => git(root, 'rebase', 'other'),
    'cherry-pick': (root: string) => git(root, 'cherry-pick', 'other'),
    revert: (root: string) => git(root, 'revert', '--no-edit', 'HEAD~1'),
  }

  it.each(Object.keys(begin) as (keyof typeof begin)[])('%s is told', async (operation) => {
    const root = conflicted()
    expect(operationsUnderWay(await find(root))).toEqual([])
    expect(() => begin[operation](root)).toThrow('Command failed')
    expect(operationsUnderWay(await find(root))).toEqual([operation])
  })

  it('bisect is told', async () => {
    const root = conflicted()
    git(root, 'bisect', 'start')
    expect(operationsUnderWay(await find(root))).toEqual(['bisect'])
  })
})
