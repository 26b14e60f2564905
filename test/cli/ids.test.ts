import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { git, makeRepository, put, taskText } from '../repository.ts'
import { by, jsonOf, ralph } from './ralph.ts'
import { madeOnce, repository, run } from './script-repository.ts'

const IDS = ['T-001', 'T-001b', 'TASK-002', '003', 'T-004.1']
const tasks = { id: ['T-{n}', 'TASK-{n}', '{n}'], dir: ['docs/tasks/**'] }

/** Tasks with ids of several kinds, one in a folder below, all of them done. */
const finished = madeOnce(async () => {
  const cwd = repository(Object.fromEntries(IDS.map((id) => [id, `echo ${id} > ${id}.txt`])), {
    tasks,
    commit: { seal: true, digits: 4 },
  })
  mkdirSync(join(cwd, 'docs/tasks/phase-2'))
  renameSync(join(cwd, 'docs/tasks/003.md'), join(cwd, 'docs/tasks/phase-2/003-three.md'))
  git(cwd, 'add', '-A')
  git(cwd, 'commit', '-qm', 'Move one')
  await run(cwd, '--loop')
  return cwd
})

const idsIn = (list: readonly { readonly id: string }[]): readonly string[] => list.map(({ id }) => id)

describe('tasks with a suffix, another pattern, or in a folder below', () => {
  it('are done in their order, and are all in list, log, verify and report', async () => {
    const cwd = await finished()
    const { tasks: listed } = await jsonOf(cwd, 'list')
    expect(idsIn(listed)).toEqual(IDS)
    expect(idsIn((await jsonOf(cwd, 'log')).completions)).toEqual(IDS.toReversed())
    const { tasks: verified } = await jsonOf(cwd, 'verify')
    expect(verified.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual(
      IDS.map((id) => [id, 'sealed']),
    )
    expect(git(cwd, 'log', '-1', '--format=%s%n%(trailers:key=Task,valueonly)').trim()).toBe(
      'T-004.1: Do T-004.1\nT-004.1',
    )
  })

  it('are found in history where their commit has another hash now', async () => {
    const cwd = await finished()
    git(cwd, 'commit', '--amend', '-q', '--no-edit', '--date=2001-01-01')
    const { tasks: verified } = await jsonOf(cwd, 'verify')
    expect(verified.at(-1)).toMatchObject({ id: 'T-004.1', state: 'moved' })
  })

  it('are meant by an id in any case, or a number that is one of theirs', async () => {
    const cwd = await finished()
    for (const [typed, id] of [
      ['t-1B', 'T-001b'],
      ['1b', 'T-001b'],
      ['task-2', 'TASK-002'],
      ['2', 'TASK-002'],
      ['3', '003'],
      ['4.1', 'T-004.1'],
    ] as const)
      expect(await jsonOf(cwd, 'show', typed)).toMatchObject({ task: { id } })
  })

  it('leave the next number free for a new one, wherever they are', async () => {
    const cwd = await finished()
    git(cwd, 'checkout', '-qb', 'other')
    put(cwd, { 'docs/tasks/deep/er/TASK-017.md': taskText('TASK-017', 'Another') })
    git(cwd, 'add', '-A')
    git(cwd, 'commit', '-qm', 'Add a task')
    git(cwd, 'checkout', '-q', '-')
    expect((await by(cwd, 'new', 'More')).stdout).toBe('docs/tasks/T-018.md\n')
  })
})

describe('a task with a suffix within a range', () => {
  const script = (text: string) => `\n## Script\n\n~~~~sh\n${text}\n~~~~\n`
  const added =
    taskText('T-001b', 'Added', { Depends: 'T-004' }) + script('echo > 1b.txt').replaceAll('~~~~', '```')
  const files = {
    'package.json': '{}',
    'ralph.config.json': JSON.stringify({ gates: [], commit: { seal: false } }),
    'docs/tasks/T-001.md':
      taskText('T-001', 'Add one') + script(`cat > docs/tasks/T-001b.md <<'END'\n${added}END`),
    'docs/tasks/T-002.md': taskText('T-002', 'Two') + script('echo 2 > 2.txt'),
    'docs/tasks/T-003.md': taskText('T-003', 'Three', { Depends: 'T-001–T-002' }) + script('echo 3 > 3.txt'),
    'docs/tasks/T-004.md': taskText('T-004', 'Four') + script('echo 4 > 4.txt'),
  }

  it('is waited for, also if an agent has just added it', async () => {
    const cwd = makeRepository(files)
    await run(cwd, '--loop')
    const done = idsIn((await jsonOf(cwd, 'log')).completions)
    expect(done.toReversed()).toEqual(['T-001', 'T-002', 'T-004', 'T-001b', 'T-003'])
  })

  it('is needed by the one task that is shown, or checked on standard input', async () => {
    const file = 'docs/tasks/T-001b.md'
    const cwd = makeRepository({ ...files, [file]: taskText('T-001b', 'B') })
    expect((await by(cwd, 'show', '3')).stdout).toContain('3 dependencies')
    const input = taskText('T-001b', 'B', { Depends: 'T-001..T-003' })
    const { stdout } = await ralph(['lint', '--json', '--stdin', '--file', file], { cwd, input })
    expect(stdout).toContain('T-001b depends on itself')
  })
})

describe('ids of several patterns', () => {
  const narrow = makeRepository({
    'ralph.config.json': JSON.stringify({ tasks: { id: ['T-{n}', 'US-{n}'] } }),
    ...Object.fromEntries(
      ['T-001', 'T-002', 'T-03', 'US-1', 'US-2', 'US-12'].map((id) => [
        `docs/tasks/${id}.md`,
        taskText(id, 'Any'),
      ]),
    ),
  })

  it('have as many digits as the others of their own', async () => {
    const { diagnostics } = await jsonOf(narrow, 'lint')
    const widths = diagnostics.filter(({ rule }: { rule: string }) => rule === 'id-width')
    expect(widths.map(({ message }: { message: string }) => message)).toEqual([
      'T-03 would be T-003 among the others',
    ])
    expect((await by(narrow, 'new', 'More')).stdout).toBe('docs/tasks/T-13.md\n')
  })
})

describe('files that look like tasks and are not read', () => {
  const files = {
    'docs/tasks/T-001.md': taskText('T-001', 'One', { Status: 'DONE' }),
    'docs/tasks/TASK-002.md': taskText('TASK-002', 'Two'),
    'docs/tasks/003-three.md': taskText('003', 'Three'),
    'docs/tasks/phase-2/T-005.md': taskText('T-005', 'Five'),
    'docs/tasks/login.md': '# Login\n\nStatus: DONE\n',
    'docs/tasks/README.md': '# Tasks\n\nEach has a status: TODO, and so on.\n',
    'docs/tasks/archive/T-900.md': taskText('T-900', 'Old'),
  }
  const entry = { dir: 'docs/tasks/**', id: ['T-{n}', '{n}', 'TASK-{n}'], ignore: ['archive/**'] }
  const line = `in ralph.config.json: "tasks": ${JSON.stringify(entry)}`

  it('are warnings of lint, each with what to do', async () => {
    const { diagnostics } = await jsonOf(makeRepository(files), 'lint')
    const unread = diagnostics.filter(({ rule }: { rule: string }) => rule === 'unread-task')
    expect(unread.map(({ file }: { file: string }) => file)).toEqual([
      'docs/tasks/003-three.md',
      'docs/tasks/TASK-002.md',
      'docs/tasks/login.md',
      'docs/tasks/phase-2/T-005.md',
    ])
    expect(unread[1].message).toContain(JSON.stringify(entry))
    expect(unread[2].message).toContain('give it the name of a task')
  })

  it('are named by next, list and a run, if they are TODO', async () => {
    const cwd = makeRepository({ ...files, 'ralph.config.json': '{"gates":[]}' })
    for (const command of ['next', 'list'])
      expect((await by(cwd, command)).stderr.replace(/\s+/g, ' ')).toContain(
        'not read, and TODO: docs/tasks/003-three.md, docs/tasks/TASK-002.md, docs/tasks/phase-2/T-005.md; ' +
          line,
      )
    const { stdout, stderr } = await run(cwd, '--loop')
    expect(stdout + stderr).toContain('docs/tasks/TASK-002.md')
    expect(stdout + stderr).not.toMatch(/every task is done/i)
  })

  it('are read after init has written how', async () => {
    const cwd = makeRepository(files)
    await by(cwd, 'init', '--yes')
    expect(JSON.parse(readFileSync(join(cwd, 'ralph.config.json'), 'utf8'))).toMatchObject({ tasks: entry })
    expect(idsIn((await jsonOf(cwd, 'list')).tasks)).toEqual(['T-001', 'TASK-002', '003', 'T-005'])
  })
})
