import type { FormatName } from '../../src/backlog/formats.ts'
import { originTexts } from '../../src/authoring/bridges/formats.ts'
import { foreignTree } from '../../src/authoring/bridges/tree.ts'
import { originText } from '../../src/backlog/origin.ts'
import { makeFolder, makeRepository, put } from '../repository.ts'
import { ms, PROGRAM, runNode, timed, type Row } from './measure.ts'

const ROUNDS = 30

/** Measures the import of 1,000 tasks, and what writing one's status back adds to its landing. */
export async function benchBridge(): Promise<readonly Row[]> {
  return [await importRow(), ...[100, 1000].flatMap(writeBackRows)]
}

async function importRow(): Promise<Row> {
  const all: number[] = []
  for (let round = 0; round < 5; round++) {
    const cwd = makeRepository({ 'prd.json': stories(1000) })
    all.push(await timed(() => runNode(cwd, [PROGRAM, 'import', 'prd.json'])))
  }
  return { what: 'ralph import, 1000 user stories', value: ms(Math.min(...all)), ratio: 'at most 1000 ms' }
}

function writeBackRows(tasks: number): readonly Row[] {
  const rows: readonly (readonly [FormatName, string, string])[] = [
    ['prd-json', 'prd.json', stories(tasks)],
    ['db', 'tasks.yaml', yaml(tasks)],
  ]
  return rows.map(([as, path, text]) => {
    const root = makeFolder()
    put(root, { [path]: text })
    const key = as === 'db' ? String(tasks / 2) : `US-${tasks / 2}`
    const report = { status: 'DONE', reason: '', at: new Date(), failed: [] } as const
    const origin = originText({ path, key }).slice(1, -1)
    const written = Array.from({ length: ROUNDS }, () =>
      cpuMilliseconds(() => {
        const bridge = { path, as, sync: true } as const
        const texts = originTexts([bridge], foreignTree(root), { task: { origin }, report })
        if (texts.size !== 1) throw new Error('nothing was written back')
      }),
    )
    return {
      what: `writing back a status, ${as}, ${tasks} tasks`,
      value: `${ms(Math.min(...written), 1)} of CPU, the first ${ms(written[0]!, 1)}`,
      ratio: 'at most 5 ms',
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
