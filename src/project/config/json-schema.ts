import { toJsonSchema, type JsonSchema } from '@valibot/to-json-schema'
import { AGENT_NAMES } from '../../agent/registry.ts'
import { configSchema } from './schema.ts'
import { agentExamples } from './schema-parts.ts'

/** The schema as editors know it: it completes and checks `ralph.config.json` while one types. */
export function configJsonSchema(): JsonSchema {
  const schema = toJsonSchema(configSchema, {
    typeMode: 'input',
    // What only code can check (durations, paths, words of two names) is left to ralph itself.
    ignoreActions: ['check', 'raw_check', 'partial_check'],
    overrideAction: ({ valibotAction, jsonSchema }) =>
      valibotAction === agentExamples ? { ...jsonSchema, examples: [...AGENT_NAMES] } : undefined,
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      valibotSchema.type === 'loose_object' ? { ...jsonSchema, additionalProperties: false } : undefined,
  })
  return { ...schema, title: 'Configuration of ralph' }
}
