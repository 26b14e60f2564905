import { toJsonSchema, type JsonSchema } from '@valibot/to-json-schema'
import { taskJson } from '../backlog/json.ts'
import { configSchema } from '../config/schema.ts'
import { runEvent } from '../engine/events/event.ts'

/** The JSON Schemas of what programs read and write, by name. Editors complete and check `ralph.config.json` with the first. */
export function jsonSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    config: configJsonSchema(),
    events: {
      ...toJsonSchema(runEvent),
      title: 'An event of a run of ralph: a line of its journal, or of ralph run --json',
    },
    task: { ...toJsonSchema(taskJson), title: 'A task, as ralph prints it with --json' },
  }
}

function configJsonSchema(): JsonSchema {
  const schema = toJsonSchema(configSchema, {
    typeMode: 'input',
    // ralph itself checks what only code can (durations, paths, words with two meanings).
    ignoreActions: ['check', 'raw_check', 'partial_check'],
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      valibotSchema.type === 'loose_object' ? { ...jsonSchema, additionalProperties: false } : undefined,
  })
  return { ...schema, title: 'Configuration of ralph' }
}
