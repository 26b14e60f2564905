import { expect, test } from 'vitest'
import { TurnCounter } from '../../../src/agents/providers/turn-counter.ts'

test('tools that are called together are one turn, one after another are two', () => {
  const turns = new TurnCounter()
  for (const _called of ['a', 'b']) turns.speak()
  for (const _answered of ['a', 'b']) turns.answer()
  expect(turns.count).toBe(1)
  turns.speak()
  turns.answer()
  turns.speak()
  turns.speak()
  expect(turns.count).toBe(3)
})

test('a tool that never answers holds no turn open', () => {
  const turns = new TurnCounter()
  turns.speak()
  for (let turn = 0; turn < 3; turn++) {
    turns.speak()
    turns.answer()
  }
  expect(turns.count).toBe(3)
})
