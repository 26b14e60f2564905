import type { JsonSchema } from '@valibot/to-json-schema'
import { jsonSchemas } from '../../src/cli/json-schemas.ts'

/** Keys that have no effect, and those inside of which a team writes words of its own. */
const NOT_SHOWN = new Set(['$schema', 'detachKey'])
const NOT_OPENED = new Set(['aliases.fields', 'aliases.statuses', 'aliases.sections', 'aliases.tiers'])

/** The part of docs/configuration.md that shows every key with its default, below what it is for. */
export function configurationBlock(): string {
  const said = new Set<string>()
  const linesOf = (schema: JsonSchema, path: string, indent: string): readonly string[] =>
    Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
      if (NOT_SHOWN.has(key)) return []
      const property = value as JsonSchema
      const inner = NOT_OPENED.has(path + key) ? [] : linesOf(property, `${path}${key}.`, `${indent}  `)
      if (inner.length > 0) return [`${indent}"${key}": {`, ...inner, `${indent}},`]
      const about = property.description ?? ''
      // The tiers have the same keys: what they are for is said at the first one.
      const comment = about === '' || said.has(about) ? [] : [`${indent}// ${about}`]
      said.add(about)
      return [...comment, `${indent}"${key}": ${shownDefault(property)},`]
    })
  return ['```jsonc', '{', ...linesOf(jsonSchemas()['config']!, '', '  '), '}', '```'].join('\n')
}

/** A default as a person would write it: durations are numbers of seconds in the schema. */
function shownDefault({ default: value, examples, properties }: JsonSchema): string {
  if (Array.isArray(value)) return `[${value.map((one) => JSON.stringify(one)).join(', ')}]`
  if (typeof value !== 'number' || !Array.isArray(examples))
    return JSON.stringify(value ?? (properties ? {} : null))
  if (value % 3600 === 0) return `"${value / 3600}h"`
  return value % 60 === 0 ? `"${value / 60}m"` : `"${value}s"`
}
