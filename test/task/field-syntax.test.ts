import { expect, test } from 'vitest'
import { fieldStart } from '../../src/backlog/field-syntax.ts'
import { parseTask } from '../../src/backlog/parse.ts'

test.each([
  ['**Depends**: T-001', 'Depends', true],
  ['**Depends:** T-001', 'Depends', true],
  ['__Depends__: T-001', 'Depends', true],
  ['***Depends***: T-001', 'Depends', true],
  ['**`Depends`**: T-001', 'Depends', true],
  ['*Depends*: T-001', 'Depends', false],
  ['_Depends:_ T-001', 'Depends', false],
  ['Depends: T-001', 'Depends', false],
])('%s is the field %s', (raw, key, bold) => {
  expect(fieldStart(raw)).toEqual({ key, bold, valueAt: raw.length - 'T-001'.length })
})

test('a dependency is not lost for how its key is marked', async () => {
  const text = '# T-002: B\n\n- *Status*: TODO\n- *Depends*: T-001\n'
  const task = await parseTask({ file: 'docs/tasks/T-002.md', text })
  expect({ status: task.status, needs: task.needs }).toEqual({ status: 'TODO', needs: [1] })
})

test('emphasis in prose makes no field of a word that is none', async () => {
  const text = '# T-002: B\n\nStatus: TODO\n*Note*: ask Ana\n'
  const task = await parseTask({ file: 'docs/tasks/T-002.md', text })
  expect(task.fields.map(({ key }) => key)).toEqual(['Status'])
})
