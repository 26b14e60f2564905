import { readFileSync } from 'node:fs'

interface EventSchema {
  readonly properties: Readonly<Record<string, { readonly const?: string }>>
}

/** What every event may have, which the page says once. */
const COMMON = new Set(['type', 'at', 'workspace'])

/** The part of docs/json.md that lists the events of a run, with the keys of each. */
export function eventsBlock(): string {
  const schema = new URL('../../dist/ralph.events.schema.json', import.meta.url)
  const { oneOf } = JSON.parse(readFileSync(schema, 'utf8')) as { readonly oneOf: readonly EventSchema[] }
  return oneOf
    .map(({ properties }) => {
      const keys = Object.keys(properties).filter((key) => !COMMON.has(key))
      const told = keys.map((key) => `\`${key}\``).join(', ')
      return `- \`${properties['type']!.const!}\`${told ? `: ${told}` : ''}`
    })
    .join('\n')
}
