import { copyFileSync, existsSync, linkSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GitError } from '../../src/git/git.ts'
import { findRepository } from '../../src/git/repository.ts'
import {
  finishMove,
  inTheWay,
  moveWithCheckout,
  type Checkout,
  type Move,
} from '../../src/engine/slot/follow.ts'
import { doorOf, git, makeRepository, put } from '../repository.ts'
import { read } from '../run/harness.ts'

interface Scene {
  readonly root: string
  readonly checkout: Checkout
  readonly move: Move
  readonly noted: (Move | null)[]
}

/** A checkout, and a commit made elsewhere on top of it. */
async function sceneOf(
  files: Readonly<Record<string, string>>,
  change: (root: string) => void,
): Promise<Scene> {
  const root = makeRepository({ '.gitignore': '*.env\n', ...files })
  const from = git(root, 'rev-parse', 'HEAD')
  change(root)
  git(root, 'add', '-A')
  const to = git(root, 'commit-tree', git(root, 'write-tree'), '-p', from, '-m', 'Elsewhere')
  git(root, 'reset', '-q', '--hard', from)
  return { root, checkout: await checkoutAt(root), move: { branch: 'main', from, to }, noted: [] }
}

/** A commit that changes, adds, removes and renames. */
const scene = (): Promise<Scene> =>
  sceneOf(
    {
      'changed.txt': 'before\n',
      'gone.txt': 'before\n',
      'other.txt': 'x\n',
      'folder/old.txt': 'a long text that is moved\n',
    },
    (root) => {
      put(root, { 'changed.txt': 'after\n', 'new/deep.txt': 'new\n' })
      git(root, 'rm', '-q', 'gone.txt')
      git(root, 'mv', 'folder/old.txt', 'moved.txt')
    },
  )

/** A commit in which a folder is a file and a file is a folder. */
const swapped = (): Promise<Scene> =>
  sceneOf({ 'folder/deep/in.txt': 'x\n', file: 'x\n' }, (root) => {
    for (const name of ['folder', 'file']) rmSync(join(root, name), { recursive: true })
    put(root, { folder: 'file\n', 'file/in.txt': 'y\n' })
  })

async function checkoutAt(root: string): Promise<Checkout> {
  const door = doorOf(root)
  return { git: door, repository: (await findRepository(door))! }
}

const go = ({ checkout, move, noted }: Scene) => moveWithCheckout(checkout, move, (one) => noted.push(one))

function expectAt({ root, move }: Scene, status: readonly string[] = []): void {
  expect(git(root, 'rev-parse', 'main')).toBe(move.to)
  expect(git(root, 'status', '--porcelain').split('\n').filter(Boolean)).toEqual(status)
  expect(existsSync(join(root, '.git/index.lock'))).toBe(false)
  expect(existsSync(join(root, '.git/ralph-follow-lock'))).toBe(false)
}

