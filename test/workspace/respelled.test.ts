import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openGit } from '../../src/git/door.ts'
import type { Git } from '../../src/git/git.ts'
import type { Base } from '../../src/git/head.ts'
import { findRepository } from '../../src/git/repository.ts'
import { finishMove, inTheWay, moveWithCheckout } from '../../src/engine/slot/follow.ts'
import { openWorkspace } from '../../src/engine/workspace/open.ts'
import type { Workspace } from '../../src/engine/workspace/port.ts'
import { ENV, git, makeRepository, put } from '../git/repository.ts'

interface Scene {
  readonly root: string
  readonly door: Git
  readonly base: Base
  readonly workspace: Workspace
}

/** A repository as git makes it where case makes no difference, whether or not it makes one here. */
function repository(files: Readonly<Record<string, string>>): string {
  const root = makeRepository(files)
  git(root, 'config', 'core.ignorecase', 'true')
  return root
}

async function adopted(root: string): Promise<Scene> {
  const door = openGit({ cwd: root, env: ENV })
  const workspace = openWorkspace(door, (await findRepository(door))!, root)
  await workspace.restore.adopt(null)
  const { head, branch } = await workspace.inspect.status()
  return { root, door, workspace, base: { head: head!, branch } }
}

/** Not every file system takes a folder's name in another case for another name: by way of a third it always does. */
function respell(root: string, from: string, to: string): void {
  renameSync(join(root, from), join(root, `${from}.between`))
  renameSync(join(root, `${from}.between`), join(root, to))
}

const namesOf = (root: string, tree: string): readonly string[] =>
  git(root, 'ls-tree', '-r', '--name-only', tree).split('\n')

