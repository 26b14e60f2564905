import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseTask } from '../../src/task/parse.ts'
import { samples } from './styles.ts'

test('whatever its style, a document is read as it was meant', async () => {
  await fc.assert(
    fc.asyncProperty(samples, async ({ id, text, meaning }) => {
      const task = await parseTask({ file: `docs/tasks/${id}.md`, text })
      expect({
        title: task.title,
        status: task.status,
        depends: task.depends.map((dependency) => dependency.number),
        touches: task.touches,
        milestone: task.milestone,
        produces: (task.produces ?? []).map((product) => product.path),
        held: task.held,
        problems: task.problems,
      }).toEqual({
        title: meaning.title,
        status: meaning.status,
        depends: meaning.depends,
        touches: meaning.touches,
        milestone: meaning.milestone,
        produces: meaning.produces,
        held: meaning.blocked && meaning.status === 'TODO',
        problems: [],
      })
    }),
    { numRuns: 500 },
  )
})
