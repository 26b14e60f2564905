import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { finishMove } from '../../src/engine/slot/follow.ts'
import { openGit } from '../../src/git/door.ts'
import { findRepository } from '../../src/git/repository.ts'
import { ENV, git, makeRepository, put } from '../repository.ts'

it.each([
  ['missing', (path: string) => rmSync(path), 'new a\n'],
  ['half written', (path: string) => writeFileSync(path, 'new'), 'new a\n'],
  ['not yet written', (path: string) => writeFileSync(path, ''), 'new a\n'],
  ['changed by a person', (path: string) => writeFileSync(path, 'mine\n'), 'mine\n'],
])('a file %s when git was killed while the checkout followed', async (_, harm, is) => {
  const root = makeRepository({ 'a.txt': 'old a\n', 'b.txt': 'old b\n' })
  const from = git(root, 'rev-parse', 'HEAD')
  put(root, { 'a.txt': 'new a\n', 'b.txt': 'new b\n' })
  git(root, 'commit', '-qam', 'Next')
  const to = git(root, 'rev-parse', 'HEAD')
  git(root, 'reset', '-q', '--hard', from)
  git(root, 'update-ref', 'refs/heads/main', to)
  harm(join(root, 'a.txt'))
  const door = openGit({ cwd: root, env: ENV })
  const repository = (await findRepository(door))!
  await finishMove({ git: door, repository }, { branch: 'main', from, to })
  expect(existsSync(join(root, 'a.txt'))).toBe(true)
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(is)
  expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('new b\n')
})

it.each(['new', ''])('a file that comes, and holds only %j of it', async (half) => {
  const root = makeRepository({ 'b.txt': 'b\n' })
  const from = git(root, 'rev-parse', 'HEAD')
  put(root, { 'a.txt': 'new a\n' })
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'Next')
  const to = git(root, 'rev-parse', 'HEAD')
  git(root, 'reset', '-q', '--hard', from)
  git(root, 'update-ref', 'refs/heads/main', to)
  put(root, { 'a.txt': half })
  const door = openGit({ cwd: root, env: ENV })
  const repository = (await findRepository(door))!
  await finishMove({ git: door, repository }, { branch: 'main', from, to })
  expect(git(root, 'status', '--porcelain')).toBe('')
})
