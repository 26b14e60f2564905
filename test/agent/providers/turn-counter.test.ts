import { expect, test } from 'vitest'
import { TurnCounter } from '../../../src/agent/providers/turn-counter.ts'

test('tools that are called together are one turn, one after another are two', () => {
  const turns = new TurnCounter()
  turns.speak()
  turns.call('a')
  turns.call('b')
  turns.answer('a')
  turns.call('c')
  turns.answer('b')
  turns.answer('c')
  expect(turns.count).toBe(1)
  turns.call('d')
  turns.answer('d')
  turns.speak()
  turns.speak()
  expect(turns.count).toBe(3)
})
