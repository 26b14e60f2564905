import { describe, expect, it } from 'vitest'
import { projectFolder, taskText } from '../repository.ts'
import { ralph, type Situation } from './ralph.ts'

type Fields = Readonly<Record<string, string>>
const idOf = (number: number): string => `T-${String(number).padStart(3, '0')}`

/** A project with these task files, from T-001 on: each as its text, or as the fields of a task named Pay. */
function project(...tasks: readonly (string | Fields)[]): string {
  const files = tasks.map((task, index) => {
    const id = idOf(index + 1)
    return [`docs/tasks/${id}.md`, typeof task === 'string' ? task : taskText(id, 'Pay', task)]
  })
  return projectFolder(Object.fromEntries(files) as Fields)
}

/** What a command prints. */
const print = async (cwd: string, command: string, more: Partial<Situation> = {}): Promise<string> =>
  (await ralph(command.split(' '), { cwd, ...more })).stdout
const json = async (cwd: string, command: string) => JSON.parse(await print(cwd, `${command} --json`))

describe('ralph next', () => {
  it('keeps titles readable in a terminal of 80 columns, however long the reasons', async () => {
    const [title, locked] = ['Refuse an empty password', 'Lock the form after five failures']
    const cwd = project(
      { Depends: 'T-991, T-992, T-993' },
      taskText('T-002', title, { Depends: 'T-001, T-994' }),
      `${taskText('T-003', locked)}\n## Blocked\n\nSomebody has to say how long it stays locked, and who may unlock it.\n`,
    )
    const stdout = await print(cwd, 'next --explain', { columns: 80 })
    expect(stdout).toContain(`T-002  ${title}  `)
    expect(stdout).toContain(`T-003  ${locked}  `)
    for (const line of stdout.replaceAll(/\u001b\[\d+m/g, '').split('\n'))
      expect(line.length).toBeLessThanOrEqual(80)
  })

  it('shows all of the progress in a narrow terminal, on as many lines as that takes', async () => {
    const cwd = project({}, {}, {}, { Depends: 'T-001' })
    const stdout = await print(cwd, 'next', { columns: 50, env: { NO_COLOR: '1' } })
    expect(stdout.trimEnd().split('\n\n').at(-1)).toBe(
      '0 of 4 done · 2 more eligible (ralph next --all) ·\n1 waits (ralph next --explain)',
    )
  })

  it('names a task once, however many reasons it has to wait', async () => {
    const stdout = await print(project({ Depends: 'T-008, T-009' }), 'next --explain')
    expect(stdout).toMatch(/\n {2}T-001 {2}Pay {2}needs T-008.*\n {14}needs T-009/)
  })

  it('is brief where nothing is eligible: the first few, and how many more', async () => {
    const cwd = project(...Array.from({ length: 10 }, () => ({ Depends: 'T-099' })))
    const { code, stdout } = await ralph(['next'], { cwd })
    expect(code).toBe(1)
    expect(stdout).toMatch(/T-008 .*\n {2}and 2 more\n/)
    expect(await print(cwd, 'next --explain')).toMatch(/T-010 /)
  })
})

it('ralph graph says how to see less of it, where it is long', async () => {
  const tasks = Array.from({ length: 40 }, (_, at) => ({ Status: at < 30 ? 'DONE' : 'TODO' }))
  const cwd = project(...tasks)
  expect(await print(cwd, 'graph')).toContain('ralph graph --todo')
  expect(await print(cwd, 'graph --todo')).not.toContain('ralph graph --todo')
  expect(await print(cwd, 'graph T-1 --todo')).toBe('All of it is done.\n')
})

describe('ralph list', () => {
  it('gives the first sentence of why a task is blocked, though a pipe has room for more', async () => {
    const blocked = taskText('T-001', 'Pay', { Status: 'BLOCKED' })
    const cwd = project(`${blocked}\n## Blocked\n\nNeeds a key. It has to be ordered.\n`)
    expect(await print(cwd, 'list')).toContain('  blocked: Needs a key.\n')
  })

  it('omits the heading when no task has a milestone', async () => {
    const rows = '  ▸  T-001  Pay  Light  eligible\n\n0 of 1 done\n'
    expect(await print(project({}), 'list')).toBe(rows)
  })

  it("shows the whole milestone's progress even when filtered", async () => {
    const cwd = project(
      { Status: 'DONE', Milestone: '01 — A' },
      { Milestone: '01 — A' },
      { Milestone: '1.5 — B' },
    )
    const done = await print(cwd, 'list --status DONE')
    expect(done).toMatch(/^01 — A\s+1 of 2 done[\s\S]*\n1 of 2 done\n$/)
    expect(await print(cwd, 'list --milestone 1')).toMatch(/T-002[^.]*$/)
    expect(await print(cwd, 'list --milestone 1.5')).toContain('T-003')
  })

  it('says what is unclear in an unclear task, rather than what it needs', async () => {
    const cwd = project({}, { Depends: 'T-001, T-009' })
    expect(await print(cwd, 'list')).toContain('needs T-009, which does not exist')
  })

  it.each([
    ['--tag ui,slow', ['T-003']],
    ['--tag ui', ['T-001', 'T-003']],
    ['--discipline front', ['T-002']],
    ['--feature Pay', ['T-001']],
    ['--milestone 2', ['T-003']],
    ['--status done', ['T-002']],
  ])('has with %s only %j', async (filter, ids) => {
    const cwd = project(
      { Tags: 'ui', Feature: 'pay' },
      { Status: 'DONE', Discipline: 'front' },
      { Tags: 'slow, ui', Milestone: '2 — Later' },
    )
    const { tasks } = await json(cwd, `list ${filter}`)
    expect(tasks.map(({ id }: { id: string }) => id)).toEqual(ids)
  })
})

describe('ralph show', () => {
  it('keeps its columns whatever a team calls its own fields', async () => {
    const cwd = project({ Priority: 'high', 'Reviewed by a person': 'Ana', 담당자: 'Bea' })
    const stdout = await print(cwd, 'show 1')
    expect(stdout).toContain('  priority high\n  file     docs/tasks/T-001.md\n')
    expect(stdout).toContain('\n\n  Reviewed by a person  Ana\n  담당자                Bea\n\n')
  })

  it('leaves no blank behind the id of a task without a title', async () => {
    expect(await print(project(''), 'show 1')).toMatch(/^T-001\n/)
  })

  it('takes a comment for an empty section', async () => {
    const cwd = project('# T-001: A\n\n- **Status**: TODO\n')
    await print(cwd, 'new Pay')
    expect(await print(cwd, 'show 2')).toMatch(/Description {2,}empty\n/)
  })
})

it('ralph new takes braces for one path', async () => {
  const cwd = project({})
  await print(cwd, 'new Bill --touches src/{a,b}.ts,c.ts')
  expect((await json(cwd, 'show 2')).task.touches).toEqual(['src/{a,b}.ts', 'c.ts'])
})

it('ralph init is brief about many task files', async () => {
  const cwd = project(...Array.from({ length: 14 }, (_, at) => ({ Status: `maybe ${at}` })))
  const { stderr } = await ralph(['init', '--yes'], { cwd })
  expect(stderr).toMatch(/T-012\.md .*\n {4}and 2 more\n/)
})

it('a file with two statuses has none in any view', async () => {
  const text = taskText('T-001', 'Pay', { Status: 'DONE' })
  const cwd = project(text.replace('- **Depends**', '- **Status**: TODO\n$&'))
  const counts = { TODO: 0, DONE: 0, BLOCKED: 0 }
  expect(await json(cwd, 'list')).toMatchObject({ counts, tasks: [{ status: null }] })
  expect(await json(cwd, 'next')).toMatchObject({ counts, outcome: 'stuck' })
  expect(await print(cwd, 'list')).toMatch(/\? {2}T-001 .*given twice[^]*0 of 1 done/)
  expect(await print(cwd, 'next --explain')).toContain('Status is given twice')
  expect(await print(cwd, 'graph')).toMatch(/^\? /)
})

it('the mark of a discipline is its acronym in the list, in its colour, and beside its name in ralph show', async () => {
  const cwd = projectFolder({
    'docs/disciplines/frontend.md':
      '# Frontend engineer\n\n- **Icon**: ✎\n- **Color**: #e07a5f\n- **Acronym**: FE\n',
    'docs/tasks/T-001.md': taskText('T-001', 'Pay', { Discipline: 'frontend' }),
    'docs/tasks/T-002.md': taskText('T-002', 'Bill', { Discipline: 'unknown' }),
    'docs/tasks/T-003.md': taskText('T-003', 'Owe'),
  })
  const rows = '▸  T-001  Pay   FE  Light  eligible\n  ▸  T-002  Bill      Light  eligible\n'
  expect(await print(cwd, 'list')).toContain(rows)
  expect(await print(cwd, 'list', { columns: 80 })).toContain('\u001b[38;2;224;122;95mFE\u001b[39m')
  expect(await print(cwd, 'show T-001')).toMatch(/how +frontend\n +✎ FE · Frontend engineer\n/)
  expect(await print(cwd, 'show T-002')).not.toContain('·  ')
  expect(await print(cwd, 'show T-003')).not.toContain('how')
})

describe('with two task folders', () => {
  const folders = (): string =>
    projectFolder({
      'ralph.config.json': '{ "tasks": { "dir": ["docs/tasks", "docs/done"] } }',
      'docs/done/T-001.md': taskText('T-001', 'One', { Status: 'DONE' }),
    })

  it('the first may be missing, as in a clone, where it was empty', async () => {
    const cwd = folders()
    expect(await json(cwd, 'list')).toMatchObject({ tasks: [{ id: 'T-001' }] })
    expect(await json(cwd, 'next')).toMatchObject({ outcome: 'all-done' })
    expect(await json(cwd, 'new Two --depends 1')).toMatchObject({ file: 'docs/tasks/T-002.md' })
    expect(await json(cwd, 'list')).toMatchObject({ tasks: [{ id: 'T-001' }, { id: 'T-002' }] })
  })

  it('an editor has the files of both checked', async () => {
    const cwd = folders()
    const input = taskText('T-001', 'One', { Status: 'BOGUS' })
    const argv = ['lint', '--stdin', '--file', 'docs/done/T-001.md', '--json']
    const { diagnostics } = JSON.parse((await ralph(argv, { cwd, input })).stdout) as {
      diagnostics: object[]
    }
    expect(diagnostics).toContainEqual(expect.objectContaining({ rule: 'bad-status' }))
  })
})
