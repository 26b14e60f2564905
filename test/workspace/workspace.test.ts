import {
  chmodSync,
  existsSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openGit } from '../../src/git/door.ts'
import type { Git } from '../../src/git/git.ts'
import type { Base } from '../../src/git/head.ts'
import { attemptRef, keepCommit, listRecords } from '../../src/git/record.ts'
import { findRepository } from '../../src/git/repository.ts'
import { readStatus } from '../../src/git/status.ts'
import { changedPaths } from '../../src/git/tree.ts'
import { openWorkspace } from '../../src/engine/workspace/open.ts'
import type { Workspace } from '../../src/engine/workspace/port.ts'
import { asAttempt } from '../git/bare-git.ts'
import { ATTEMPT_COMMITTER } from '../../src/git/head.ts'
import { ENV, git, makeFolder, makeRepository, put } from '../git/repository.ts'

interface Scene {
  readonly root: string
  readonly door: Git
  readonly base: Base
  readonly workspace: Workspace
}

/** A checkout that a run has begun to work in. */
async function adopted(root: string): Promise<Scene> {
  const door = openGit({ cwd: root, env: ENV })
  const workspace = openWorkspace(door, (await findRepository(door))!, root)
  await workspace.restore.adopt(null)
  const { head, branch } = await workspace.inspect.status()
  return { root, door, workspace, base: { head: head!, branch } }
}

/** One in which an agent has done every kind of thing. */
async function worked(): Promise<Scene> {
  const root = makeRepository({
    '.gitignore': 'ignored\n',
    kept: 'kept\n',
    edited: 'before\n',
    deleted: 'gone\n',
    mode: '#!/bin/sh\n',
    'folder/inside': 'x\n',
    turned: 'a file\n',
  })
  const scene = await adopted(root)
  put(root, { edited: 'after\n', 'new/deep/file': 'new\n', ignored: 'secret', 'two\nlines 한국': '' })
  rmSync(join(root, 'deleted'))
  rmSync(join(root, 'folder'), { recursive: true })
  writeFileSync(join(root, 'folder'), 'now a file\n')
  rmSync(join(root, 'turned'))
  put(root, { 'turned/now': 'a folder\n' })
  chmodSync(join(root, 'mode'), 0o755)
  symlinkSync('kept', join(root, 'link'))
  writeFileSync(join(root, 'bytes'), Buffer.from([0, 255, 13, 10]))
  return scene
}

const treeNow = async ({ workspace, base }: Scene) => (await workspace.inspect.work(base)).tree

describe('the tree of a workspace', () => {
  it('holds the files, untracked ones too and ignored ones not, and moves nothing', async () => {
    const scene = await worked()
    const { root } = scene
    git(root, 'add', 'edited')
    const before = git(root, 'status', '--porcelain')
    const tree = await treeNow(scene)
    expect(git(root, 'status', '--porcelain')).toBe(before)
    expect(git(root, 'ls-tree', '-r', '-z', '--name-only', tree).split('\0').filter(Boolean).sort()).toEqual(
      [
        '.gitignore',
        'bytes',
        'edited',
        'folder',
        'kept',
        'link',
        'mode',
        'new/deep/file',
        'turned/now',
        'two\nlines 한국',
      ].sort(),
    )
    expect(git(root, 'ls-tree', tree, 'mode')).toContain('100755')
  })

  it('can be had while another git holds the index', async () => {
    const scene = await worked()
    writeFileSync(join(scene.root, '.git/index.lock'), '')
    expect(await treeNow(scene)).toMatch(/^[0-9a-f]{40}$/)
  })

  it('leaves out a repository that was made inside, which git could not take in', async () => {
    const scene = await worked()
    git(scene.root, 'init', '-q', 'inner')
    put(scene.root, { 'inner/file': '' })
    expect(git(scene.root, 'ls-tree', '-r', '--name-only', await treeNow(scene))).not.toContain('inner')
    expect((await scene.workspace.inspect.work(scene.base)).nested).toEqual(['inner'])
  })
})

