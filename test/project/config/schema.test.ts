import { readFileSync } from 'node:fs'
import type { JsonSchema } from '@valibot/to-json-schema'
import { parse } from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Permission } from '../../../src/agents/port.ts'
import { DEFAULTS, type Config } from '../../../src/config/defaults.ts'
import { jsonSchemas } from '../../../src/cli/json-schemas.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { configSchema } from '../../../src/config/schema.ts'
import type { Gate } from '../../../src/base/nouns.ts'
import type { Aliases } from '../../../src/backlog/vocabulary.ts'
import { makeFolder, put } from '../../repository.ts'

const projectRoot = new URL('../../../', import.meta.url)

describe('the schema', () => {
  it('makes the defaults of nothing', () => {
    expect(parse(configSchema, {})).toEqual(DEFAULTS)
  })

  it('is published as it stands', () => {
    const published = readFileSync(new URL('dist/ralph.config.schema.json', projectRoot), 'utf8')
    expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(jsonSchemas()['config']!)))
  })

  it('tells an editor what each key is for, and which keys there are', () => {
    const keys = Object.entries(jsonSchemas()['config']!.properties ?? {}).filter(
      ([key]) => key !== '$schema',
    )
    const silent = keys.filter(([, schema]) => !(schema as JsonSchema).description)
    expect(silent).toEqual([])
    expect(jsonSchemas()['config']!.additionalProperties).toBe(false)
    expect(jsonSchemas()['config']!.required).toEqual([])
  })
})

describe('what the configuration says of other parts of the house', () => {
  it('has their shape', () => {
    expectTypeOf<Config['aliases']>().toExtend<Aliases>()
    expectTypeOf<NonNullable<Config['gates']>[number]>().toEqualTypeOf<Gate>()
    expectTypeOf<Config['permission']>().toEqualTypeOf<Exclude<Permission['level'], 'read'> | null>()
  })
})

describe('docs/configuration.md', () => {
  const guide = readFileSync(new URL('docs/configuration.md', projectRoot), 'utf8')

  it.each(keysOf(jsonSchemas()['config']!))('speaks of %s', (key) => {
    const name = key.split(/[.[\]]+/).at(-1)!
    expect(guide).toMatch(new RegExp(`"${escaped(name)}": |\`(?:[\\w.]+\\.)?${escaped(name)}\``))
  })

  it('shows a configuration that says no more than the defaults', async () => {
    const [all = ''] = /^```jsonc\n[^]*?^```$/m.exec(guide) ?? []
    expect(await loaded(all.replace(/^```.*$/gm, ''))).toEqual(DEFAULTS)
  })

  it.each(examples(guide).map((text, index) => [index, text]))(
    'has an example %i that is right',
    async (_, text) => {
      expect(await loaded(text)).toBeTruthy()
    },
  )
})

function escaped(name: string): string {
  return name.replace('$', '\\$')
}

/** Every key with the path to it: `commit.digits`, `gates[].name`; a team's own names and the words of the task file left out. */
function keysOf(schema: JsonSchema, prefix = ''): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const path = `${prefix}${key}`
    const [object, list] = alternatives(value as JsonSchema)
    const inside = prefix === 'aliases.' ? [] : keysOf(object, `${path}.`)
    return [path].concat(inside, list ? keysOf(list, `${path}[].`) : [])
  })
}

/** An object's own schema, or that of a list's items, also where null is the other choice. */
function alternatives(schema: JsonSchema): readonly [JsonSchema, JsonSchema | undefined] {
  const choices = [schema, ...(schema.anyOf ?? [])].filter((choice) => typeof choice === 'object')
  const object = choices.find((choice) => choice.properties) ?? {}
  const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
  const items = choices.find((choice) => choice.items)?.items
  return [values?.properties ? values : object, items as JsonSchema | undefined]
}

function examples(guide: string): readonly string[] {
  return [...guide.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text]) => text!)
}

async function loaded(text: string): Promise<Config> {
  const folder = makeFolder()
  put(folder, { 'ralph.config.json': text })
  return loadConfig(folder)
}
