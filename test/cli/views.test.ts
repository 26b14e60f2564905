import { describe, expect, it } from 'vitest'
import { projectFolder, taskText } from '../repository.ts'
import { ralph } from './ralph.ts'

describe('ralph next --explain', () => {
  it('keeps titles readable in a terminal of 80 columns, however long the reasons', async () => {
    const title = 'Refuse an empty password'
    const root = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'Begin', { Depends: 'T-991, T-992, T-993' }),
      'docs/tasks/T-002.md': taskText('T-002', title, { Depends: 'T-001, T-994' }),
      'docs/tasks/T-003.md': `${taskText('T-003', 'Lock the form after five failures')}\n## Blocked\n\nSomebody has to say how long it stays locked, and who may unlock it.\n`,
    })
    const { stdout } = await ralph(['next', '--explain'], { cwd: root, columns: 80 })
    expect(stdout).toContain(`T-002  ${title}  `)
    expect(stdout).toContain('T-003  Lock the form after five failures  ')
    for (const line of stdout.replaceAll(/\u001b\[\d+m/g, '').split('\n'))
      expect(line.length).toBeLessThanOrEqual(80)
  })
})

describe('ralph graph', () => {
  it('says how to see less of it, where it is long', async () => {
    const ids = Array.from({ length: 40 }, (_, at) => `T-${String(at + 1).padStart(3, '0')}`)
    const files = ids.map((id, at) => [
      `docs/tasks/${id}.md`,
      taskText(id, 'Pay', { Status: at < 30 ? 'DONE' : 'TODO' }),
    ])
    const root = projectFolder(Object.fromEntries(files))
    const graph = async (...args: string[]): Promise<string> =>
      (await ralph(['graph', ...args], { cwd: root })).stdout
    expect(await graph()).toContain('ralph graph --todo')
    expect(await graph('--todo')).not.toContain('ralph graph --todo')
    expect(await graph('T-1', '--todo')).toBe('All of it is done.\n')
  })
})

describe('ralph list', () => {
  it.each(['done', 'Done', 'DONE'])('takes a status in any case: %s', async (status) => {
    const root = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'Pay', { Status: 'DONE' }) })
    expect((await ralph(['list', '--status', status], { cwd: root })).stdout).toContain('T-001')
  })

  it('says of a blocked task the first sentence, though a pipe has room for more', async () => {
    const blocked = `${taskText('T-001', 'Pay', { Status: 'BLOCKED' })}\n## Blocked\n\nNeeds a key. It has to be ordered.\n`
    const root = projectFolder({ 'docs/tasks/T-001.md': blocked })
    expect((await ralph(['list'], { cwd: root })).stdout).toContain('  blocked: Needs a key.\n')
  })

  it('has no heading over tasks that are of no milestone, where none is', async () => {
    const root = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'Pay') })
    expect((await ralph(['list'], { cwd: root })).stdout).toBe(
      '  ▸  T-001  Pay  Light  eligible\n\n0 of 1 done\n',
    )
  })

  it('tells of a milestone how far all of it is, also where a filter leaves a part of it', async () => {
    const task = (id: string, status: string, milestone: string): string =>
      taskText(id, 'Pay', { Status: status, Milestone: milestone })
    const root = projectFolder({
      'docs/tasks/T-001.md': task('T-001', 'DONE', '01 — A'),
      'docs/tasks/T-002.md': task('T-002', 'TODO', '01 — A'),
      'docs/tasks/T-003.md': task('T-003', 'TODO', '1.5 — B'),
    })
    const list = async (...args: string[]): Promise<string> =>
      (await ralph(['list', ...args], { cwd: root })).stdout
    expect(await list('--status', 'DONE')).toMatch(/^01 — A\s+1 of 2 done[\s\S]*\n1 of 2 done\n$/)
    expect(await list('--milestone', '1')).not.toContain('1.5')
    expect(await list('--milestone', '1')).toContain('T-002')
    expect(await list('--milestone', '1.5')).toContain('T-003')
  })

  it('says of an unclear task what is unclear, rather than what it needs', async () => {
    const root = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'Pay'),
      'docs/tasks/T-002.md': taskText('T-002', 'Bill', { Depends: 'T-001, T-009' }),
    })
    const { stdout } = await ralph(['list'], { cwd: root })
    expect(stdout).toContain('needs T-009, which does not exist')
  })
})

