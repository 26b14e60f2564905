import { lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openReadingGit } from '../../src/git/door.ts'
import { detectPrepare, filesToCopy, furnish, preparedKey } from '../../src/engine/workspace/furnish.ts'
import { workspacesFolder } from '../../src/engine/workspace/own.ts'
import { ENV, makeFolder, makeRepository, put } from '../git/repository.ts'
import { read } from '../run/harness.ts'

describe('what makes a workspace ready', () => {
  it.each([
    [['package-lock.json'], 'npm ci'],
    [['pnpm-lock.yaml', 'package-lock.json'], 'pnpm install --frozen-lockfile'],
    [['uv.lock', 'package-lock.json'], 'npm ci && uv sync'],
    [['Gemfile.lock'], 'bundle install'],
    [['README.md'], null],
  ])('of %j is %s', (files, command) => {
    const root = makeFolder()
    put(root, Object.fromEntries(files.map((file) => [file, ''])))
    expect(detectPrepare(root).prepare).toBe(command)
  })

  it('is done again when a lock file changes', () => {
    const root = makeFolder()
    put(root, { 'package-lock.json': '{}' })
    const before = preparedKey(root, detectPrepare(root))
    expect(preparedKey(root, detectPrepare(root))).toBe(before)
    put(root, { 'package-lock.json': '{ }' })
    expect(preparedKey(root, detectPrepare(root))).not.toBe(before)
  })
})

describe('what git ignores', () => {
  it('is copied where it is named, and only that, over what is there', async () => {
    const root = makeRepository({
      '.gitignore': '.env*\ndist/\n',
      '.worktreeinclude': '# more\ndist/types/\n',
      'tracked.env': 'x\n',
    })
    put(root, {
      '.env': '1\n',
      'deep/.env.local': '2\n',
      'dist/types/a.d.ts': '3\n',
      'dist/b.js': '',
      'new.txt': '',
    })
    const git = openReadingGit({ cwd: root, env: ENV })
    const copies = await filesToCopy(git, { copy: ['.env*', 'new.txt'] })
    expect(copies.toSorted()).toEqual(['.env', 'deep/.env.local', 'dist/types/a.d.ts'])
    const to = makeFolder()
    put(to, { '.env': 'an agent’s\n' })
    furnish(root, to, { copies, links: [] })
    expect([read(to, '.env'), read(to, 'deep/.env.local'), read(to, 'dist/b.js')]).toEqual([
      '1\n',
      '2\n',
      null,
    ])
  })

  it('is linked, unless something stands there', () => {
    const [root, to] = [makeFolder(), makeFolder()]
    put(root, { 'node_modules/x/a.js': '' })
    mkdirSync(join(root, 'cache'))
    put(to, { 'cache/own': '' })
    furnish(root, to, { copies: [], links: ['node_modules', 'cache', 'nothing'] })
    furnish(root, to, { copies: [], links: ['node_modules'] })
    expect(lstatSync(join(to, 'node_modules')).isSymbolicLink()).toBe(true)
    expect(lstatSync(join(to, 'cache')).isSymbolicLink()).toBe(false)
  })
})

describe('the folder of workspaces', () => {
  const at = { root: '/home/ada/shop', top: '/home/ada/shop' }

  it('is in the folder of caches, and another for each checkout', () => {
    const env = { XDG_CACHE_HOME: '/cache' }
    const [one, other] = ['/home/ada/shop', '/home/bob/shop'].map((top) =>
      workspacesFolder({ root: top, top }, { dir: null, env }),
    )
    expect(one).toMatch(/^\/cache\/ralph\/shop-[0-9a-f]{8}$/)
    expect(other).not.toBe(one)
    expect(workspacesFolder(at, { dir: null, env: { HOME: '/home/ada' } })).toContain(
      '/home/ada/.cache/ralph/',
    )
  })

  it('is never in the repository', () => {
    expect(() => workspacesFolder(at, { dir: 'work', env: {} })).toThrow('inside of the repository')
    expect(() => workspacesFolder(at, { dir: null, env: {} })).toThrow('no folder of caches')
    expect(workspacesFolder(at, { dir: '../work', env: {} })).toMatch(/^\/home\/ada\/work\/shop-/)
  })
})
