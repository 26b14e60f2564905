import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { scriptIn } from '../../src/agents/providers/command.ts'
import { taskFolders } from '../../src/config/task-folder.ts'
import { loadConfig } from '../../src/config/load.ts'
import { detectGates } from '../../src/config/detect-gates.ts'
import { lint } from '../../src/backlog/lint/lint.ts'
import { select, type Selection } from '../../src/backlog/select/selection.ts'
import { readBacklog } from '../../src/backlog/read.ts'
import type { Task } from '../../src/backlog/model.ts'
import { taskVocabulary } from '../../src/backlog/vocabulary.ts'
import { makeFolder } from '../repository.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))
const examples = join(project, 'examples')

/** What a person would see on opening each example: what is next, and how many stand where. */
const EXPECTED = {
  'link-check': { next: 'T-003', eligible: ['T-003', 'T-006'], counts: { TODO: 6, DONE: 2, BLOCKED: 1 } },
  larder: { next: 'T-002', eligible: ['T-002', 'T-003', 'T-005'], counts: { TODO: 5, DONE: 1, BLOCKED: 1 } },
  respaldo: { next: 'T-002', eligible: ['T-002', 'T-003'], counts: { TODO: 4, DONE: 1, BLOCKED: 1 } },
  tally: { next: 'T-002', eligible: ['T-002', 'T-003'], counts: { TODO: 7, DONE: 1, BLOCKED: 1 } },
}

it('each example is spoken of here', () => {
  const folders = readdirSync(examples, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(Object.keys(EXPECTED).sort()).toEqual(folders.map((entry) => entry.name).sort())
})

describe.each(Object.entries(EXPECTED))('%s', (name, expected) => {
  let root: string
  let tasks: readonly Task[]
  let selection: Selection

  beforeAll(async () => {
    root = copyOf(name)
    tasks = await tasksOf(root)
    selection = select(tasks)
  })

  it('has a backlog without a complaint', async () => {
    const { aliases } = await loadConfig(root)
    expect(
      lint(tasks, {
        aliases,
        disciplines: namesIn(join(root, 'docs/disciplines')),
        features: namesIn(join(root, 'docs/features')),
      }),
    ).toEqual([])
  })

  it('has tasks that are up, and some that are not', () => {
    expect(selection.next?.id).toBe(expected.next)
    expect(selection.eligible.map(({ id }) => id)).toEqual(expected.eligible)
    expect(selection.counts).toEqual(expected.counts)
    expect(selection.outcome).toBe('ready')
  })

  it('says of each task that is done what was done', () => {
    const done = tasks.filter(({ status }) => status === 'DONE')
    expect(done.filter((task) => task.completed === null || !hasSection(task, 'Completion Notes'))).toEqual(
      [],
    )
  })

  it.skipIf(process.platform === 'win32')('passes its own gates', async () => {
    const gates = (await loadConfig(root)).gates ?? detectGates(root)
    expect(gates.length).toBeGreaterThan(0)
    for (const { command } of gates) expect(shell(root, command)).toMatchObject({ status: 0 })
  })
})

describe.skipIf(process.platform === 'win32')('the scripts of tally', () => {
  it('do the six tasks in their order, with one that is wrong at first', async () => {
    const root = copyOf('tally')
    const tasks = await tasksOf(root)
    const attempts = ['T-002', 'T-003', 'T-003', 'T-004', 'T-005', 'T-006', 'T-009']
    const passed = attempts.map((id, index) => {
      const attempt = attempts.slice(0, index + 1).filter((other) => other === id).length
      const task = tasks.find((candidate) => candidate.id === id)!
      const env = { RALPH_ATTEMPT: String(attempt), RALPH_NOTES_FILE: join(root, 'notes.md') }
      expect(shell(root, scriptOf(task), env)).toMatchObject({ status: 0 })
      return shell(root, 'node --test').status === 0
    })
    expect(passed).toEqual([true, false, true, true, true, true, true])
    expect(shell(root, 'node bin/tally.js --by month test/fixtures/january.csv').stdout).toContain('$55.90')
  })

  it('are all that is needed until somebody has decided on T-007', async () => {
    const tasks = await tasksOf(join(examples, 'tally'))
    const open = tasks.filter(({ status }) => status === 'TODO')
    expect(open.filter((task) => hasSection(task, 'Script')).map(({ id }) => id)).toEqual([
      'T-002',
      'T-003',
      'T-004',
      'T-005',
      'T-006',
      'T-009',
    ])
  })
})

/** A copy to work in, with what an install would bring. */
function copyOf(name: string): string {
  const root = makeFolder()
  cpSync(join(examples, name), root, { recursive: true })
  symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'), 'junction')
  return root
}

async function tasksOf(root: string): Promise<readonly Task[]> {
  const config = await loadConfig(root)
  const folders = await taskFolders(root, config)
  return (await readBacklog({ root, folders, vocabulary: taskVocabulary(config.aliases) })).tasks
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).map((file) => file.replace(/\.md$/, '')) : []
}

function shell(cwd: string, command: string, env: NodeJS.ProcessEnv = {}) {
  return spawnSync('sh', ['-c', command], { cwd, env: { ...process.env, ...env }, encoding: 'utf8' })
}

function hasSection(task: Task, title: string): boolean {
  return task.sections.some((section) => section.name === title || section.title === title)
}

function scriptOf(task: Task): string {
  const section = task.sections.find(({ title }) => title === 'Script')
  const script = section && scriptIn(task.source.slice(section.bodySpan.start, section.bodySpan.end))
  if (!script) throw new Error(`${task.id} has no script`)
  return script
}