describe('ralph show', () => {
  it('keeps its columns whatever a team calls its own fields', async () => {
    const text = taskText('T-001', 'Pay', { Priority: 'high', 'Reviewed by a person': 'Ana', 담당자: 'Bea' })
    const root = projectFolder({ 'docs/tasks/T-001.md': text })
    const { stdout } = await ralph(['show', '1'], { cwd: root })
    expect(stdout).toContain('  priority high\n  file     docs/tasks/T-001.md\n')
    expect(stdout).toContain('\n\n  Reviewed by a person  Ana\n  담당자                Bea\n\n')
  })

  it('leaves no blank behind the id of a task without a title', async () => {
    const root = projectFolder({ 'docs/tasks/T-001.md': '' })
    expect((await ralph(['show', '1'], { cwd: root })).stdout).toMatch(/^T-001\n/)
  })

  it('takes a comment for nothing written', async () => {
    const root = projectFolder({ 'docs/tasks/T-001.md': '# T-001: A\n\n- **Status**: TODO\n' })
    await ralph(['new', 'Pay'], { cwd: root })
    expect((await ralph(['show', '2'], { cwd: root })).stdout).toMatch(/Description {2,}empty\n/)
  })
})

describe('ralph next in a narrow terminal', () => {
  it('says all of how far the backlog is, on as many lines as that takes', async () => {
    const tasks = ['T-001', 'T-002', 'T-003'].map((id) => [`docs/tasks/${id}.md`, taskText(id, 'Pay')])
    const waiting = ['docs/tasks/T-004.md', taskText('T-004', 'Bill', { Depends: 'T-001' })]
    const root = projectFolder(Object.fromEntries([...tasks, waiting]) as Record<string, string>)
    const { stdout } = await ralph(['next'], { cwd: root, columns: 50, env: { NO_COLOR: '1' } })
    expect(stdout.trimEnd().split('\n\n').at(-1)).toBe(
      '0 of 4 done · 2 more eligible (ralph next --all)\n· 1 waits (ralph next --explain)',
    )
  })
})

describe('ralph new', () => {
  it('takes braces for one path', async () => {
    const root = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'Pay') })
    await ralph(['new', 'Bill', '--touches', 'src/{a,b}.ts,c.ts'], { cwd: root })
    const { stdout } = await ralph(['show', '2', '--json'], { cwd: root })
    expect(JSON.parse(stdout).task.touches).toEqual(['src/{a,b}.ts', 'c.ts'])
  })
})

describe('ralph next --explain', () => {
  it('names a task once, however many reasons it has to wait', async () => {
    const root = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'Pay', { Depends: 'T-008, T-009' }),
    })
    const { stdout } = await ralph(['next', '--explain'], { cwd: root })
    expect(stdout).toMatch(/\n {2}T-001 {2}Pay {2}needs T-008.*\n {14}needs T-009/)
  })
})

describe('what is long', () => {
  it('is told in brief where nothing is eligible: the first few, and how many more', async () => {
    const ids = Array.from({ length: 10 }, (_, at) => `T-${String(at + 1).padStart(3, '0')}`)
    const files = ids.map((id) => [`docs/tasks/${id}.md`, taskText(id, 'Pay', { Depends: 'T-099' })])
    const root = projectFolder(Object.fromEntries(files) as Record<string, string>)
    const { code, stdout } = await ralph(['next'], { cwd: root })
    expect(code).toBe(1)
    expect(stdout).toMatch(/T-008 .*\n {2}and 2 more\n/)
    expect((await ralph(['next', '--explain'], { cwd: root })).stdout).toMatch(/T-010 /)
  })

  it('is told in brief by init, too', async () => {
    const ids = Array.from({ length: 14 }, (_, at) => `T-${String(at + 1).padStart(3, '0')}`)
    const files = ids.map((id) => [`docs/tasks/${id}.md`, taskText(id, 'Pay', { Status: `maybe ${id}` })])
    const root = projectFolder(Object.fromEntries(files) as Record<string, string>)
    const { stderr } = await ralph(['init', '--yes'], { cwd: root })
    expect(stderr).toMatch(/T-012\.md .*\n {4}and 2 more\n/)
  })
})

