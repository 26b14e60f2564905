import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { env, makeFolder, makeRepository, projectFolder, taskText } from '../repository.ts'
import { everybodyLeaves, sitAt } from './person.ts'
import { by, jsonOf, refusalOf } from './ralph.ts'

const KOREAN = {
  'docs/tasks/T-001.md': '# T-001: 로그인\n\n- **상태**: 완료\n- **선행 작업**: none\n\n## 설명\n\n내용\n',
  'docs/tasks/T-002.md': '# T-002: 로그아웃\n\n- **상태**: 할일\n- **선행 작업**: T-001\n\n## 설명\n\n내용\n',
}

/** A language that no list of words knows: what stands in the fields tells them. */
const UNKNOWN = {
  'docs/tasks/T-001.md':
    '# T-001: Unu\n\n- **Stato**: farita\n- **Post**: nenio\n- **Respondeca**: Ana\n\n- [x] bona\n',
  'docs/tasks/T-002.md':
    '# T-002: Du\n\n- **Stato**: farita\n- **Post**: T-001\n- **Respondeca**: Bea\n\n- [x] bona\n',
  'docs/tasks/T-003.md':
    '# T-003: Tri\n\n- **Stato**: farota\n- **Post**: T-001, T-002\n- **Respondeca**: Cyl\n\n- [ ] bona\n',
}

const read = (root: string, file: string): string => readFileSync(join(root, file), 'utf8')
const config = (root: string): unknown => JSON.parse(read(root, 'ralph.config.json'))

afterEach(everybodyLeaves)

