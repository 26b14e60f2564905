import { describe, expect, it } from 'vitest'
import { openReadingGit } from '../../src/git/door.ts'
import { resolveRange } from '../../src/git/range.ts'
import { diffBacklog, diffJson } from '../../src/history/backlog-diff.ts'
import { changeBetween, changeOfPlain } from '../../src/history/task-change.ts'
import { DEFAULT_TIERS } from '../../src/backlog/select/tier.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { USUAL_FOLDERS } from '../../src/backlog/task-folders.ts'
import { TASK_VOCABULARY } from '../../src/backlog/vocabulary.ts'
import { diffMarkdown, diffView } from '../../src/screen/diff-view.ts'
import { ENV, git, makeFolder, makeRepository, put } from '../repository.ts'

interface Shown {
  readonly added: readonly { readonly id: string; readonly eligible: boolean; readonly tier: string }[]
  readonly removed: readonly string[]
  readonly changed: readonly {
    readonly id: string
    readonly fields: readonly object[]
    readonly sections: readonly string[]
  }[]
  readonly completed: readonly string[]
  readonly blocked: readonly string[]
  readonly reopened: readonly string[]
  readonly eligible: readonly string[]
  readonly cycles: readonly (readonly string[])[]
  readonly problems: readonly { readonly rule: string; readonly file: string }[]
}

async function diffOf(root: string, range?: string) {
  const door = openReadingGit({ cwd: root, env: ENV })
  const place = {
    root,
    folders: USUAL_FOLDERS,
    vocabulary: TASK_VOCABULARY,
    tiers: DEFAULT_TIERS,
    around: {},
  }
  return diffBacklog(door, await resolveRange(door, range), place)
}

const shown = async (root: string, range?: string): Promise<Shown> =>
  JSON.parse(JSON.stringify(diffJson(await diffOf(root, range)))) as Shown

function task(id: string, fields: Readonly<Record<string, string>> = {}, rest = ''): string {
  const lines = Object.entries({ Status: 'TODO', ...fields }).map(([key, value]) => `- **${key}**: ${value}`)
  return `# ${id}: Do ${id}\n\n${lines.join('\n')}\n\n## Description\nDo it.\n\n## Acceptance Criteria\n- [ ] done\n${rest}`
}

const at = (tasks: Readonly<Record<string, string>>, folder = 'docs/tasks') =>
  Object.fromEntries(Object.entries(tasks).map(([name, text]) => [`${folder}/${name}.md`, text]))

function commit(root: string, message = 'Change'): void {
  git(root, 'add', '--all')
  git(root, 'commit', '-q', '-m', message)
}