describe('a file whose name changes only in case, where git takes both names for one', () => {
  it('is seen by its new name, and committed by it', async () => {
    const { root, workspace, base } = await adopted(repository({ 'src/Foo.ts': 'foo\n', other: '' }))
    respell(root, 'src/Foo.ts', 'src/foo.ts')
    const work = await workspace.inspect.work(base)
    expect(work.changes).toEqual([
      { path: 'src/Foo.ts', kind: 'gone' },
      { path: 'src/foo.ts', kind: 'new' },
    ])
    expect(namesOf(root, work.tree)).toEqual(['other', 'src/foo.ts'])
    expect((await workspace.inspect.work(base)).tree).toBe(work.tree)
    const texts = new Map([['other', 'more\n']])
    const { signal } = new AbortController()
    const landed = await workspace.record.land({
      base,
      tree: work.tree,
      texts,
      message: 'T-001: Rename',
      signal,
    })
    expect(landed.kind).toBe('committed')
    expect(namesOf(root, 'HEAD')).toEqual(['other', 'src/foo.ts'])
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('is seen where git has renamed it, with another text, or with its folder', async () => {
    const { root, workspace, base } = await adopted(
      repository({ Makefile: 'all:\n', 'Lib/a': 'a\n', 'Lib/b': 'b\n' }),
    )
    git(root, 'mv', 'Makefile', 'makefile')
    writeFileSync(join(root, 'makefile'), 'none:\n')
    respell(root, 'Lib', 'lib')
    const { tree } = await workspace.inspect.work(base)
    expect(namesOf(root, tree)).toEqual(['lib/a', 'lib/b', 'makefile'])
    expect(git(root, 'cat-file', 'blob', `${tree}:makefile`)).toBe('none:')
  })

  it('gets its name and its text back, and nothing else moves', async () => {
    const { root, workspace, base } = await adopted(
      repository({ 'src/Foo.ts': 'foo\n', 'Lib/a': 'a\n', '.gitignore': 'cache\n' }),
    )
    put(root, { 'Lib/cache': 'mine\n' })
    respell(root, 'src/Foo.ts', 'src/foo.ts')
    writeFileSync(join(root, 'src/foo.ts'), 'bar\n')
    respell(root, 'Lib', 'lib')
    const { tree } = await workspace.inspect.work(base)
    expect(await workspace.restore.tree({ recorded: tree, to: base.head })).toEqual([])
    expect(readdirSync(join(root, 'src'))).toEqual(['Foo.ts'])
    expect(readFileSync(join(root, 'src/Foo.ts'), 'utf8')).toBe('foo\n')
    expect(readFileSync(join(root, 'Lib/a'), 'utf8')).toBe('a\n')
    expect(git(root, 'status', '--porcelain')).toBe('')
    const folder = existsSync(join(root, 'lib')) ? 'lib' : 'Lib'
    expect(readFileSync(join(root, folder, 'cache'), 'utf8')).toBe('mine\n')
    expect((await workspace.inspect.work(base)).changes).toEqual([])
  })

  it('is brought back alone, as a task file is that an agent has renamed', async () => {
    const { root, workspace, base } = await adopted(
      repository({ 'docs/tasks/T-001.md': '# T-001: Do it\n', 'src/a': 'a\n' }),
    )
    respell(root, 'docs/tasks/T-001.md', 'docs/tasks/t-001.md')
    put(root, { 'src/a': 'b\n' })
    await workspace.inspect.work(base)
    await workspace.restore.files(base, ['docs/tasks/T-001.md', 'docs/tasks/t-001.md'])
    expect(readdirSync(join(root, 'docs/tasks'))).toEqual(['T-001.md'])
    expect(readFileSync(join(root, 'docs/tasks/T-001.md'), 'utf8')).toBe('# T-001: Do it\n')
    expect((await workspace.inspect.work(base)).changes).toEqual([{ path: 'src/a', kind: 'changed' }])
  })

  it('is brought back with its folder', async () => {
    const { root, workspace, base } = await adopted(
      repository({ 'docs/tasks/T-001.md': '# T-001: Do it\n', 'docs/guide': 'a\n' }),
    )
    respell(root, 'docs', 'Docs')
    await workspace.inspect.work(base)
    await workspace.restore.files(base, ['docs/tasks/T-001.md'])
    const { tree } = await workspace.inspect.work(base)
    expect(namesOf(root, tree)).toContain('docs/tasks/T-001.md')
    expect(new Set(namesOf(root, tree).map((name) => name.toLowerCase())).size).toBe(2)
    expect(namesOf(root, tree)).toHaveLength(2)
    expect(readFileSync(join(root, 'docs/tasks/T-001.md'), 'utf8')).toBe('# T-001: Do it\n')
  })

  it('keeps a run from beginning where it is a task file, or its folder', async () => {
    const { root, workspace } = await adopted(repository({ 'docs/tasks/T-001.md': '# T-001: Do it\n' }))
    expect(await workspace.inspect.obstacles('docs/tasks')).toEqual([])
    respell(root, 'docs', 'Docs')
    const [obstacle] = await workspace.inspect.obstacles('Docs/tasks')
    expect(obstacle?.message).toContain('Docs/tasks/T-001.md is docs/tasks/T-001.md to git')
    expect(obstacle?.fix).toContain('git mv docs/tasks/T-001.md Docs/tasks/T-001.md')
  })

  it('is nobody’s work where it was so before', async () => {
    const root = repository({ 'Docs/a': 'a\n', b: 'b\n' })
    respell(root, 'Docs', 'docs')
    const { workspace, base } = await adopted(root)
    put(root, { b: 'c\n' })
    const { tree, changes } = await workspace.inspect.work(base)
    expect(changes.map(({ path }) => path)).toContain('b')
    expect(namesOf(root, tree)).not.toContain('docs/a')
  })

  it('is another file where both are there', async () => {
    const root = repository({ README: 'one\n' })
    const { workspace, base } = await adopted(root)
    put(root, { readme: 'two\n' })
    // Only a file system that tells them apart holds both.
    if (readdirSync(root).filter((name) => name.toLowerCase() === 'readme').length < 2) return
    const { tree } = await workspace.inspect.work(base)
    expect(namesOf(root, tree)).toEqual(['README', 'readme'])
  })

  it('stays one that a person has tracked twice', async () => {
    const root = makeRepository({ README: 'one\n' })
    git(root, 'update-index', '--add', '--cacheinfo', `100644,${git(root, 'hash-object', 'README')},readme`)
    git(root, 'commit', '-qm', 'both')
    git(root, 'config', 'core.ignorecase', 'true')
    put(root, { readme: 'one\n' })
    const { workspace, base } = await adopted(root)
    expect((await workspace.inspect.work(base)).changes).toEqual([])
  })
})

describe('a checkout that follows a name that changes only in case', () => {
  /** A commit in which that name has changed, with the checkout where it was. */
  async function followed() {
    const root = repository({ 'src/Foo.ts': 'foo\n', other: 'x\n' })
    const from = git(root, 'rev-parse', 'HEAD')
    const blob = git(root, 'rev-parse', 'HEAD:src/Foo.ts')
    git(root, 'update-index', '--force-remove', 'src/Foo.ts')
    git(root, 'update-index', '--add', '--cacheinfo', `100644,${blob},src/foo.ts`)
    const to = git(root, 'commit-tree', git(root, 'write-tree'), '-p', from, '-m', 'rename')
    git(root, 'read-tree', from)
    git(root, 'update-index', '--refresh')
    const door = openGit({ cwd: root, env: ENV })
    const checkout = { git: door, repository: (await findRepository(door))! }
    return { root, checkout, move: { branch: 'main', from, to } }
  }

  it('goes along', async () => {
    const { root, checkout, move } = await followed()
    expect(await inTheWay(checkout, move)).toBeNull()
    expect(await moveWithCheckout(checkout, move, () => undefined)).toEqual({ kind: 'moved' })
    expect(readdirSync(join(root, 'src'))).toEqual(['foo.ts'])
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it.each([
    ['before the file was touched', () => undefined],
    ['with the file gone', (root: string) => rmSync(join(root, 'src/Foo.ts'))],
    ['with the file there by its new name', (root: string) => respell(root, 'src/Foo.ts', 'src/foo.ts')],
  ])('goes along once more where a run died %s', async (_, died) => {
    const { root, checkout, move } = await followed()
    git(root, 'update-ref', 'refs/heads/main', move.to)
    died(root)
    await finishMove(checkout, move)
    expect(readdirSync(join(root, 'src'))).toEqual(['foo.ts'])
    expect(readFileSync(join(root, 'src/foo.ts'), 'utf8')).toBe('foo\n')
    expect(git(root, 'status', '--porcelain')).toBe('')
  })
})
