import { toJsonSchema, type JsonSchema } from '@valibot/to-json-schema'
import { ANSWER_SCHEMAS, PHASES, type Phase } from './answers.ts'

/** The JSON Schema of a phase's answer. */
export function answerSchema(phase: Phase): JsonSchema {
  const schema = toJsonSchema(ANSWER_SCHEMAS[phase], { typeMode: 'input' })
  // Some services reject a schema with this key.
  delete schema.$schema
  return schema
}

/** The JSON Schemas of all answers of `ralph plan`, by phase. */
export function planJsonSchema(): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'What an agent answers to ralph plan, by phase',
    type: 'object',
    properties: Object.fromEntries(PHASES.map((phase) => [phase, answerSchema(phase)])),
  }
}
