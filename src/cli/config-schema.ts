import { toJsonSchema, type JsonSchema } from '@valibot/to-json-schema'
import { AGENT_NAMES } from '../agents/registry.ts'
import { configSchema } from '../config/schema.ts'
import { agentExamples } from '../config/schema-parts.ts'

/** The schema for editors, which complete and check `ralph.config.json` with it. */
export function configJsonSchema(): JsonSchema {
  const schema = toJsonSchema(configSchema, {
    typeMode: 'input',
    // ralph itself checks what only code can (durations, paths, words with two meanings).
    ignoreActions: ['check', 'raw_check', 'partial_check'],
    overrideAction: ({ valibotAction, jsonSchema }) =>
      valibotAction === agentExamples ? { ...jsonSchema, examples: [...AGENT_NAMES] } : undefined,
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      valibotSchema.type === 'loose_object' ? { ...jsonSchema, additionalProperties: false } : undefined,
  })
  return { ...schema, title: 'Configuration of ralph' }
}