describe('a checkout that follows its branch', () => {
  it('has what the branch has, and keeps what is staged, changed or new elsewhere', async () => {
    const at = await scene()
    put(at.root, { 'other.txt': 'staged\n', 'mine.txt': 'mine\n' })
    git(at.root, 'add', 'other.txt')
    put(at.root, { 'other.txt': 'changed after that\n' })
    expect(await go(at)).toEqual({ kind: 'moved' })
    expectAt(at, ['MM other.txt', '?? mine.txt'])
    expect(read(at.root, 'new/deep.txt')).toBe('new\n')
    expect(existsSync(join(at.root, 'folder'))).toBe(false)
    expect(at.noted).toEqual([at.move, null])
  })

  it.each<readonly [string, (root: string) => void, readonly string[]]>([
    ['a changed file', (root) => put(root, { 'changed.txt': 'mine\n' }), ['changed.txt']],
    [
      'a staged file',
      (root) => void (put(root, { 'gone.txt': 'mine\n' }), git(root, 'add', '-A')),
      ['gone.txt'],
    ],
    ['a file that was removed', (root) => rmSync(join(root, 'changed.txt')), ['changed.txt']],
    ['an untracked file', (root) => put(root, { 'new/deep.txt': 'mine\n' }), ['new/deep.txt']],
    ['a file where a folder is to be', (root) => put(root, { new: 'mine\n' }), ['new/deep.txt']],
    [
      'a file in place of a folder',
      (root) => (rmSync(join(root, 'folder'), { recursive: true }), put(root, { folder: 'mine\n' })),
      ['folder/old.txt'],
    ],
    ['a folder where a file is to be', (root) => put(root, { 'moved.txt/mine': 'mine\n' }), ['moved.txt']],
  ])('is held by %s, and nothing has changed', async (_, act, paths) => {
    const at = await scene()
    act(at.root)
    const before = git(at.root, 'status', '--porcelain')
    expect(await inTheWay(at.checkout, at.move)).toMatchObject({ kind: 'held', paths })
    expect(await go(at)).toMatchObject({ kind: 'held', paths })
    expect(git(at.root, 'rev-parse', 'main')).toBe(at.move.from)
    expect(git(at.root, 'status', '--porcelain')).toBe(before)
    expect(at.noted).toEqual([])
  })

  it('is held by an ignored file too, and not by one that was only touched', async () => {
    const at = await scene()
    writeFileSync(join(at.root, 'changed.txt'), 'before\n')
    git(at.root, 'config', 'core.excludesFile', join(at.root, 'excludes'))
    put(at.root, { excludes: 'new\nexcludes\n', 'new/deep.txt': 'a secret\n' })
    expect(await go(at)).toMatchObject({ kind: 'held', paths: ['new/deep.txt'] })
    rmSync(join(at.root, 'new'), { recursive: true })
    expect(await go(at)).toEqual({ kind: 'moved' })
    expectAt(at)
  })

  it('is not held where a folder becomes a file, and a file a folder', async () => {
    const at = await swapped()
    expect(await go(at)).toEqual({ kind: 'moved' })
    expectAt(at)
    expect([read(at.root, 'folder'), read(at.root, 'file/in.txt')]).toEqual(['file\n', 'y\n'])
  })

  it.each([
    ['a folder that becomes a file has one of the person’s', { 'folder/deep/own.env': 'KEY=1\n' }],
    ['a file that becomes a folder is changed', { file: 'mine\n' }],
  ])('is held where %s', async (_, files) => {
    const at = await swapped()
    put(at.root, files)
    expect(await go(at)).toMatchObject({ kind: 'held' })
    for (const [path, text] of Object.entries(files)) expect(read(at.root, path)).toBe(text)
  })

  it('is held while a merge is under way', async () => {
    const at = await scene()
    put(at.root, { '.git/MERGE_HEAD': `${at.move.to}\n` })
    expect(await go(at)).toMatchObject({ kind: 'held', reason: 'a merge is under way in the checkout' })
  })

  it('follows where git was killed after it had moved the branch', async () => {
    const at = await scene()
    const run: Checkout['git']['run'] = async (args, options) => {
      const ran = await at.checkout.git.run(args, options)
      if (args[0] === 'update-ref') throw new GitError(args, 128, '')
      return ran
    }
    const checkout = { ...at.checkout, git: { ...at.checkout.git, run } }
    expect(await go({ ...at, checkout })).toEqual({ kind: 'moved' })
    expect(git(at.root, 'status', '--porcelain')).toBe('')
    expect(read(at.root, 'changed.txt')).toBe('after\n')
  })

  it('stays where it is on another branch, and so does the branch where somebody was quicker', async () => {
    const at = await scene()
    git(at.root, 'checkout', '-q', '-b', 'mine')
    put(at.root, { 'changed.txt': 'mine\n' })
    expect(await go(at)).toEqual({ kind: 'moved' })
    expect(git(at.root, 'status', '--porcelain')).toBe(' M changed.txt')
    expect(await go(at)).toEqual({ kind: 'moved' })
    const other = await scene()
    git(other.root, 'commit', '-q', '--allow-empty', '-m', 'Mine')
    expect(await go(other)).toEqual({ kind: 'overtaken' })
    expect(git(other.root, 'status', '--porcelain')).toBe('')
  })
})

