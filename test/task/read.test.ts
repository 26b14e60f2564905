import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readBacklog, readHeads, readTask } from '../../src/backlog/read.ts'
import { taskFoldersOf } from '../../src/backlog/task-folders.ts'

const TASK = '# T-001: One\n\n- **Status**: TODO\n'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-read-')))
  mkdirSync(join(root, 'docs/tasks'), { recursive: true })
})

afterEach(() => {
  rmSync(root, { recursive: true, force: true })
})

function put(name: string, text: string | Uint8Array): void {
  writeFileSync(join(root, 'docs/tasks', name), text)
}

/** What keeps a file from being read, by the readers of whole tasks, of heads and of one task alike. */
async function problemOf(name: string): Promise<string | undefined> {
  const [tasks, heads] = [await readBacklog({ root }), await readHeads({ root })]
  const file = `docs/tasks/${name}`
  const told = [tasks, heads].map(
    ({ tasks }) => tasks.find((task) => task.file === file)?.problems[0]?.message,
  )
  put('T-001.md', TASK)
  const others = (await readBacklog({ root })).tasks.filter((task) => task.file !== file)
  expect(others).toContainEqual(expect.objectContaining({ id: 'T-001', status: 'TODO', problems: [] }))
  const alone = (await readTask(root, file)).problems[0]?.message
  expect(told).toEqual([alone, alone])
  return alone
}

describe('the heads of files that are written alike', () => {
  const head = (id: string, ...fields: string[]): string =>
    `# ${id}: A task\n\n- **Status**: TODO\n${fields.map((field) => `- ${field}\n`).join('')}\n## Description\nDo it.\n`

  test('say of a field that stands there twice what the whole task says, whatever was read before', async () => {
    put('T-001.md', head('T-001', '**Depends**: none'))
    put('T-002.md', head('T-002', '**Dependencies**: T-001'))
    put('T-003.md', head('T-003', '**Depends**: T-001', '**Dependencies**: T-002'))
    put('T-004.md', head('T-004', '**Dependencies**: T-003', '**Depends**: none'))
    const [heads, { tasks }] = [await readHeads({ root }), await readBacklog({ root })]
    const factsOf = (all: typeof heads.tasks) =>
      all.map(({ id, needs, status, problems }) => [id, needs, status, problems.length])
    expect(factsOf(heads.tasks)).toEqual(factsOf(tasks))
    expect(tasks.map(({ problems }) => problems.length > 0)).toEqual([false, false, true, true])
  })
})

describe('the task folder', () => {
  test('gives its tasks by number, and leaves other files alone', async () => {
    for (const name of [
      'T-10.md',
      'T-9.md',
      'T-1000-some-slug.md',
      'README.md',
      'T-x.md',
      'T-7.txt',
      't-8.md',
    ])
      put(name, TASK)
    const { tasks } = await readBacklog({ root })
    expect(tasks.map(({ id, file }) => [id, file])).toEqual([
      ['T-8', 'docs/tasks/t-8.md'],
      ['T-9', 'docs/tasks/T-9.md'],
      ['T-10', 'docs/tasks/T-10.md'],
      ['T-1000', 'docs/tasks/T-1000-some-slug.md'],
    ])
  })

  test('that is not there, or is a file, is told with what to do', async () => {
    await expect(readBacklog({ root, folders: taskFoldersOf(['tasks']) })).rejects.toThrow(
      'no task folder at tasks',
    )
    writeFileSync(join(root, 'tasks'), '')
    await expect(readHeads({ root, folders: taskFoldersOf(['tasks']) })).rejects.toThrow(
      'tasks is not a folder',
    )
  })
})

describe('several task folders', () => {
  test('are one backlog, without the files that are no tasks', async () => {
    mkdirSync(join(root, 'docs/done'))
    put('T-002.md', TASK.replace('T-001', 'T-002'))
    put('T-002-review.md', 'Looks good.\n')
    put('../done/T-001.md', TASK.replace('TODO', 'DONE'))
    const options = {
      root,
      folders: taskFoldersOf(['docs/tasks', 'docs/done', 'docs/missing'], (name) =>
        name.endsWith('-review.md'),
      ),
    }
    const expected = [
      ['docs/done/T-001.md', 'DONE'],
      ['docs/tasks/T-002.md', 'TODO'],
    ]
    for (const { tasks } of [await readBacklog(options), await readHeads(options)])
      expect(tasks.map(({ file, status }) => [file, status])).toEqual(expected)
  })

  test('may have all folders below them, but for hidden ones, packages and what is ignored', async () => {
    const files = [
      'T-001.md',
      'a/T-002.md',
      'a/b/T-003b.md',
      '.git/T-4.md',
      'a/node_modules/T-5.md',
      'old/T-6.md',
    ]
    for (const file of files) {
      mkdirSync(join(root, 'docs/tasks', file, '..'), { recursive: true })
      put(file, TASK.replace('T-001', file.slice(file.lastIndexOf('/') + 1, -3)))
    }
    const folders = taskFoldersOf(['docs/tasks/**', 'docs/tasks/a'], (path) => path.startsWith('old/'))
    const { tasks } = await readBacklog({ root, folders })
    expect(tasks.map(({ file }) => file.slice('docs/tasks/'.length))).toEqual(files.slice(0, 3))
    expect(files.filter((file) => folders.includes(`docs/tasks/${file}`))).toEqual(files.slice(0, 3))
  })
})

