import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, parse } from 'node:path'
import { describe, expect, it } from 'vitest'
import { projectFolder, taskText } from '../repository.ts'
import { by, ralph } from './ralph.ts'

/** A backlog whose T-001 is whole, so that it can be served whatever T-002 is like. */
function withGoodTask(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  return projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'Whole'), ...files })
}

const second = 'docs/tasks/T-002.md'
const isWindows = process.platform === 'win32'

/** On Windows only who may do everything makes links. */
const LINKS: readonly [string, (path: string) => void, RegExp][] = isWindows
  ? []
  : [
      ['is a link that leads nowhere', (path) => symlinkSync('nowhere.md', path), /leads nowhere/],
      [
        'is a link out of the project',
        (path) => symlinkSync(process.execPath, path),
        /leads out of the project/,
      ],
    ]

describe.skipIf(isWindows)('a pipe, which nobody writes to,', () => {
  it.each(['package.json', 'ralph.config.json', 'ralph.config.yaml'])('as %s is refused', async (name) => {
    const cwd = withGoodTask()
    rmSync(join(cwd, name), { force: true })
    execFileSync('mkfifo', [join(cwd, name)])
    expect(await by(cwd, 'next')).toMatchObject({
      code: 2,
      stderr: `error: ${name} cannot be read: it is not a plain file.\nralph looks for its configuration there.\n`,
    })
  })

  it('as another manifest holds nothing', async () => {
    const cwd = withGoodTask()
    execFileSync('mkfifo', [join(cwd, 'Makefile')])
    expect((await by(cwd, 'prompt', 'T-001')).code).toBe(0)
  })
})

it('says where each of very many missing dependencies stands', async () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `T-${100_000 + index}`)
  const cwd = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'x', { Depends: ids.join(', ') }) })
  const { stdout } = await by(cwd, 'next', '--explain')
  expect(stdout).toContain('needs T-100000')
  expect(stdout).toContain(`docs/tasks/T-001.md:4:${16 + 10 * 9_999}`)
})

describe('a task file that cannot be trusted', () => {
  it.each<[string, (path: string) => void, RegExp]>([
    ['is a folder', (path) => mkdirSync(path), /is a folder/],
    ...LINKS,
    ['is not UTF-8', (path) => writeFileSync(path, Uint8Array.of(0x23, 0x20, 0xff, 0xfe)), /not UTF-8/],
    ['is empty', (path) => writeFileSync(path, ''), /T-002/],
    [
      'has 100 MB',
      (path) => (writeFileSync(path, '# T-002: Big\n'), truncateSync(path, 100 * 1024 * 1024)),
      /100\.0 MB/,
    ],
  ])('that %s is reported, and the others are served', async (_, spoil, message) => {
    const cwd = withGoodTask()
    spoil(join(cwd, second))
    const before = readdirSync(join(cwd, 'docs/tasks'))

    const next = await by(cwd, 'next', '--json')
    expect([next.code, JSON.parse(next.stdout).task.id]).toEqual([0, 'T-001'])

    const lint = await by(cwd, 'lint')
    expect(lint.code).toBe(1)
    expect(lint.stdout).toMatch(message)
    expect(lint.stdout).toMatch(/^docs\/tasks\/T-002\.md:1:1 error /m)
    expect(readdirSync(join(cwd, 'docs/tasks'))).toEqual(before)
  })

  // Root may read everything, so there it cannot be seen, and Windows keeps nobody from reading in this way.
  it.skipIf(isWindows || process.getuid?.() === 0)(
    'that may not be read is reported, and the others are served',
    async () => {
      const cwd = withGoodTask({ [second]: taskText('T-002', 'Locked') })
      chmodSync(join(cwd, second), 0o000)
      const next = await by(cwd, 'next', '--explain')
      expect(next.code).toBe(0)
      expect(next.stdout).toContain('EACCES')
    },
  )

  it('has a number that another has too: both are named, neither is served', async () => {
    const cwd = withGoodTask({
      [second]: taskText('T-002', 'One'),
      'docs/tasks/T-002-again.md': taskText('T-002', 'Two'),
    })
    const { stdout } = await by(cwd, 'next', '--json', '--all', '--explain')
    const { eligible, waiting } = JSON.parse(stdout)
    expect(eligible.map((task: { id: string }) => task.id)).toEqual(['T-001'])
    const files = ['docs/tasks/T-002-again.md', 'docs/tasks/T-002.md']
    expect(waiting.map((task: { waiting: object[] }) => task.waiting)).toEqual([
      [{ kind: 'duplicate', files }],
      [{ kind: 'duplicate', files }],
    ])
    const show = await by(cwd, 'show', '2')
    expect([show.code, show.stderr.split('\n')[0]]).toEqual([
      2,
      `error: T-002 is the number of 2 files: ${files.join(', ')}`,
    ])
  })

  it('cannot drive the terminal with its title', async () => {
    const cwd = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'Safe\u001b]0;pwned\u0007\u009b2J\u202eevil'),
    })
    for (const argv of [
      ['next'],
      ['list'],
      ['show', '1'],
      ['graph'],
      ['graph', '--dot'],
      ['graph', '--mermaid'],
      ['lint'],
      ['completion', 'tasks'],
      ['next', '--json'],
    ]) {
      const { stdout } = await ralph(argv, { cwd, columns: 80, env: { NO_COLOR: '1' } })
      expect(stdout, argv.join(' ')).not.toMatch(/[\u0007\u001b\u007f-\u009f]/)
    }
  })
})

