import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type * as Library from '../src/index.ts'

const built = new URL('../dist/index.js', import.meta.url).href
const root = fileURLToPath(new URL('cli/fixtures/shop', import.meta.url))

test('the built library reads a backlog, decides, and checks', async () => {
  const { lint, readBacklog, select, selectNext, tierOf } = (await import(built)) as typeof Library
  const { tasks } = await readBacklog({ root })
  expect(selectNext(tasks)?.id).toBe('T-004')
  expect(select(tasks).eligible.map((task) => [task.id, tierOf(task).tier])).toEqual([['T-004', 'Standard']])
  expect(lint(tasks).map((diagnostic) => diagnostic.rule)).toContain('missing-dependency')
})