describe('a move that was killed in between', () => {
  /** The branch has moved, and of the checkout only some files. */
  async function killed(): Promise<Scene> {
    const at = await scene()
    git(at.root, 'update-ref', 'refs/heads/main', at.move.to)
    put(at.root, { 'changed.txt': 'after\n' })
    rmSync(join(at.root, 'gone.txt'))
    const gitDir = join(at.root, '.git')
    copyFileSync(join(gitDir, 'index'), join(gitDir, 'ralph-follow-lock'))
    linkSync(join(gitDir, 'ralph-follow-lock'), join(gitDir, 'index.lock'))
    return at
  }

  it('is finished', async () => {
    const at = await killed()
    await finishMove(at.checkout, at.move)
    expectAt(at)
    expect(read(at.root, 'moved.txt')).toBe('a long text that is moved\n')
    await finishMove(at.checkout, at.move)
    expectAt(at)
  })

  it.each([
    ['changed.txt', null, 'after\n'],
    ['changed.txt', 'aft', 'after\n'],
    ['changed.txt', '', 'after\n'],
    ['changed.txt', 'mine\n', 'mine\n'],
    ['new/deep.txt', 'ne', 'new\n'],
    ['new/deep.txt', '', 'new\n'],
  ])('is finished where %s holds %j, as %j', async (path, text, is) => {
    const at = await scene()
    git(at.root, 'update-ref', 'refs/heads/main', at.move.to)
    if (text === null) rmSync(join(at.root, path))
    else put(at.root, { [path]: text })
    await finishMove(at.checkout, at.move)
    expect(read(at.root, path)).toBe(is)
    expectAt(at, is === 'mine\n' ? [` M ${path}`] : [])
  })

  it('leaves alone what a person has written since', async () => {
    const at = await killed()
    put(at.root, { 'changed.txt': 'mine\n', 'new/deep.txt': 'mine too\n' })
    await finishMove(at.checkout, at.move)
    expectAt(at, [' M changed.txt', ' M new/deep.txt'])
    expect(read(at.root, 'changed.txt')).toBe('mine\n')
    expect(read(at.root, 'new/deep.txt')).toBe('mine too\n')
  })

  it.each(['folder', 'file'])('is finished where git had only removed the %s', async (gone) => {
    const at = await swapped()
    git(at.root, 'update-ref', 'refs/heads/main', at.move.to)
    rmSync(join(at.root, gone), { recursive: true })
    await finishMove(at.checkout, at.move)
    expectAt(at)
  })

  it('takes no lock away that is another git’s', async () => {
    const at = await scene()
    put(at.root, { '.git/index.lock': '' })
    await expect(finishMove(at.checkout, { ...at.move, to: at.move.from })).rejects.toThrow('lock')
    expect(existsSync(join(at.root, '.git/index.lock'))).toBe(true)
  })
})

describe('a checkout that follows a name that changes only in case', () => {
  /** A commit in which that name has changed, with the checkout where it was. */
  async function followed(): Promise<Scene> {
    const root = makeRepository({ 'src/Foo.ts': 'foo\n', other: 'x\n' })
    // As git sets it where case makes no difference, whether or not it makes one here.
    git(root, 'config', 'core.ignorecase', 'true')
    const from = git(root, 'rev-parse', 'HEAD')
    const blob = git(root, 'rev-parse', 'HEAD:src/Foo.ts')
    git(root, 'update-index', '--force-remove', 'src/Foo.ts')
    git(root, 'update-index', '--add', '--cacheinfo', `100644,${blob},src/foo.ts`)
    const to = git(root, 'commit-tree', git(root, 'write-tree'), '-p', from, '-m', 'rename')
    git(root, 'read-tree', from)
    git(root, 'update-index', '--refresh')
    return { root, checkout: await checkoutAt(root), move: { branch: 'main', from, to }, noted: [] }
  }

  it('goes along', async () => {
    const at = await followed()
    expect(await inTheWay(at.checkout, at.move)).toBeNull()
    expect(await go(at)).toEqual({ kind: 'moved' })
    expect(readdirSync(join(at.root, 'src'))).toEqual(['foo.ts'])
    expectAt(at)
  })

  it.each([
    ['before the file was touched', () => undefined],
    ['with the file gone', (root: string) => rmSync(join(root, 'src/Foo.ts'))],
    [
      'with the file there by its new name',
      (root: string) => renameSync(join(root, 'src/Foo.ts'), join(root, 'src/foo.ts')),
    ],
  ])('goes along once more where a run died %s', async (_, died) => {
    const at = await followed()
    git(at.root, 'update-ref', 'refs/heads/main', at.move.to)
    died(at.root)
    await finishMove(at.checkout, at.move)
    expect(readdirSync(join(at.root, 'src'))).toEqual(['foo.ts'])
    expect(read(at.root, 'src/foo.ts')).toBe('foo\n')
    expectAt(at)
  })
})
