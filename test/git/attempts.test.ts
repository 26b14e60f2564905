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
import { attemptRef, keepAttempt, listAttempts } from '../../src/git/attempts.ts'
import { openGit } from '../../src/git/door.ts'
import type { Git } from '../../src/git/git.ts'
import { findRepository } from '../../src/git/repository.ts'
import { changedPaths, foldHead, headMove, putBack, restorePaths } from '../../src/git/restore.ts'
import { snapshot } from '../../src/git/snapshot.ts'
import { readStatus } from '../../src/git/status.ts'
import { ENV, git, makeFolder, makeRepository, put } from './repository.ts'

async function snap(door: Git, except: readonly string[] = []): Promise<string> {
  const repository = await findRepository(door)
  if (!repository) throw new Error('no repository')
  return snapshot(door, repository, { except })
}

/** A checkout in which an agent has done every kind of thing. */
function worked(): { root: string; door: Git; base: string } {
  const root = makeRepository({
    '.gitignore': 'ignored\n',
    kept: 'kept\n',
    edited: 'before\n',
    deleted: 'gone\n',
    mode: '#!/bin/sh\n',
    'folder/inside': 'x\n',
    turned: 'a file\n',
  })
  const base = git(root, 'rev-parse', 'HEAD')
  put(root, { edited: 'after\n', 'new/deep/file': 'new\n', ignored: 'secret', 'two\nlines 한국': '' })
  rmSync(join(root, 'deleted'))
  rmSync(join(root, 'folder'), { recursive: true })
  writeFileSync(join(root, 'folder'), 'now a file\n')
  rmSync(join(root, 'turned'))
  put(root, { 'turned/now': 'a folder\n' })
  chmodSync(join(root, 'mode'), 0o755)
  symlinkSync('kept', join(root, 'link'))
  writeFileSync(join(root, 'bytes'), Buffer.from([0, 255, 13, 10]))
  return { root, door: openGit({ cwd: root, env: ENV }), base }
}

describe('a snapshot', () => {
  it('holds the work tree, untracked files too and ignored ones not, and moves nothing', async () => {
    const { root, door } = worked()
    git(root, 'add', 'edited')
    const before = git(root, 'status', '--porcelain')
    const tree = await snap(door)
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
    expect(existsSync(join(root, '.git/ralph-index'))).toBe(false)
  })

  it('can be made while another git holds the index', async () => {
    const { root, door } = worked()
    writeFileSync(join(root, '.git/index.lock'), '')
    expect(await snap(door)).toMatch(/^[0-9a-f]{40}$/)
  })

  it('leaves out a repository that was made inside, which git could not take in', async () => {
    const { root, door } = worked()
    git(root, 'init', '-q', 'inner')
    put(root, { 'inner/file': '' })
    await expect(snap(door)).rejects.toThrow('does not have a commit checked out')
    expect(git(root, 'ls-tree', '-r', '--name-only', await snap(door, ['inner']))).not.toContain('inner')
  })
})

describe('an attempt', () => {
  it('is kept as a commit, listed by task and number, and never overwritten', async () => {
    const { root, door, base } = worked()
    const tree = await snap(door)
    const keep = (task: string, number: number) =>
      keepAttempt(door, {
        task,
        number,
        tree,
        parents: [base, base],
        message: `${task}\n\nTask: ${task}\nAttempt: ${number}\n`,
      })
    const hash = await keep('T-004', 2)
    await keep('T-004', 10)
    await keep('T-0041', 1)
    expect(git(root, 'rev-parse', attemptRef('T-004', 2))).toBe(hash)
    expect(git(root, 'rev-parse', `${hash}^@`)).toBe(base)
    expect((await listAttempts(door, 'T-004')).map((kept) => kept.number)).toEqual([2, 10])
    expect((await listAttempts(door)).map((kept) => kept.ref)).toEqual([
      'refs/ralph/attempts/T-004/2',
      'refs/ralph/attempts/T-004/10',
      'refs/ralph/attempts/T-0041/1',
    ])
    expect(await listAttempts(door, 'T-1')).toEqual([])
    await expect(keep('T-004', 2)).rejects.toThrow('already exists')
    expect(git(root, 'rev-parse', attemptRef('T-004', 2))).toBe(hash)
    expect(git(root, 'fsck', '--strict', '--no-dangling')).toBe('')
  })
})

const ASIDE = join(makeFolder(), 'aside')

