import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { by, jsonOf } from '../cli/ralph.ts'
import { commit, git, makeFolder, makeRepository, put } from '../repository.ts'

const task = (id: string, title: string, needs = 'none', text = 'x'): string =>
  `# ${id}: ${title}\n\n- **Status**: TODO\n- **Depends**: ${needs}\n\n## Description\n${text}\n\n## Acceptance Criteria\n- [ ] It is there\n`

const inTasks = (texts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([file, text]) => [`docs/tasks/${file}`, text]))

/** A repository in whose two branches somebody has made T-002. */
function twoBranches(
  ours: Record<string, string>,
  theirs: Record<string, string>,
  more: Record<string, string> = {},
): string {
  const first = { 'docs/tasks/T-001.md': task('T-001', 'Begin'), 'package.json': '{}' }
  const root = makeRepository({ ...first, ...more })
  git(root, 'checkout', '--quiet', '-b', 'mine')
  commit(root, 'Ours', inTasks(ours))
  git(root, 'checkout', '--quiet', 'main')
  commit(root, 'Theirs', inTasks(theirs))
  git(root, 'checkout', '--quiet', 'mine')
  return root
}

const read = (root: string, file: string): string => readFileSync(join(root, `docs/tasks/${file}`), 'utf8')
const files = (root: string): readonly string[] => readdirSync(join(root, 'docs/tasks')).toSorted()