describe('what a range does to a backlog', () => {
  it('is told field by field, and by what follows from it', async () => {
    const root = makeRepository(
      at({
        'T-1': task('T-1'),
        'T-2': task('T-2', { Depends: 'T-1' }),
        'T-3': task('T-3', { Status: 'BLOCKED' }, '\n## Blocked\n\nneeds a key\n'),
        'T-4': task('T-4'),
        'T-5': task('T-5'),
      }),
    )
    put(
      root,
      at({
        'T-1': task('T-1', { Status: 'DONE' }, '\n## Completion Notes\n\nDid it.\n'),
        'T-2': task('T-2', { Depends: 'T-1', Priority: 'high' }),
        'T-3': task('T-3', {}, '\n## Hints\n\n- more\n'),
        'T-5': task('T-5', { Status: 'BLOCKED' }, '\n## Blocked\n\nno key\n'),
        'T-6': task('T-6', { Depends: 'T-2, T-99' }),
      }),
    )
    git(root, 'rm', '-q', 'docs/tasks/T-4.md')
    const inCheckout = await shown(root)
    expect(inCheckout).toMatchObject({
      added: [{ id: 'T-6', eligible: false, tier: 'Standard' }],
      removed: ['T-4'],
      changed: [
        {
          id: 'T-1',
          fields: [{ name: 'Status', before: 'TODO', after: 'DONE' }],
          sections: ['Completion Notes'],
        },
        { id: 'T-2', fields: [{ name: 'Priority', before: null, after: 'high' }], sections: [] },
        {
          id: 'T-3',
          fields: [{ name: 'Status', before: 'BLOCKED', after: 'TODO' }],
          sections: ['Blocked', 'Hints'],
        },
        { id: 'T-5' },
      ],
      completed: ['T-1'],
      blocked: ['T-5'],
      reopened: ['T-3'],
      eligible: ['T-2', 'T-3'],
      cycles: [],
      problems: [{ rule: 'missing-dependency', file: 'docs/tasks/T-6.md' }],
    })
    commit(root)
    expect(await shown(root, 'HEAD~1..HEAD')).toEqual({ ...inCheckout, range: 'HEAD~1..HEAD' })
    expect(await shown(root, 'HEAD..HEAD')).toMatchObject({ added: [], removed: [], changed: [] })
  })

  it('follows a file to another name and to another folder', async () => {
    const root = makeRepository({
      ...at({ 'T-1': task('T-1'), 'T-3': task('T-3') }),
      ...at({ 'T-2': task('T-2') }, 'backlog'),
    })
    put(root, at({ 'T-1-login': task('T-1', { Priority: 'low' }), 'T-2': task('T-2') }))
    git(root, 'rm', '-q', 'docs/tasks/T-1.md', 'backlog/T-2.md')
    const expected = {
      added: [],
      removed: [],
      changed: [
        { id: 'T-1', fields: [{ name: 'File', before: 'docs/tasks/T-1.md' }, { name: 'Priority' }] },
        {
          id: 'T-2',
          fields: [{ name: 'File', before: 'backlog/T-2.md', after: 'docs/tasks/T-2.md' }],
        },
      ],
    }
    expect(await shown(root)).toMatchObject(expected)
    commit(root)
    expect(await shown(root, 'HEAD~1..HEAD')).toMatchObject(expected)
  })

  it('names what waits in a circle now, though nobody touched the file', async () => {
    const root = makeRepository(at({ 'T-1': task('T-1'), 'T-2': task('T-2', { Depends: 'T-1' }) }))
    put(root, at({ 'T-1': task('T-1', { Depends: 'T-2' }) }))
    const diff = await shown(root)
    expect(diff.cycles).toEqual([['T-1', 'T-2']])
    expect(diff.problems.map(({ rule }) => rule)).toContain('cycle')
    git(root, 'checkout', '-q', '.')
    git(root, 'rm', '-q', 'docs/tasks/T-1.md')
    expect((await shown(root)).problems).toMatchObject([
      { rule: 'missing-dependency', file: 'docs/tasks/T-2.md' },
    ])
  })

  it('is that of the branch, also where the main branch went on, and after a merge', async () => {
    const root = makeRepository(at({ 'T-1': task('T-1') }))
    git(root, 'checkout', '-q', '-b', 'feature')
    put(root, at({ 'T-2': task('T-2') }))
    commit(root)
    git(root, 'checkout', '-q', 'main')
    put(root, at({ 'T-3': task('T-3') }))
    commit(root)
    git(root, 'checkout', '-q', 'feature')
    const added = async (range?: string) => (await shown(root, range)).added.map(({ id }) => id)
    expect(await added()).toEqual(['T-2'])
    expect(await added('main...')).toEqual(['T-2'])
    expect((await shown(root, 'main..feature')).removed).toEqual(['T-3'])
    git(root, 'merge', '-q', '--no-edit', 'main')
    expect(await added()).toEqual(['T-2'])
    expect(await added('HEAD~1..HEAD')).toEqual(['T-3'])
  })

  it('is of all tasks since before the first commit', async () => {
    const root = makeRepository(at({ 'T-1': task('T-1') }))
    expect(await shown(root, `${'0'.repeat(40)}..HEAD`)).toMatchObject({
      added: [{ id: 'T-1' }],
      eligible: ['T-1'],
    })
    await expect(shown(root, 'nowhere')).rejects.toThrow('there is no commit nowhere')
  })

  it('starts nothing and needs no checkout', async () => {
    const root = makeRepository(at({ 'T-1': task('T-1') }))
    put(root, at({ 'T-1': task('T-1', { Status: 'DONE' }) }))
    commit(root)
    const bare = makeFolder()
    git(root, 'clone', '-q', '--no-checkout', root, bare)
    expect((await shown(bare, 'HEAD~1..HEAD')).completed).toEqual(['T-1'])
  })
})

