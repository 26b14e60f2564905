import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commit, git, put } from '../repository.ts'
import { makeProject, read, runAll, status, taskText, those } from '../run/harness.ts'
import type { Deed } from '../run/ports.ts'

/** A project in a repository as git makes it where case makes no difference, whether or not it makes one here. */
function project(files: Readonly<Record<string, string>>): string {
  const root = makeProject(1, files)
  git(root, 'config', 'core.ignorecase', 'true')
  return root
}

/** Not every file system takes a folder's name in another case for another name: by way of a third it always does. */
function respell(root: string, from: string, to: string): void {
  renameSync(join(root, from), join(root, `${from}.between`))
  renameSync(join(root, `${from}.between`), join(root, to))
}

const namesIn = (root: string, tree: string): readonly string[] =>
  git(root, 'ls-tree', '-r', '--name-only', tree)
    .split('\n')
    .filter((name) => !/^(?:README\.md|\.gitignore|docs\/.*)$/.test(name))

const run = (root: string, deed: Deed) => runAll({ root, deed, options: { retries: 0, onFailure: 'stop' } })

describe('a file whose name an agent changes only in case', () => {
  it('lands by its new name, and the checkout has it by that', async () => {
    const root = project({ 'src/Foo.ts': 'foo\n', other: '' })
    await run(root, ({ cwd }) => respell(cwd, 'src/Foo.ts', 'src/foo.ts'))
    expect(namesIn(root, 'HEAD')).toEqual(['other', 'src/foo.ts'])
    expect(git(root, 'log', '-1', '--format=%s')).toBe('T-1: Do T-1')
    expect(readdirSync(join(root, 'src'))).toEqual(['foo.ts'])
    expect(status(root)).toBe('')
  })

  it('lands where git has renamed it, with another text, or with its folder', async () => {
    const root = project({ Makefile: 'all:\n', 'Lib/a': 'a\n', 'Lib/b': 'b\n' })
    await run(root, ({ cwd }) => {
      git(cwd, 'mv', 'Makefile', 'makefile')
      writeFileSync(join(cwd, 'makefile'), 'none:\n')
      respell(cwd, 'Lib', 'lib')
    })
    expect(namesIn(root, 'HEAD')).toEqual(['lib/a', 'lib/b', 'makefile'])
    expect(read(root, 'makefile')).toBe('none:\n')
    expect(status(root)).toBe('')
  })

  it('has its name and its text back before the next task', async () => {
    const root = project({ 'src/Foo.ts': 'foo\n', 'Lib/a': 'a\n' })
    await run(root, ({ cwd }) => {
      respell(cwd, 'src/Foo.ts', 'src/foo.ts')
      put(cwd, { 'src/foo.ts': 'bar\n' })
      respell(cwd, 'Lib', 'lib')
      return { end: { kind: 'blocked', reason: 'no key' } }
    })
    put(root, { 'docs/tasks/T-2.md': taskText('T-2') })
    git(root, 'rm', '-q', 'docs/tasks/T-1.md')
    commit(root, 'Another task')
    let found: readonly string[] = []
    await run(root, ({ cwd }) => {
      found = [...readdirSync(join(cwd, 'src')), ...readdirSync(join(cwd, 'Lib'))]
      expect(readdirSync(cwd)).not.toContain('lib')
      expect(read(cwd, 'src/Foo.ts')).toBe('foo\n')
    })
    expect(found).toEqual(['Foo.ts', 'a'])
  })

  it('stays as it was if it is a task file, alone or with its folder', async () => {
    for (const [from, to] of [
      ['docs/tasks/T-1.md', 'docs/tasks/t-1.md'],
      ['docs', 'Docs'],
    ] as const) {
      const root = project({ 'src/a': 'a\n' })
      const events = await run(root, ({ cwd }) => {
        respell(cwd, from, to)
        put(cwd, { 'src/a': 'b\n' })
      })
      expect(those(events, 'interference')[0]).toMatchObject({ interference: { kind: 'task-files' } })
      expect(git(root, 'ls-tree', '-r', '--name-only', 'HEAD').split('\n')).toContain('docs/tasks/T-1.md')
      expect(read(root, 'docs/tasks/T-1.md')).toContain('DONE')
      expect(read(root, 'src/a')).toBe('b\n')
    }
  })

  it('is another file where both are there', async () => {
    const root = project({ README: 'one\n' })
    let names: readonly string[] = []
    await run(root, ({ cwd }) => {
      put(cwd, { readme: 'two\n' })
      names = readdirSync(cwd).filter((name) => name.toLowerCase() === 'readme')
    })
    // Only a file system that tells them apart holds both.
    if (names.length === 2) expect(namesIn(root, 'HEAD')).toEqual(['README', 'readme'])
  })

  it('stays one that a person has tracked twice', async () => {
    const root = project({ FILE: 'one\n' })
    git(root, 'update-index', '--add', '--cacheinfo', `100644,${git(root, 'hash-object', 'FILE')},file`)
    git(root, 'commit', '-qm', 'both')
    await run(root, ({ cwd }) => put(cwd, { work: '' }))
    expect(namesIn(root, 'HEAD')).toEqual(['FILE', 'file', 'work'])
  })
})
