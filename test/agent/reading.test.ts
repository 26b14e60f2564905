import { expect, it } from 'vitest'
import { strictSchema } from '../../src/agents/providers/codex.ts'
import { answerSchema } from '../../src/authoring/plan/json-schema.ts'

it('a strict schema requires every key, and what may be left out may be null', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string', pattern: 'x' }, b: { type: 'array', items: { type: 'number' } } },
    required: ['a'],
  }
  expect(strictSchema(schema)).toEqual({
    type: 'object',
    properties: {
      a: { type: 'string' },
      b: { anyOf: [{ type: 'array', items: { type: 'number' } }, { type: 'null' }] },
    },
    required: ['a', 'b'],
    additionalProperties: false,
  })
})

it.each(['research', 'decisions', 'requirements', 'tasks'] as const)(
  'the answer of %s has a strict schema',
  (phase) => {
    const check = (schema: unknown): void => {
      if (typeof schema !== 'object' || schema === null) return
      if ('properties' in schema && typeof schema.properties === 'object' && schema.properties !== null)
        expect(schema).toMatchObject({
          required: Object.keys(schema.properties),
          additionalProperties: false,
        })
      for (const inner of Object.values(schema)) check(inner)
    }
    check(strictSchema(answerSchema(phase)))
  },
)