describe('putting back', () => {
  it('moves exactly what was recorded, and a checkout of the record brings it again', async () => {
    const { root, door, base } = worked()
    const recorded = await snap(door)
    expect(await putBack(door, { recorded, base, asideIn: ASIDE })).toEqual({ kind: 'done', displaced: [] })
    expect((await readStatus(door)).entries).toEqual([])
    expect(readFileSync(join(root, 'edited'), 'utf8')).toBe('before\n')
    expect(readFileSync(join(root, 'ignored'), 'utf8')).toBe('secret')
    expect(existsSync(join(root, 'new'))).toBe(false)
    git(root, 'read-tree', '-m', '-u', base, recorded)
    expect(readFileSync(join(root, 'bytes'))).toEqual(Buffer.from([0, 255, 13, 10]))
    expect(readlinkSync(join(root, 'link'))).toBe('kept')
    expect(statSync(join(root, 'mode')).mode & 0o111).not.toBe(0)
  })

  it('keeps what git ignores and stands where the base has files', async () => {
    const root = makeRepository({ '.env': 'KEY=example\n', config: 'port=1\n', 'data/a/b.txt': 'b\n' })
    const [door, base] = [openGit({ cwd: root, env: ENV }), git(root, 'rev-parse', 'HEAD')]
    git(root, 'rm', '-q', '--cached', '.env')
    for (const path of ['config', 'data']) rmSync(join(root, path), { recursive: true })
    put(root, {
      '.gitignore': '.env\n/data\n*.secret\n',
      '.env': 'KEY=real\n',
      'config/main': 'port=1\n',
      'config/own.secret': 'mine\n',
      data: 'all of it\n',
    })
    const asideIn = join(makeFolder(), 'aside')
    const back = await putBack(door, { recorded: await snap(door), base, asideIn })
    expect(back).toEqual({ kind: 'done', displaced: expect.any(Array) })
    expect('displaced' in back && back.displaced.toSorted()).toEqual(['.env', 'config/own.secret', 'data'])
    const keptText = (path: string): string => readFileSync(join(asideIn, path), 'utf8')
    expect(['.env', 'config/own.secret', 'data'].map(keptText)).toEqual([
      'KEY=real\n',
      'mine\n',
      'all of it\n',
    ])
    expect((await readStatus(door)).entries).toEqual([])
    expect(readFileSync(join(root, 'data/a/b.txt'), 'utf8')).toBe('b\n')
  })

  it('moves nothing where somebody wrote after the recording', async () => {
    const { root, door, base } = worked()
    const recorded = await snap(door)
    put(root, { mine: 'just now\n', edited: 'again\n' })
    expect(await putBack(door, { recorded, base, asideIn: ASIDE })).toEqual({ kind: 'unrecorded' })
    expect(readFileSync(join(root, 'mine'), 'utf8')).toBe('just now\n')
    expect(readFileSync(join(root, 'edited'), 'utf8')).toBe('again\n')
  })

  it('works in a linked worktree, in CRLF, and with quoted paths', async () => {
    const main = makeRepository({ '.gitattributes': '* text=auto eol=crlf\n', 'é.txt': 'one\n' })
    git(main, 'config', 'core.quotepath', 'true')
    const root = join(makeFolder(), 'tree')
    git(main, 'worktree', 'add', '-q', root)
    const [door, base] = [openGit({ cwd: root, env: ENV }), git(root, 'rev-parse', 'HEAD')]
    put(root, { 'é.txt': 'two\r\n', new: 'x\r\n' })
    const recorded = await snap(door)
    expect(await putBack(door, { recorded, base, asideIn: ASIDE })).toEqual({ kind: 'done', displaced: [] })
    expect(readFileSync(join(root, 'é.txt'), 'utf8')).toBe('one\r\n')
    expect((await readStatus(door)).entries).toEqual([])
  })

  it('gives single paths their old content and takes new ones away', async () => {
    const { root, door, base } = worked()
    await restorePaths(door, base, ['edited', 'deleted'])
    expect(readFileSync(join(root, 'edited'), 'utf8')).toBe('before\n')
    expect(existsSync(join(root, 'deleted'))).toBe(true)
    expect(readFileSync(join(root, 'bytes'))).toHaveLength(4)
    expect(await changedPaths(door, base, await snap(door))).not.toContain('edited')
  })
})

describe('HEAD', () => {
  const at = (root: string) =>
    `${git(root, 'symbolic-ref', '--short', 'HEAD')} ${git(root, 'rev-parse', 'HEAD')}`

  it('that has not moved costs nothing', async () => {
    const { door, base } = worked()
    expect(await headMove(door, { head: base, branch: 'main' }, await readStatus(door))).toBeNull()
  })

  it('goes back over commits that were made, work tree untouched', async () => {
    const { root, door, base } = worked()
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'By the agent')
    const made = git(root, 'rev-parse', 'HEAD')
    const from = { head: base, branch: 'main' }
    expect(await headMove(door, from, await readStatus(door))).toEqual({
      switched: false,
      at: made,
      commits: [made],
      branchTip: made,
    })
    await foldHead(door, from, 'ralph: fold')
    expect(at(root)).toBe(`main ${base}`)
    expect(readFileSync(join(root, 'edited'), 'utf8')).toBe('after\n')
  })

  it('goes back from another branch, also where the first has moved or is gone', async () => {
    const { root, door, base } = worked()
    const from = { head: base, branch: 'main' }
    git(root, 'checkout', '-q', '-b', 'feature')
    git(root, 'commit', '-q', '--allow-empty', '-m', 'On feature')
    const made = git(root, 'rev-parse', 'HEAD')
    git(root, 'branch', '-qD', 'main')
    expect(await headMove(door, from, await readStatus(door))).toEqual({
      switched: true,
      at: made,
      commits: [made],
      branchTip: null,
    })
    await foldHead(door, from, 'ralph: fold')
    expect(at(root)).toBe(`main ${base}`)
  })

  it('goes back to being detached', async () => {
    const { root, door, base } = worked()
    git(root, 'checkout', '-q', '--detach')
    const from = { head: base, branch: null }
    git(root, 'checkout', '-q', '-b', 'feature')
    expect(await headMove(door, from, await readStatus(door))).toMatchObject({ switched: true, commits: [] })
    await foldHead(door, from, 'ralph: fold')
    expect(await readStatus(door)).toMatchObject({ branch: null, head: base })
    expect(git(root, 'rev-parse', 'feature')).toBe(base)
  })
})