describe('ralph init', () => {
  it('sets a project up so that the next command has something to show', async () => {
    const root = projectFolder({ 'package.json': '{"scripts":{"test":"node --test","lint":"eslint ."}}' })
    const { code, stdout } = await by(root, 'init', '--yes')
    expect(code).toBe(0)
    expect(stdout).toContain('docs/tasks/README.md')
    expect(config(root)).toEqual({
      gates: [
        { name: 'lint', command: 'npm run lint', required: 'if-green' },
        { name: 'test', command: 'npm test' },
      ],
    })
    // The example is for reading: it is no task.
    expect(read(root, 'docs/tasks/README.md')).toContain('# T-001: Add the login form')
    expect(await jsonOf(root, 'next')).toMatchObject({ outcome: 'empty' })
    const lint = await by(root, 'lint', '--json')
    expect(JSON.parse(lint.stdout).diagnostics).toEqual([])
  })

  it('takes the backlog of another folder as it is, where nothing names one', async () => {
    const root = projectFolder({
      'work/items/T-001.md': taskText('T-001', 'One'),
      'work/items/T-002.md': taskText('T-002', 'Two'),
      'work/items/templates/T-000.md': '# T-000: A template\n',
      'work/T-001.md': '# T-001: Not a backlog\n',
      'test/fixtures/T-001.md': '',
      'test/fixtures/T-002.md': '',
      'test/fixtures/T-003.md': '',
    })
    const before = await by(root, 'next')
    expect([before.code, before.stderr]).toEqual([
      2,
      'error: no task folder at docs/tasks\n' +
        'There are 2 task files in work/items: name it with --dir, or as "tasks" in ralph.config.json; ralph init does that too.\n',
    ])
    const { code, stderr } = await by(root, 'init', '--yes')
    expect([code, stderr]).toEqual([0, expect.stringContaining('2 task files in work/items, 2 understood')])
    expect(config(root)).toMatchObject({ tasks: 'work/items' })
    expect(existsSync(join(root, 'docs'))).toBe(false)
    expect((await by(root, 'next')).stdout).toContain('T-001  One')
  })

  it('makes a repository of an empty folder, if the person agrees, and the gates that they name', async () => {
    const root = makeFolder()
    expect(await refusalOf(by(root, 'init'))).toEqual([2, expect.stringContaining('No project root found')])
    const { sees, type, endsWith } = await sitAt(['init'], { cwd: root, env })
    await sees('There is no git repository here')
    type('y')
    await sees('Write these files?')
    type('\u001b[B\u001b[B\r')
    await sees('gate 1')
    type('make test\r')
    await sees('make test')
    await sees('Write these files?')
    type('\r')
    await endsWith(0)
    expect(config(root)).toEqual({ gates: [{ name: 'gate 1', command: 'make test' }] })
    expect(existsSync(join(root, '.git'))).toBe(true)
  })

  it('asks before it writes, and where nobody can be asked writes nothing', async () => {
    const root = projectFolder({})
    const { code, stderr } = await by(root, 'init')
    expect(code).toBe(2)
    expect(stderr).toContain(
      'error: ralph init asks before it writes\nralph init --yes writes without asking.\n',
    )
    expect(existsSync(join(root, 'docs'))).toBe(false)
  })

  it('never overwrites', async () => {
    const root = projectFolder({ ...KOREAN, 'ralph.config.json': '{ "retries": 1 }' })
    expect(await jsonOf(root, 'init', '--yes')).toMatchObject({ written: [], kept: ['ralph.config.json'] })
    expect(config(root)).toEqual({ retries: 1 })
  })

  it('shows the gates that are configured', async () => {
    const gates = [{ name: 'check', command: 'make check' }]
    const root = projectFolder({ 'ralph.config.json': JSON.stringify({ gates }) })
    expect((await jsonOf(root, 'init', '--yes')).gates).toMatchObject(gates)
  })

  it('tells what a backlog in another language calls things, and can read it from then on', async () => {
    const root = projectFolder(KOREAN)
    await by(root, 'init', '--yes')
    expect(config(root)).toMatchObject({
      aliases: {
        fields: { Status: ['상태'], Depends: ['선행 작업'] },
        statuses: { DONE: ['완료'], TODO: ['할일'] },
        sections: { Description: ['설명'] },
      },
    })
    expect((await jsonOf(root, 'next')).task.id).toBe('T-002')
  })

  it('tells fields by what stands in them, and reports what it could not tell', async () => {
    const root = projectFolder(UNKNOWN)
    const { aliases, unclear } = await jsonOf(root, 'init', '--yes')
    expect(aliases).toEqual({ Depends: ['Post'] })
    expect(unclear.map(({ file }: { file: string }) => file)).toContain('docs/tasks/T-003.md')
  })

  it('takes a field that only some files have for no Status', async () => {
    const task = (id: string, owner: string) => `# ${id}: X\n\n${owner}\n\n## Description\nx\n`
    const root = projectFolder({
      'docs/tasks/T-001.md': task('T-001', '- **Owner**: Ana'),
      'docs/tasks/T-002.md': task('T-002', '- **Owner**: Ana'),
      'docs/tasks/T-003.md': task('T-003', ''),
    })
    await by(root, 'init', '--yes')
    expect(config(root)).toEqual({})
  })

  it.each([
    ['the id of each task', (n: number) => `- **Task**: T-00${n}`],
    ['what each task unblocks', (n: number) => `- **Sekvas**: T-00${n + 1}`],
    ['what has a known name of its own', (n: number) => `- **Related**: T-00${n - 1}`],
    ['one of two lists of ids', (n: number) => `- **Post**: T-00${n - 1}\n- **Apud**: T-00${n - 2}`],
    ['a category that many share', () => '- **Category**: core'],
    ['a sentence', () => '- **Now**: the work on this is completed by now ✅'],
  ])('does not guess an order or a status from %s', async (_, field) => {
    const numbers = [3, 4, 5]
    const files = numbers.map((n) => [`docs/tasks/T-00${n}.md`, `# T-00${n}: X\n\n${field(n)}\n\n- [x] a\n`])
    const root = projectFolder(Object.fromEntries(files))
    await by(root, 'init', '--yes')
    expect(config(root)).toEqual({})
  })

  it('names what looks like a task and is not read, and how a name must look', async () => {
    const root = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'One'),
      'docs/tasks/T-002-slug.md': taskText('T-002', 'Two'),
      'docs/tasks/T-302a.md': taskText('T-302', 'Three'),
      'docs/tasks/task_4.md': taskText('task_4', 'Four'),
      'docs/tasks/T-5.markdown': taskText('T-5', 'Five'),
      'ralph.config.json': '{}',
      'docs/tasks/README.md': '',
      'docs/tasks/T-notes.md': '',
      'docs/tasks/T-6/notes.txt': '',
    })
    const { stderr } = await by(root, 'init', '--yes')
    expect(stderr).toContain(
      'not read: docs/tasks/T-5.markdown, docs/tasks/task_4.md; in ralph.config.json: ' +
        '"tasks": {"dir":"docs/tasks","id":["T-{n}","task_{n}"]}',
    )
    expect((await jsonOf(root, 'init', '--yes')).misnamed).toHaveLength(2)
  })

  it('says once what is not clear in many files', async () => {
    const files = Array.from({ length: 20 }, (_, index) => `T-0${index + 10}`)
    const root = projectFolder({
      ...Object.fromEntries(files.map((id) => [`docs/tasks/${id}.md`, `# ${id}: X\n\n## Description\nx\n`])),
      'docs/tasks/T-030.md': taskText('T-030', 'X', { Depends: 'later' }),
    })
    const { stderr } = await by(root, 'init', '--yes')
    const lines = stderr.split('\n').filter((line) => line.startsWith('    docs/tasks/'))
    expect(lines).toEqual([
      expect.stringMatching(/^ {4}docs\/tasks\/T-010\.md and 19 more {2}no Status; /),
      expect.stringMatching(/^ {4}docs\/tasks\/T-030\.md {2}\S/),
    ])
  })
})