describe('the Markdown of a diff', () => {
  it('says what stands in titles, and no more', async () => {
    const root = makeRepository()
    const title = 'x](http://evil) <img src=x> **b** @ada #12 `c` | </details>'
    put(root, at({ 'T-1': task('T-1').replace('Do T-1', title) }))
    const text = diffMarkdown(await diffOf(root))
    expect(text).not.toMatch(/<img|@ada|#12|(?<!\\)\](?:\()http|\*\*b\*\*|<\/details> *$/m)
    expect(text).toContain('**T-1**')
  })

  it('has problems first, marks edits of DONE tasks, shows changed lines, and links to files', async () => {
    const done = { Status: 'DONE' }
    const root = makeRepository(
      at({ 'T-1': task('T-1', done), 'T-2': task('T-2', done), 'T-3': task('T-3') }),
    )
    const edited = task('T-1', done).replace('Do it.', 'Do it.\nAnd ``` twice.')
    put(root, at({ 'T-1': edited, 'T-2': task('T-2', { ...done, Commit: '1234567' }) }))
    put(root, at({ 'T-3': task('T-3', { Depends: 'T-9' }) }))
    commit(root)
    const diff = await diffOf(root, 'HEAD~1..HEAD')
    const text = diffMarkdown(diff, (file, line) => `https://forge/${file}${line ? `#L${line}` : ''}`)
    expect(text.slice(0, text.indexOf('graph TD'))).toBe(`### Backlog: 3 changed, 1 new problem

**Problems**

- [docs/tasks/T-3.md:4](<https://forge/docs/tasks/T-3.md#L4>) error missing-dependency: T-9 does not exist

**Changed**

- [**T-1**](<https://forge/docs/tasks/T-1.md>) Do T-1  
  It is DONE, so no agent will do what is new: reopen it, or write a new task  
  text of Description
  \`\`\`diff
  @@ Description @@
  + And ''' twice.
  \`\`\`
- [**T-2**](<https://forge/docs/tasks/T-2.md>) Do T-2  
  Commit: – → 1234567
- [**T-3**](<https://forge/docs/tasks/T-3.md>) Do T-3  
  Depends: – → T-9

\`\`\`mermaid
`)
    expect(diffMarkdown(diff)).toContain('- **T-1** Do T-1  ')
  })

  it('draws a few tasks, folds many, and leaves out a wall of them', async () => {
    const root = makeRepository()
    const chain = (count: number) =>
      Array.from({ length: count }, (_, i) => [
        `T-${i + 1}`,
        task(`T-${i + 1}`, i > 0 ? { Depends: `T-${i}` } : {}),
      ])
    put(root, at(Object.fromEntries(chain(3)) as Record<string, string>))
    expect(diffMarkdown(await diffOf(root))).toMatch(/\n\n```mermaid\n/)
    put(root, at(Object.fromEntries(chain(20)) as Record<string, string>))
    expect(diffMarkdown(await diffOf(root))).toContain('<summary>Graph of 20 tasks</summary>')
    put(root, at(Object.fromEntries(chain(300)) as Record<string, string>))
    const wall = diffMarkdown(await diffOf(root))
    expect(wall).not.toContain('mermaid')
    expect(wall).toContain('- … and 250 more')
  })
})

const VERSIONS = [
  task('T-1'),
  task('T-1', { Status: 'DONE', Commit: '1234567' }, '\n## Completion Notes\n\nDid `it`.\n'),
  task('T-1', { Depends: '[T-2](T-2.md), T-3', Touches: '`a.ts`, `b.ts`' }),
  task('T-1', { depends_on: 'T-2', Reviewer: 'Zoë' }, '\n## Notes ##\nx\n\n## DoD\n- y\n'),
  task('T-1', {}, '\n## Hints\n```sh\n## not a heading\n```\n'),
  task('T-1', {}, '\n## Hints\n```sh\n## not a heading at all\n```\n'),
  task('T-1', {}, '\nUnder\n---\nline\n'),
  task('T-1', {}, '\n## Hints\nx\n'),
  task('T-1', { Status: 'BLOCKED' }, '\n## Hints\nx\n\n## Blocked\nWhy\n'),
  task('T-1', {}, '\n## Hints\nx\n## Comments\ny\n'),
  task('T-1', {}, '\n## Hints\nx\nand more\n'),
  task('T-1', {}, '\n## Hints\nx\n\n\n'),
  task('T-1', {}, '\n## 受け入れ\nはい\n'),
  task('T-1').replaceAll('\n', '\r\n'),
  task('T-1').replace('Do T-1', 'Do `it` *now*'),
]

it('says a problem that many files have once, in words and in Markdown', async () => {
  const root = makeRepository()
  const bare = (id: string): string => `# ${id}: Do ${id}\n\n- **Status**: TODO\n\n## Description\nDo it.\n`
  const names = Array.from({ length: 9 }, (_, i) => `T-${i + 1}`)
  put(root, at(Object.fromEntries(names.map((id) => [id, bare(id)]))))
  const diff = await diffOf(root)
  expect(diff.problems.filter(({ rule }) => rule === 'missing-criteria')).toHaveLength(9)
  for (const text of [diffMarkdown(diff), JSON.stringify(diffView(diff))])
    expect(text.match(/missing-criteria/g)).toHaveLength(1)
  expect(diffMarkdown(diff)).toContain('also in T-2, T-3,')
})

it('is the same by the lines of plain files as by the parser', async () => {
  let quick = 0
  for (const before of VERSIONS) {
    for (const after of VERSIONS) {
      const [was, is] = await Promise.all(
        [before, after].map((text) => parseTask({ file: 'docs/tasks/T-1.md', text })),
      )
      const plain = [
        { facts: was!, plain: Buffer.from(before).toString('latin1') },
        { facts: is!, plain: Buffer.from(after).toString('latin1') },
      ] as const
      const found = changeOfPlain(...plain, TASK_VOCABULARY)
      if (found === undefined || before === after) continue
      quick++
      const sorted = (change: typeof found | null) => ({
        fields: change?.fields.toSorted((a, b) => (a.name < b.name ? -1 : 1)) ?? [],
        sections: change?.sections.toSorted() ?? [],
      })
      expect(sorted(found)).toEqual(sorted(changeBetween(was!, is!)))
    }
  }
  expect(quick).toBeGreaterThanOrEqual(20)
})