describe('a file beyond what a parser or the engine takes keeps no other from being read:', () => {
  test.each([
    ['brackets in frontmatter', `---\na: ${'['.repeat(6000)}\n---\n${TASK}`],
    ['braces in frontmatter', `---\na: ${'{b: '.repeat(6000)}\n---\n${TASK}`],
    ['lists in frontmatter', `---\na:\n  ${'- '.repeat(6000)}x\n---\n${TASK}`],
  ])('%s', async (_, text) => {
    put('T-002.md', text)
    expect(await problemOf('T-002.md')).toMatch(/nested more than 60 deep$/)
  })

  test.each([
    ['thousands of fields', `# T-002: Two\n\n${'- **K**: v\n'.repeat(10_600)}- **Status**: TODO\n\n## D\n`],
    ['thousands of blank lines', `# T-002: Two\n${'\n'.repeat(100_000)}- **Status**: TODO\n\n## D\n`],
  ])('%s', async (_, text) => {
    put('T-002.md', text)
    put('T-003.md', text.replace('T-002', 'T-003'))
    expect(await problemOf('T-002.md')).toBeUndefined()
  })
})

describe('a file that cannot be read is a task with that as its problem, and the others are served:', () => {
  test('a folder in its place', async () => {
    mkdirSync(join(root, 'docs/tasks/T-002.md'))
    expect(await problemOf('T-002.md')).toBe('is a folder, not a file')
  })

  test.skipIf(process.platform === 'win32')('a link that leads nowhere, or out of the project', async () => {
    symlinkSync('nowhere.md', join(root, 'docs/tasks/T-002.md'))
    expect(await problemOf('T-002.md')).toBe('is a link that leads nowhere')
    const outside = mkdtempSync(join(tmpdir(), 'ralph-outside-'))
    writeFileSync(join(outside, 'x.md'), TASK)
    symlinkSync(join(outside, 'x.md'), join(root, 'docs/tasks/T-003.md'))
    expect(await problemOf('T-003.md')).toBe('is a link that leads out of the project')
    rmSync(outside, { recursive: true })
  })

  test.skipIf(process.platform === 'win32')('but not a link that stays inside', async () => {
    writeFileSync(join(root, 'docs/real.md'), TASK.replace('T-001', 'T-002'))
    symlinkSync('../real.md', join(root, 'docs/tasks/T-002.md'))
    expect(await problemOf('T-002.md')).toBeUndefined()
  })

  test.skipIf(process.platform === 'win32')('a pipe, for which nobody waits', async () => {
    execFileSync('mkfifo', [join(root, 'docs/tasks/T-002.md')])
    expect(await problemOf('T-002.md')).toBe('is not a plain file')
  })

  test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'one that may not be read',
    async () => {
      put('T-002.md', TASK)
      chmodSync(join(root, 'docs/tasks/T-002.md'), 0)
      expect(await problemOf('T-002.md')).toBe('may not be opened: check its permissions')
    },
  )

  test('bytes that are not UTF-8', async () => {
    put('T-002.md', Buffer.from([0x23, 0x20, 0xff, 0xfe, 0x0a]))
    expect(await problemOf('T-002.md')).toBe('is not UTF-8 text')
  })

  test('an empty file', async () => {
    put('T-002.md', '')
    expect(await problemOf('T-002.md')).toBe('no heading; expected "# T-002: …"')
  })

  test('a file of 100 MB', async () => {
    put('T-002.md', Buffer.alloc(100 * 1024 * 1024, 'x\n'))
    expect(await problemOf('T-002.md')).toBe('has 100.0 MB; a task file has at most 1 MB')
  })

  test('lists nested beyond reason', async () => {
    put('T-002.md', `# T-002: x\n\n- **Status**: TODO\n${'- '.repeat(10_000)}x\n`)
    expect(await problemOf('T-002.md')).toMatch('nested more than 60 deep')
  })

  test('a list without end', async () => {
    put('T-002.md', `# T-002: x\n\n- **Status**: TODO\n${'and on\n'.repeat(30_000)}`)
    expect(await problemOf('T-002.md')).toMatch('more than 3000 lines have no paragraph between them')
  })
})

test('a file of almost 1 MB, in several reads, is read whole', async () => {
  put('T-001.md', `${TASK}\n## Description\n${'ä line\n'.repeat(120_000)}\n## Blocked\nx\n`)
  const [{ tasks }, heads] = [await readBacklog({ root }), await readHeads({ root })]
  expect([tasks[0]?.held, heads.tasks[0]?.held]).toEqual([true, true])
})