describe('the filters of ralph list', () => {
  it.each([
    [['--tag', 'ui,slow'], ['T-003']],
    [
      ['--tag', 'ui'],
      ['T-001', 'T-003'],
    ],
    [['--discipline', 'front'], ['T-002']],
    [['--feature', 'Pay'], ['T-001']],
    [['--milestone', '2'], ['T-003']],
    [['--status', 'done'], ['T-002']],
  ])('%j leave %j', async (filter, ids) => {
    const root = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'A', { Tags: 'ui', Feature: 'pay' }),
      'docs/tasks/T-002.md': taskText('T-002', 'B', { Status: 'DONE', Discipline: 'front' }),
      'docs/tasks/T-003.md': taskText('T-003', 'C', { Tags: 'slow, ui', Milestone: '2 — Later' }),
    })
    const { stdout } = await ralph(['list', '--json', ...filter], { cwd: root })
    expect(JSON.parse(stdout).tasks.map(({ id }: { id: string }) => id)).toEqual(ids)
  })
})

describe('a file that says two statuses', () => {
  it('has none, whoever asks', async () => {
    const text = taskText('T-001', 'Pay', { Status: 'DONE' }).replace(
      '- **Depends**',
      '- **Status**: TODO\n$&',
    )
    const root = projectFolder({ 'docs/tasks/T-001.md': text })
    const asked = (...argv: string[]) => ralph(argv, { cwd: root })
    const counts = { TODO: 0, DONE: 0, BLOCKED: 0 }
    expect(JSON.parse((await asked('list', '--json')).stdout)).toMatchObject({
      counts,
      tasks: [{ status: null }],
    })
    expect(JSON.parse((await asked('next', '--json')).stdout)).toMatchObject({ counts, outcome: 'stuck' })
    expect((await asked('list')).stdout).toMatch(/\? {2}T-001 .*given twice[^]*0 of 1 done/)
    expect((await asked('next', '--explain')).stdout).toContain('Status is given twice')
    expect((await asked('graph')).stdout).toMatch(/^\? /)
  })
})

describe('the mark of a discipline', () => {
  const files = {
    'docs/disciplines/frontend.md':
      '# Frontend engineer\n\n- **Icon**: ✎\n- **Color**: #e07a5f\n- **Acronym**: FE\n',
    'docs/tasks/T-001.md': taskText('T-001', 'Pay', { Discipline: 'frontend' }),
    'docs/tasks/T-002.md': taskText('T-002', 'Bill', { Discipline: 'unknown' }),
    'docs/tasks/T-003.md': taskText('T-003', 'Owe'),
  }

  it('stands in the list as its acronym, in its colour', async () => {
    const cwd = projectFolder(files)
    const { stdout } = await ralph(['list'], { cwd })
    expect(stdout).toContain('▸  T-001  Pay   FE  Light  eligible\n  ▸  T-002  Bill      Light  eligible\n')
    const coloured = await ralph(['list'], { cwd, columns: 80 })
    expect(coloured.stdout).toContain('\u001b[38;2;224;122;95mFE\u001b[39m')
  })

  it('stands with its name where one task is shown', async () => {
    const cwd = projectFolder(files)
    const show = async (id: string): Promise<string> => (await ralph(['show', id], { cwd })).stdout
    expect(await show('T-001')).toMatch(/how +frontend\n +✎ FE · Frontend engineer\n/)
    expect(await show('T-002')).not.toContain('·  ')
    expect(await show('T-003')).not.toContain('how')
  })
})