describe('a record', () => {
  it('is kept as a commit, listed by task and number, and never overwritten', async () => {
    const scene = await worked()
    const { root, door, base } = scene
    const tree = await treeNow(scene)
    const keep = (task: string, number: number) =>
      keepCommit(door, {
        ref: attemptRef(task, number),
        tree,
        parents: [base.head, base.head],
        message: `${task}\n\nTask: ${task}\nAttempt: ${number}\nOutcome: timeout\n`,
      })
    const hash = await keep('T-004', 2)
    await keep('T-004', 10)
    await keep('T-0041', 1)
    expect(git(root, 'rev-parse', attemptRef('T-004', 2))).toBe(hash)
    expect(git(root, 'rev-parse', `${hash}^@`)).toBe(base.head)
    expect((await listRecords(door, 'T-004')).map((kept) => kept.number)).toEqual([2, 10])
    expect((await listRecords(door)).map((kept) => kept.ref)).toEqual([
      'refs/ralph/attempts/T-004/2',
      'refs/ralph/attempts/T-004/10',
      'refs/ralph/attempts/T-0041/1',
    ])
    expect(await listRecords(door, 'T-1')).toEqual([])
    await expect(keep('T-004', 2)).rejects.toThrow('already exists')
    expect(git(root, 'rev-parse', attemptRef('T-004', 2))).toBe(hash)
    expect(git(root, 'fsck', '--strict', '--no-dangling')).toBe('')
  })
})

describe('restoring', () => {
  it('moves exactly what was recorded, and a checkout of the record brings it again', async () => {
    const scene = await worked()
    const { root, door, base, workspace } = scene
    const recorded = await treeNow(scene)
    expect(await workspace.restore.tree({ recorded, to: base.head })).toEqual([])
    expect((await readStatus(door)).entries).toEqual([])
    expect(readFileSync(join(root, 'edited'), 'utf8')).toBe('before\n')
    expect(readFileSync(join(root, 'ignored'), 'utf8')).toBe('secret')
    expect(existsSync(join(root, 'new'))).toBe(false)
    git(root, 'read-tree', '-m', '-u', base.head, recorded)
    expect(readFileSync(join(root, 'bytes'))).toEqual(Buffer.from([0, 255, 13, 10]))
    expect(readlinkSync(join(root, 'link'))).toBe('kept')
    expect(statSync(join(root, 'mode')).mode & 0o111).not.toBe(0)
  })

  it('keeps what git ignores and stands where the base has files', async () => {
    const root = makeRepository({ '.env': 'KEY=example\n', config: 'port=1\n', 'data/a/b.txt': 'b\n' })
    const scene = await adopted(root)
    const { door, base, workspace } = scene
    git(root, 'rm', '-q', '--cached', '.env')
    for (const path of ['config', 'data']) rmSync(join(root, path), { recursive: true })
    put(root, {
      '.gitignore': '.env\n/data\n*.secret\n',
      '.env': 'KEY=real\n',
      'config/main': 'port=1\n',
      'config/own.secret': 'mine\n',
      data: 'all of it\n',
    })
    const recorded = await treeNow(scene)
    const displaced = (await workspace.restore.tree({ recorded, to: base.head })) ?? []
    const [{ folder, paths } = { folder: '', paths: [] }] = displaced
    expect(paths.toSorted()).toEqual(['.env', 'config/own.secret', 'data'])
    const keptText = (path: string): string => readFileSync(join(root, folder, path), 'utf8')
    expect(paths.toSorted().map(keptText)).toEqual(['KEY=real\n', 'mine\n', 'all of it\n'])
    expect((await readStatus(door)).entries.filter(({ path }) => !path.startsWith('.ralph/'))).toEqual([])
    expect(readFileSync(join(root, 'data/a/b.txt'), 'utf8')).toBe('b\n')
  })

  it('moves nothing where somebody wrote after the recording', async () => {
    const scene = await worked()
    const { root, base, workspace } = scene
    const recorded = await treeNow(scene)
    put(root, { mine: 'just now\n', edited: 'again\n' })
    expect(await workspace.restore.tree({ recorded, to: base.head })).toBeNull()
    expect(readFileSync(join(root, 'mine'), 'utf8')).toBe('just now\n')
    expect(readFileSync(join(root, 'edited'), 'utf8')).toBe('again\n')
  })

  it('works in a linked worktree, in CRLF, and with quoted paths', async () => {
    const main = makeRepository({ '.gitattributes': '* text=auto eol=crlf\n', 'é.txt': 'one\n' })
    git(main, 'config', 'core.quotepath', 'true')
    const root = join(makeFolder(), 'tree')
    git(main, 'worktree', 'add', '-q', root)
    const scene = await adopted(root)
    put(root, { 'é.txt': 'two\r\n', new: 'x\r\n' })
    const recorded = await treeNow(scene)
    expect(await scene.workspace.restore.tree({ recorded, to: scene.base.head })).toEqual([])
    expect(readFileSync(join(root, 'é.txt'), 'utf8')).toBe('one\r\n')
    expect((await readStatus(scene.door)).entries).toEqual([])
  })

  it('gives single files their old content and takes new ones away', async () => {
    const scene = await worked()
    const { root, door, base, workspace } = scene
    await workspace.inspect.work(base)
    await workspace.restore.files(base, ['edited', 'deleted', 'link'])
    expect(readFileSync(join(root, 'edited'), 'utf8')).toBe('before\n')
    expect([existsSync(join(root, 'deleted')), existsSync(join(root, 'link'))]).toEqual([true, false])
    expect(readFileSync(join(root, 'bytes'))).toHaveLength(4)
    expect(await changedPaths(door, base.head, await treeNow(scene))).not.toContain('edited')
  })
})

