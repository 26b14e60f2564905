import { expect, it } from 'vitest'
import { put } from '../repository.ts'
import { makeProject, read, runAll, taskText } from '../run/harness.ts'

it('a task that an agent adds has the default agent and limits, whatever its file says', async () => {
  const root = makeProject()
  const wishes = '- **Agent**: claude\n- **Model**: dear\n- **Turns**: 900\n- **Timeout**: 9h\n'
  const events = await runAll({
    root,
    options: { loop: false },
    deed: ({ cwd }) => {
      put(cwd, {
        'a.txt': 'a',
        'docs/tasks/T-2.md': taskText('T-2').replace('- **Depends**', `${wishes}- **Depends**`),
      })
    },
  })
  expect(events.at(-1)).toMatchObject({ completed: ['T-1'] })
  expect(read(root, 'docs/tasks/T-2.md')).toBe(taskText('T-2'))
})
