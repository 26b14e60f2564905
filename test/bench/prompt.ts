import { makeFolder, put } from '../repository.ts'
import { writeBacklog } from './backlog.ts'
import { inTurns, ms, PROGRAM, runNode, type Row } from './measure.ts'

const TASKS = 1000
const FILES = 20

/** Measures the prompt of a task with 20 files in a backlog of 1,000 tasks, beside `ralph next` on the same. */
export async function benchPrompt(): Promise<readonly Row[]> {
  const root = makeFolder()
  writeBacklog(root, TASKS, 'ordinary')
  const source = 'export const value = add(1, 2) // a remark\n'.repeat(200)
  const names = Array.from({ length: FILES }, (_, file) => `src/f${file}.ts`)
  put(root, {
    'package.json': '{ "scripts": { "test": "node --test" } }',
    'docs/tasks/T-1001.md': `# T-1001: Last\n\n- **Status**: TODO\n- **Touches**: ${names.join(', ')}\n`,
    ...Object.fromEntries(names.map((name) => [name, source])),
  })
  const { bare, next, prompt } = await inTurns(21, {
    bare: () => runNode(root, ['-e', '0']),
    next: () => runNode(root, [PROGRAM, 'next']),
    prompt: () => runNode(root, [PROGRAM, 'prompt', '1001']),
  })
  const beside = (time: number): string => `${(time / bare).toFixed(1)} × bare node`
  return [
    { what: 'node -e 0', value: ms(bare), ratio: '' },
    { what: `ralph next, ${TASKS} tasks`, value: ms(next), ratio: beside(next) },
    {
      what: `ralph prompt, ${FILES} files of 200 lines, ${TASKS} tasks`,
      value: ms(prompt),
      ratio: `${beside(prompt)}, ${ms(prompt - next)} over ralph next (at most 60 ms)`,
    },
  ]
}
