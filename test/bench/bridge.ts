import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FormatName } from '../../src/backlog/formats.ts'
import { originTexts } from '../../src/authoring/bridges/write-back.ts'
import { foreignTree } from '../../src/project/foreign-tree.ts'
import { originText } from '../../src/backlog/origin.ts'
import type { Row } from './row.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/bin.cjs', import.meta.url))
const ROUNDS = 30

/** Measures the import of 1,000 tasks, and what writing one's status back adds to its landing. */
export function benchBridge(): readonly Row[] {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-bridge-'))
  try {
    return [importRow(root), ...[100, 1000].flatMap((tasks) => writeBackRows(root, tasks))]
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function importRow(root: string): Row {
  const times = Array.from({ length: 5 }, (_, round) => {
    const cwd = join(root, `import-${round}`)
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'prd.json'), stories(1000))
    git(cwd, 'init', '--quiet')
    git(cwd, 'add', '--all')
    git(cwd, 'commit', '--quiet', '--message=Begin')
    return milliseconds(() =>
      execFileSync(process.execPath, [PROGRAM, 'import', 'prd.json'], { cwd, env: ENV }),
    )
  })
  const value = `${Math.min(...times).toFixed(0)} ms`
  return { what: 'ralph import, 1000 user stories', value, ratio: 'at most 1000 ms' }
}

function writeBackRows(root: string, tasks: number): readonly Row[] {
  const rows: readonly (readonly [FormatName, string, string])[] = [
    ['prd-json', 'prd.json', stories(tasks)],
    ['db', 'tasks.yaml', yaml(tasks)],
  ]
  return rows.map(([as, path, text]) => {
    writeFileSync(join(root, path), text)
    const key = as === 'db' ? String(tasks / 2) : `US-${tasks / 2}`
    const report = { status: 'DONE', reason: '', at: new Date(), failed: [] } as const
    const origin = originText({ path, key }).slice(1, -1)
    const read = Array.from({ length: ROUNDS }, () =>
      milliseconds(() => readFileSync(join(root, path), 'utf8')),
    )
    const written = Array.from({ length: ROUNDS }, () =>
      cpuMilliseconds(() => {
        const bridge = { path, as, sync: true } as const
        const texts = originTexts([bridge], foreignTree(root), { task: { origin }, report })
        if (texts.size !== 1) throw new Error('nothing was written back')
      }),
    )
    const [first = 0] = written
    return {
      what: `writing back a status, ${as}, ${tasks} tasks`,
      value: `${Math.min(...written).toFixed(1)} ms of CPU, the first ${first.toFixed(1)} ms`,
      ratio: `at most 5 ms; reading the file takes ${Math.min(...read).toFixed(1)} ms`,
    }
  })
}

/** Of this process alone: what else the machine does is not counted. */
function cpuMilliseconds(action: () => unknown): number {
  const before = process.cpuUsage()
  action()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function milliseconds(action: () => unknown): number {
  const start = performance.now()
  action()
  return performance.now() - start
}

const ENV = {
  PATH: process.env['PATH'] ?? '',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.com',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@example.com',
  GIT_CONFIG_GLOBAL: '/dev/null',
}

function git(cwd: string, ...args: readonly string[]): void {
  execFileSync('git', args, { cwd, env: ENV })
}

function stories(count: number): string {
  const userStories = Array.from({ length: count }, (_, at) => ({
    id: `US-${at + 1}`,
    title: `Story ${at + 1}: do something useful`,
    description: 'As a user I want it.\n\nIt has a second paragraph with `code` and a few words more.',
    acceptanceCriteria: ['It is tested', 'Typecheck passes'],
    priority: at + 1,
    passes: false,
    notes: '',
  }))
  return JSON.stringify({ project: 'Shop', userStories }, null, 2)
}

function yaml(count: number): string {
  const item = (number: number): string =>
    `- id: ${number}\n  title: Story ${number}\n  status: pending # to do\n  description: |\n    First line\n    - second line\n  acceptance_criteria:\n    - one\n    - two\n  tags: [a, b]\n  hints: look there\n`
  return Array.from({ length: count }, (_, at) => item(at + 1)).join('\n')
}
