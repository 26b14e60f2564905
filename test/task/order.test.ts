import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { inOrder } from '../../src/backlog/order.ts'

interface Name {
  readonly id: string
  readonly number: number
  readonly file: string
}

function named(number: number, file = `T-${number}.md`): Name {
  return { id: `T-${number}`, number, file }
}

test('tasks stand by number, those of one number by file name', () => {
  const numbers = fc.oneof(
    fc.integer({ min: 0, max: 30 }),
    fc.constantFrom(5000, 4_294_967_296, 999_999_999_999),
  )
  fc.assert(
    fc.property(fc.array(numbers, { maxLength: 20 }), fc.infiniteStream(fc.integer()), (drawn, keys) => {
      const names = drawn.map((number, i) => named(number, `T-${number}-${i}.md`))
      const order = names.map((name) => ({ name, key: keys.next().value! }))
      const shuffled = order.sort((a, b) => a.key - b.key).map(({ name }) => name)
      const expected = names.toSorted((a, b) => a.number - b.number || (a.file < b.file ? -1 : 1))
      expect(inOrder(shuffled)).toEqual(expected)
    }),
  )
})

test('what stands in order is left as it is', () => {
  const names = [named(1), named(2), named(10)]
  expect(inOrder(names)).toBe(names)
})
