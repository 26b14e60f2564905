import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { changedSince, type IndexEntry } from '../../src/git/index-file.ts'
import { git, makeFolder, put } from './repository.ts'

const NAMES = ['a', 'b/c', 'b/cd', `${'long/'.repeat(30)}name`, 'ümläut', 'b/very-much-longer', 'z']

function makeIndexed(version: number, objectFormat: 'sha1' | 'sha256'): string {
  const root = makeFolder()
  git(root, 'init', '-q', `--object-format=${objectFormat}`)
  put(root, Object.fromEntries(NAMES.map((name) => [name, name])))
  git(root, '-c', `index.version=${version}`, 'add', '.')
  return root
}

const entriesOf = (root: string, since: number, objectFormat: 'sha1' | 'sha256') =>
  changedSince(readFileSync(join(root, '.git/index')), since, { objectFormat })

/** What git itself prints of them. */
function printed(root: string): readonly IndexEntry[] {
  const lines = git(root, '-c', 'core.quotePath=false', 'ls-files', '--stage', '--debug').split('\n')
  return lines.flatMap((line, i) => {
    const entry = /^(\d+) ([0-9a-f]+) 0\t(.*)$/.exec(line)
    const time = /ctime: (\d+):(\d+)/.exec(lines[i + 1] ?? '')
    if (!entry || !time) return []
    const [, mode = '', oid = '', path = ''] = entry
    const changed = BigInt(time[1] ?? '') * 1_000_000_000n + BigInt(time[2] ?? '')
    return [{ path, mode, oid, changed }]
  })
}

describe('the files in an index', () => {
  it.each([
    [2, 'sha1'],
    [4, 'sha1'],
    [2, 'sha256'],
    [4, 'sha256'],
  ] as const)('are those that git prints, in version %i with %s', (version, objectFormat) => {
    const root = makeIndexed(version, objectFormat)
    const entries = entriesOf(root, 0, objectFormat)
    expect(entries).toHaveLength(NAMES.length)
    expect(entries).toEqual(printed(root))
  })

  it.each([2, 4])('are read as far as it goes, wherever an index of version %i is cut off', (version) => {
    const root = makeIndexed(version, 'sha1')
    const bytes = readFileSync(join(root, '.git/index'))
    const all = entriesOf(root, 0, 'sha1')
    for (let length = 0; length < bytes.length; length++) {
      const found = changedSince(bytes.subarray(0, length), 0, { objectFormat: 'sha1' })
      expect(found).toEqual(all.slice(0, found.length))
    }
  })

  it('are left out if they had changed before that second, or git is not to look at them', () => {
    const root = makeIndexed(2, 'sha1')
    const [first] = entriesOf(root, 0, 'sha1')
    expect(entriesOf(root, Number(first!.changed / 1_000_000_000n) + 60, 'sha1')).toEqual([])
    git(root, 'update-index', '--skip-worktree', 'a')
    git(root, 'update-index', '--assume-unchanged', 'z')
    const paths = entriesOf(root, 0, 'sha1').map(({ path }) => path)
    expect(paths.toSorted()).toEqual(NAMES.slice(1, -1).toSorted())
  })
})