describe('a place where ralph cannot work', () => {
  it('has no task folder: says so, and what makes one', async () => {
    expect(await ralph(['next'], { cwd: projectFolder({}) })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: no task folder at docs/tasks\nMake one with ralph init, or name another with --dir.\n',
    })
  })

  it.skipIf(process.platform === 'win32')('has a task folder that lies elsewhere', async () => {
    const [cwd, elsewhere] = [
      projectFolder({ 'README.md': '' }),
      projectFolder({ 'T-001.md': taskText('T-001', 'x') }),
    ]
    const before = readdirSync(elsewhere)
    mkdirSync(join(cwd, 'docs'))
    symlinkSync(elsewhere, join(cwd, 'docs/tasks'))
    for (const argv of [['next'], ['new', 'A thing']]) {
      const { code, stderr } = await by(cwd, ...argv)
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('the task folder docs/tasks is a link that leads out'),
      ])
    }
    expect(readdirSync(elsewhere)).toEqual(before)
  })

  it('has a file in place of the task folder', async () => {
    const { code, stderr } = await ralph(['list'], { cwd: projectFolder({ 'docs/tasks': 'not a folder' }) })
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'error: docs/tasks is not a folder'])
  })

  it.each([['next'], ['run'], ['doctor'], ['new', 'Title']])(
    'is a task folder outside of the project: ralph %s',
    async (...argv) => {
      const outside = projectFolder({ 'tasks/T-001.md': taskText('T-001', 'Good') })
      const cwd = withGoodTask()
      const { code, stderr } = await by(cwd, ...argv, '--dir', join(outside, 'tasks'))
      const message = `the task folder ${join(outside, 'tasks')} is outside of the project at ${cwd}`
      expect([code, stderr.split('\n')[0]]).toEqual([2, `error: ${message}`])
      expect(readdirSync(join(outside, 'tasks'))).toEqual(['T-001.md'])
    },
  )

  it.each(['gone', 'docs/tasks/T-001.md/deeper'])('is no folder: -C %s', async (path) => {
    const { code, stderr } = await ralph(['next', '-C', path], { cwd: withGoodTask() })
    expect([code, stderr.split('\n')[0]]).toEqual([2, `error: there is no folder ${path}`])
  })

  it('is in no project', async () => {
    // The only folder that surely has no project around it.
    const { code, stderr } = await ralph(['next'], { cwd: parse(tmpdir()).root })
    expect(code).toBe(2)
    expect(stderr).toBe(
      'error: No project root found. Please run ralph from within a project directory.\n' +
        'A project is a git repository: git init makes one here.\n',
    )
  })

  it('is configured wrongly: the file, the place, the closest key', async () => {
    const cwd = withGoodTask({ 'ralph.config.json': '{ "gatse": [] }' })
    const { code, stderr } = await by(cwd, 'next')
    expect(code).toBe(2)
    expect(stderr).toMatch(/ralph\.config\.json:1:3 .*gates/)
  })
})

describe('a task that is named', () => {
  it.each(['T-001', 't-1', '001'])('is found by %s', async (id) => {
    const { stdout } = await ralph(['show', id, '--json'], { cwd: withGoodTask() })
    expect(JSON.parse(stdout).task.id).toBe('T-001')
  })

  it.each([
    ['T-9', 'error: there is no task T-9'],
    ['login', "error: 'login' is not a task"],
    ['-1', "error: ralph show has no option '-1'"],
  ])('and is not there is refused: %s', async (id, message) => {
    const { code, stderr } = await ralph(['show', id], { cwd: withGoodTask() })
    expect([code, stderr.split('\n')[0]]).toEqual([2, message])
  })
})

describe('the answer', () => {
  it('is no where nothing is eligible, and says why', async () => {
    const cwd = projectFolder({ [second]: taskText('T-002', 'Waits', { Depends: 'T-009' }) })
    const { code, stdout } = await by(cwd, 'next')
    expect(code).toBe(1)
    expect(stdout).toContain('needs T-009, which does not exist')
  })

  it('is no where all is done', async () => {
    const cwd = projectFolder({ [second]: taskText('T-002', 'Done', { Status: 'DONE' }) })
    const { code, stdout } = await by(cwd, 'next')
    expect([code, stdout.split('\n')[0]]).toEqual([1, 'The one task is done.'])
  })

  it('is no where there is no task yet', async () => {
    const cwd = projectFolder({ 'docs/tasks/README.md': 'not a task' })
    const { code, stdout } = await by(cwd, 'next')
    expect([code, stdout]).toEqual([
      1,
      'There are no tasks in docs/tasks yet.\nralph new "Title" writes the first one.\n',
    ])
  })

  it('comes from another folder and another root where they are asked for', async () => {
    const cwd = projectFolder({ 'work/T-007.md': taskText('T-007', 'Elsewhere') })
    const { stdout } = await ralph(['next', '-C', cwd, '--dir', 'work', '--json'], { cwd: tmpdir() })
    expect(JSON.parse(stdout).task.file).toBe('work/T-007.md')
  })
})