describe('HEAD', () => {
  const at = (root: string) =>
    `${git(root, 'symbolic-ref', '--short', 'HEAD')} ${git(root, 'rev-parse', 'HEAD')}`
  const byAttempt = <T>(work: () => T): Promise<T> => asAttempt(ATTEMPT_COMMITTER, async () => work())

  it('that has not moved is no move', async () => {
    const { workspace, base } = await worked()
    expect(await workspace.inspect.work(base)).toMatchObject({ head: null, persons: [] })
  })

  it('goes back over commits that an attempt made, files untouched', async () => {
    const { root, workspace, base } = await worked()
    await byAttempt(() => {
      git(root, 'add', '-A')
      git(root, 'commit', '-qm', 'By the agent')
    })
    const made = git(root, 'rev-parse', 'HEAD')
    const work = await workspace.inspect.work(base)
    expect(work.head).toEqual({ switched: false, at: made, tip: made, commits: [made] })
    await workspace.restore.head(base, work)
    expect(at(root)).toBe(`main ${base.head}`)
    expect(readFileSync(join(root, 'edited'), 'utf8')).toBe('after\n')
  })

  it('stays over commits of a person, which become the base', async () => {
    const { root, workspace, base } = await worked()
    git(root, 'commit', '-q', '--allow-empty', '-m', 'Mine')
    const made = git(root, 'rev-parse', 'HEAD')
    const work = await workspace.inspect.work(base)
    expect(work).toMatchObject({ head: null, persons: [made], base: { head: made, branch: 'main' } })
  })

  it('goes back from another branch, also where the first has moved or is gone', async () => {
    const { root, workspace, base } = await worked()
    await byAttempt(() => {
      git(root, 'checkout', '-q', '-b', 'feature')
      git(root, 'commit', '-q', '--allow-empty', '-m', 'On feature')
    })
    const made = git(root, 'rev-parse', 'HEAD')
    git(root, 'branch', '-qD', 'main')
    const work = await workspace.inspect.work(base)
    expect(work.head).toEqual({ switched: true, at: made, tip: null, commits: [made] })
    await workspace.restore.head(base, work)
    expect(at(root)).toBe(`main ${base.head}`)
  })

  it('goes back to being detached', async () => {
    const root = makeRepository()
    git(root, 'checkout', '-q', '--detach')
    const { workspace, base, door } = await adopted(root)
    expect(base.branch).toBeNull()
    git(root, 'checkout', '-q', '-b', 'feature')
    const work = await workspace.inspect.work(base)
    expect(work.head).toMatchObject({ switched: true, commits: [] })
    await workspace.restore.head(base, work)
    expect(await readStatus(door)).toMatchObject({ branch: null, head: base.head })
    expect(git(root, 'rev-parse', 'feature')).toBe(base.head)
  })
})
