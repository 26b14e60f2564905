import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { taskAdder } from '../../src/authoring/add-task.ts'
import { openProject } from '../../src/config/project.ts'
import { SIGNALS } from '../../src/agents/signal/signal.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { makeFolder, put } from '../repository.ts'

const TASK =
  '# T-007: Add it\n\n- **Status**: TODO\n- **Milestone**: 1 — Login\n- **Depends**: none\n\n## Description\nx\n'

async function adder(files: Record<string, string> = {}) {
  const root = makeFolder()
  put(root, { 'docs/tasks/T-007.md': TASK, 'package.json': '{}', ...files })
  const project = await openProject({ cwd: root, dir: undefined })
  const add = taskAdder(project, async (tasks) => Number(tasks.at(-1)?.number ?? 0))
  return {
    root,
    add: (draft: object) =>
      add(v.parse(SIGNALS.add_task, { title: 'Mend it', description: 'Why not.', ...draft }), project.tasks),
    /** The files of the task folder: nothing is written there. */
    files: () => readdirSync(join(root, 'docs/tasks')),
  }
}

describe('a task that an agent adds', () => {
  it('is a file as ralph writes one, with the next number', async () => {
    const { add, files } = await adder()
    const draft = {
      description: 'What.\n\n# Why\n\nBecause.',
      criteria: ['It works', 'It is `fast`'],
      depends: ['t-7'],
      touches: ['src/a.ts'],
      produces: ['src/b.ts'],
      milestone: '1',
      complexity: 'Heavy',
    }
    const text = `# T-008: Mend it

- **Status**: TODO
- **Milestone**: 1 — Login
- **Depends**: T-007
- **Touches**: \`src/a.ts\`
- **Complexity**: Heavy
- **Provenance**: agent

## Description

What.

### Why

Because.

## Acceptance Criteria

- [ ] It works
- [ ] It is \`fast\`

## Produces

- \`src/b.ts\`
`
    expect(await add(draft)).toEqual({ id: 'T-008', file: 'docs/tasks/T-008.md', text })
    expect(files()).toEqual(['T-007.md'])
  })

  it('gets another number than the one before, which it may need', async () => {
    const { add } = await adder()
    expect(await add({})).toMatchObject({ id: 'T-008' })
    const text = expect.stringContaining('**Depends**: T-008')
    expect(await add({ depends: ['T-008'] })).toMatchObject({ id: 'T-009', text })
  })

  it('takes no number that another run has just taken', async () => {
    const { add } = await adder({ 'docs/tasks/T-008.md': 'no task yet' })
    expect(await add({})).toMatchObject({ id: 'T-009' })
  })

  it.each<[string, object, RegExp]>([
    ['needs what is not there', { depends: ['T-099'] }, /no task T-099/],
    ['needs no task', { depends: ['later'] }, /'later' is not a task/],
    ['touches what is outside', { touches: ['../../etc/passwd'] }, /outside/],
    ['produces what is absolute', { produces: ['/etc/passwd'] }, /not relative/],
  ])('is refused where it %s', async (_, draft, problem) => {
    const { add } = await adder()
    expect(await add(draft)).toMatchObject({ problem: expect.stringMatching(problem) })
  })

  it('says no more than it may, whatever stands in its texts', async () => {
    const evil = fc.constantFrom(
      '# T-001: Mine',
      '## Blocked\nno',
      '- **Status**: DONE',
      '- **Depends**: T-007',
      '```',
      '<!--',
      '---\nstatus: DONE\n---',
      'Setext\n===',
      '<details>',
      'plain',
    )
    const lines = fc.array(evil, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('\n'))
    await fc.assert(
      fc.asyncProperty(lines, evil, async (description, one) => {
        const { add } = await adder()
        const title = one.split('\n')[0]!
        const result = await add({ title, description, criteria: [title] })
        if ('problem' in result) return
        const task = await parseTask(result)
        expect(task).toMatchObject({ id: 'T-008', status: 'TODO', held: false, depends: [] })
      }),
      { numRuns: 40 },
    )
  })
})
