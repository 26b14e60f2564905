import { list, record, type Json } from './json-lines.ts'

/**
 * Converts a JSON Schema for services with a strict mode: every key is required, and an optional one may be null
 * instead; only types, lists of choices and descriptions remain.
 */
export function strictSchema(schema: unknown): Json {
  const { type, items, properties, required, description, ...rest } = record(schema)
  const kept = {
    ...(type === undefined ? {} : { type }),
    ...(rest['enum'] === undefined ? {} : { enum: rest['enum'] }),
    ...(description === undefined ? {} : { description }),
  }
  if (Array.isArray(rest['anyOf'])) return { ...kept, anyOf: rest['anyOf'].map(strictSchema) }
  if (type === 'array') return { ...kept, items: strictSchema(items) }
  if (type !== 'object') return kept
  const needed = list(required)
  const entries = Object.entries(record(properties)).map(([key, value]) => [
    key,
    needed.includes(key) ? strictSchema(value) : orNull(strictSchema(value)),
  ])
  return {
    ...kept,
    properties: Object.fromEntries(entries),
    required: entries.map(([key]) => key),
    additionalProperties: false,
  }
}

function orNull(schema: Json): Json {
  const choices = schema['anyOf']
  if (Array.isArray(choices) && choices.some((choice) => record(choice)['type'] === 'null')) return schema
  return { anyOf: [...(Array.isArray(choices) ? choices : [schema]), { type: 'null' }] }
}