describe('what only a person knows about a backlog', () => {
  afterEach(everybodyLeaves)

  /** Runs init at a terminal; each answer is as many steps down. */
  async function answered(
    files: Readonly<Record<string, string>>,
    answers: readonly (readonly [string, number])[],
  ) {
    const root = makeRepository(files)
    const { sees, type, endsWith } = await sitAt(['init'], { cwd: root, env })
    for (const [question, steps] of answers) {
      await sees(question)
      type('\u001B[B'.repeat(steps))
      type('\r')
    }
    await sees('Write these files?')
    type('\r')
    await endsWith(0)
    return root
  }

  it('asks what words mean, and whether a heading names dependencies', async () => {
    const task = (id: string, status: string, more = ''): string =>
      `---\nstate: ${status}\n---\n# ${id}: X\n\n## Acceptance Criteria\n- [ ] a\n${more}`
    const root = await answered(
      {
        'docs/tasks/T-001.md': task('T-001', 'shipped'),
        'docs/tasks/T-002.md': task('T-002', 'ready', '\n## Voraus\n- T-001\n'),
        'docs/tasks/T-003.md': task('T-003', 'In Review'),
      },
      [
        ['the Status "shipped" mean?', 1],
        ['the Status "ready" mean?', 0],
        ['the Status "In Review" mean?', 3],
        ['"Voraus" name what a task depends on?', 0],
      ],
    )
    expect(config(root)).toEqual({
      aliases: {
        fields: { Status: ['state'], Depends: ['Voraus'] },
        statuses: { TODO: ['ready'], DONE: ['shipped'] },
      },
    })
    expect((await jsonOf(root, 'next')).task).toMatchObject({ id: 'T-002', depends: ['T-001'] })
  })

  it('asks which tasks are done where none has a Status', async () => {
    const root = await answered(
      {
        'docs/tasks/T-001.md': '# T-001: One\n\n## Acceptance Criteria\n- [x] a\n- [x] b\n',
        'docs/tasks/T-002.md': '# T-002: Two\n\n* **Owner**: Ana\n\n- [x] a\n- [ ] b\n',
      },
      [['None of the 2 tasks has a Status', 0]],
    )
    expect(readFileSync(join(root, 'docs/tasks/T-001.md'), 'utf8')).toBe(
      '# T-001: One\n\n- **Status**: DONE\n\n## Acceptance Criteria\n- [x] a\n- [x] b\n',
    )
    expect(readFileSync(join(root, 'docs/tasks/T-002.md'), 'utf8')).toContain('* **Status**: TODO\n')
    expect((await jsonOf(root, 'next')).task.id).toBe('T-002')
  })

  it('asks nothing with --yes, and takes a State beside a Status for another field', async () => {
    const root = projectFolder({
      'docs/tasks/T-001.md': taskText('T-001', 'One', { State: 'Texas' }),
      'docs/tasks/T-002.md': taskText('T-002', 'Two', { Status: 'ready' }),
    })
    const { unclear } = await jsonOf(root, 'init', '--yes')
    expect([config(root), unclear]).toEqual([
      {},
      [{ file: 'docs/tasks/T-002.md', message: expect.any(String) }],
    ])
  })
})