describe('a number that two branches have taken', () => {
  test('is given up by the one that the main branch does not have, with what refers to it', async () => {
    const root = twoBranches(
      {
        'T-002-pay.md': task('T-002', 'Pay'),
        'T-003.md': task('T-003', 'Refund', 'T-001, T-002', 'As T-002 does, but not XT-002 or T-0021.'),
        'T-001.md': task('T-001', 'Begin', 'T-2'),
      },
      { 'T-002.md': task('T-002', 'Log in') },
    )
    const { code, stdout } = await by(root, 'lint', '--fix', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout).renumbered).toEqual([
      { from: 'T-002', to: 'T-004', file: 'docs/tasks/T-004-pay.md' },
    ])
    expect(files(root)).toEqual(['T-001.md', 'T-003.md', 'T-004-pay.md'])
    expect(read(root, 'T-004-pay.md')).toBe(task('T-004', 'Pay'))
    expect(read(root, 'T-003.md')).toBe(
      task('T-003', 'Refund', 'T-001, T-004', 'As T-004 does, but not XT-002 or T-0021.'),
    )
    expect(read(root, 'T-001.md')).toBe(task('T-001', 'Begin', 'T-004'))
    commit(root, 'Other numbers')
    git(root, 'merge', '--quiet', '--no-edit', 'main')
    expect(await by(root, 'lint', '--fix')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing wrong'),
    })
    expect(files(root)).toEqual(['T-001.md', 'T-002.md', 'T-003.md', 'T-004-pay.md'])
  })

  test('is found where the main branch has been merged already', async () => {
    const root = twoBranches(
      { 'T-002-pay.md': task('T-002', 'Pay') },
      {
        'T-002.md': task('T-002', 'Log in'),
        'T-003.md': task('T-003', 'Log out', 'T-002'),
      },
    )
    git(root, 'merge', '--quiet', '--no-edit', 'main')
    expect((await by(root, 'lint')).code).toBe(1)
    expect(await by(root, 'lint', '--fix')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('T-002 is T-004 now'),
    })
    expect(read(root, 'T-003.md')).toBe(task('T-003', 'Log out', 'T-002'))
    expect(read(root, 'T-004-pay.md')).toBe(task('T-004', 'Pay'))
  })

  test('is no other task where the same one has landed, or has another name here', async () => {
    const done = task('T-002', 'Pay').replace('TODO', 'DONE')
    const root = twoBranches({ 'T-002.md': task('T-002', 'Pay') }, { 'T-002.md': done })
    git(root, 'mv', 'docs/tasks/T-001.md', 'docs/tasks/T-001-begin.md')
    expect((await jsonOf(root, 'lint', '--fix')).renumbered).toEqual([])
    expect(files(root)).toEqual(['T-001-begin.md', 'T-002.md'])
  })

  test('moves also where the file does not name it', async () => {
    const bare = '# Pay\n\n- **Status**: TODO\n'
    const root = twoBranches({ 'T-2.md': bare }, { 'T-002.md': task('T-002', 'Log in') })
    await by(root, 'lint', '--fix')
    expect(files(root)).toEqual(['T-001.md', 'T-3.md'])
    expect(read(root, 'T-3.md')).toBe(bare)
  })

  test('keeps its pattern, also where ids are bare numbers', async () => {
    const config = { tasks: { dir: 'docs/tasks/**', id: ['T-{n}', 'TASK-{n}', '{n}'] } }
    const root = twoBranches(
      {
        '002-pay.md': task('002', 'Pay 002 times'),
        'TASK-003.md': task('TASK-003', 'Refund', '2, T-001', 'As in 002.'),
        'deep/T-004.1-b.md': task('T-004.1', 'Count', 'task-3', 'Not T-004.'),
      },
      {
        '002.md': task('002', 'Log in'),
        'TASK-003-x.md': task('TASK-003', 'Log out', '002'),
        'T-004.1.md': task('T-004.1', 'Log'),
      },
      { 'ralph.config.json': JSON.stringify(config) },
    )
    git(root, 'merge', '--quiet', '--no-edit', 'main')
    const { renumbered } = await jsonOf(root, 'lint', '--fix')
    expect(renumbered.map(({ file }: { file: string }) => file)).toEqual([
      'docs/tasks/005-pay.md',
      'docs/tasks/TASK-006.md',
      'docs/tasks/deep/T-007-b.md',
    ])
    expect(read(root, '005-pay.md')).toBe(task('005', 'Pay 002 times'))
    expect(read(root, 'TASK-006.md')).toBe(task('TASK-006', 'Refund', '005, T-001', 'As in 002.'))
    expect(read(root, 'deep/T-007-b.md')).toBe(task('T-007', 'Count', 'TASK-006', 'Not T-004.'))
    expect(read(root, 'TASK-003-x.md')).toBe(task('TASK-003', 'Log out', '002'))
    expect((await by(root, 'lint')).code).toBe(0)
  })

  test('in the middle of a range has a person say which is meant, and nothing is changed', async () => {
    const root = twoBranches(
      {
        'T-002.md': task('T-002', 'Pay'),
        'T-003.md': task('T-003', 'Refund', 'T-001..T-002'),
      },
      { 'T-002.md': task('T-002', 'Log in') },
    )
    const { code, stderr } = await by(root, 'lint', '--fix')
    expect(code).toBe(2)
    expect(stderr).toContain('docs/tasks/T-003.md needs T-002 in a range')
    expect(git(root, 'status', '--porcelain')).toBe('')
  })
})

test.each([
  ['ralph new', ['new', 'Pay']],
  ['an import', ['import', 'todo.md']],
])('%s takes a number that is free on every branch and in every worktree', async (_, argv) => {
  const root = makeRepository({
    'docs/tasks/T-001.md': task('T-001', 'Begin'),
    'package.json': '{}',
    'todo.md': '# Shop\n\n- [ ] Pay\n',
  })
  git(root, 'branch', 'other')
  const tree = join(makeFolder(), 'tree')
  git(root, 'worktree', 'add', '--quiet', tree, 'other')
  put(tree, { 'docs/tasks/T-041.md': task('T-041', 'Elsewhere') })
  git(root, 'checkout', '--quiet', '-b', 'third')
  commit(root, 'More', { 'docs/tasks/T-017-slug.md': task('T-017', 'On a branch') })
  git(root, 'checkout', '--quiet', '-')
  expect(await by(root, ...argv)).toMatchObject({ code: 0 })
  expect(files(root)).toEqual(['T-001.md', 'T-042.md'])
})
