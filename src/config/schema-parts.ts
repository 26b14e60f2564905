import * as v from 'valibot'
import { plainPath } from '../base/glob.ts'
import { AGENT_NAMES } from '../base/names.ts'
import { whyOutside } from '../base/paths.ts'
import { about } from '../base/schema.ts'
import { parseDuration } from '../base/time.ts'
import { parseCount, TOKENS } from '../base/usage.ts'
import { isPattern } from '../backlog/ids.ts'
import { wordKey } from '../backlog/vocabulary.ts'
import { SUBJECT_SLOTS } from './defaults.ts'

// Every message names what was expected; the place that shows it adds the value that was found.

export const text = v.pipe(v.string('a text'), v.regex(/\S/, 'a text that is not empty'))
export const texts = v.array(text, 'a list of texts')
export const anyText = v.string('a text')
export const anyTexts = v.array(anyText, 'a list of texts')
export const flag = v.boolean('true or false')
export const dollars = v.pipe(v.number('a number of dollars'), v.gtValue(0, 'a number of dollars above 0'))

const DURATION = 'a duration such as "90s", "20m" or "1h 30m", or a whole number of seconds'

/** A number of tokens. */
export const tokens = v.pipe(
  v.union([v.string(), v.number()], TOKENS),
  v.check((value) => parseCount(String(value)) !== null, TOKENS),
  v.metadata({
    pattern: '^\\s*\\d{1,12}(\\.\\d{1,3})?(e\\d{1,2})? ?[kKmM]?\\s*$',
    minimum: 1,
    examples: ['500k', '3M'],
  }),
  v.transform((value) => parseCount(String(value)) ?? 0),
)

export const agentName = oneOf(AGENT_NAMES)
export const agentNames = v.array(agentName, 'a list of texts')

/** A duration, parsed to seconds. */
export const duration = v.pipe(
  v.union([v.string(), v.number()], DURATION),
  v.check((value) => parseDuration(String(value)) !== undefined, DURATION),
  // For editors, which cannot run the function above.
  v.metadata({
    pattern: '^\\s*(?:\\d+|(?:\\d+\\s*[a-zA-Z]+\\s*){1,3})\\s*$',
    minimum: 1,
    examples: ['90s', '20m', '1h 30m'],
  }),
  v.transform((value) => parseDuration(String(value)) ?? 0),
)

export const pathInside = v.pipe(
  text,
  v.check(
    (path) => !/^([\\/]|[a-z]:)/i.test(path) && !path.split(/[\\/]/).includes('..'),
    'a path inside the project, relative to its root',
  ),
)

/** A pattern that can match a tracked file. */
export const pathPattern = v.pipe(
  text,
  v.check(
    (pattern) =>
      whyOutside(pattern) === null && !/(?:^|\/)(?:|\.{1,2}|\.git)(?:\/|$)/.test(plainPath(pattern)),
    'a pattern of tracked files inside the project, such as "packages/api/**"',
  ),
)

export const idPattern = v.pipe(
  text,
  v.check((pattern) => isPattern(pattern), 'letters, digits, - and _, and then {n}, as in "TASK-{n}"'),
)

/** One of something, or a list of several. */
export function oneOrMore<const Schema extends v.GenericSchema>(schema: Schema, expected: string) {
  return v.union([schema, v.pipe(v.array(schema, expected), v.minLength(1, expected))], expected)
}

const SLOTS = SUBJECT_SLOTS.map((slot) => `{${slot}}`)

export const subjectTemplate = v.pipe(
  text,
  v.check((template) => !/[\r\n]/.test(template), 'a subject of one line'),
  v.check(
    (template) => [...template.matchAll(/\{[^{}]*\}/g)].every(([slot]) => SLOTS.includes(slot)),
    `a subject with no other slots than ${SLOTS.join(', ')}`,
  ),
)

/** A key of an object: its schema, perhaps with a sentence about it, which editors and the docs show. */
type Entry = v.GenericSchema | readonly [sentence: string, schema: v.GenericSchema]
type SchemaOf<Of> = Of extends readonly [string, infer Schema extends v.GenericSchema] ? Schema : Of

type TableOf<Entries, Defaults> = {
  [Key in keyof Entries]: SchemaOf<Entries[Key]> extends infer Schema extends v.GenericSchema
    ? v.InferOutput<Schema> | (Key extends keyof Defaults ? Extract<Defaults[Key], null> : never)
    : never
}

/** An object with exactly these keys. Those with a default may be left out; null as a default may also be given. */
export function table<const Entries extends Readonly<Record<string, Entry>>, const Defaults extends object>(
  entries: Entries,
  defaults: Defaults,
) {
  const values = new Map<string, unknown>(Object.entries(defaults))
  const filled = Object.entries(entries).map(([key, entry]) => {
    const [sentence, schema] = 'type' in entry ? [null, entry] : entry
    const whole = values.has(key) ? filledIn(schema, values.get(key)) : schema
    return [key, sentence === null ? whole : about(sentence, whole)] as const
  })
  return exactly(Object.fromEntries(filled)) as v.GenericSchema<unknown, TableOf<Entries, Defaults>>
}

/** An object that is left out has its own defaults. */
function filledIn(schema: v.GenericSchema, value: unknown): v.GenericSchema {
  if (value === null) return v.optional(v.nullable(schema), null)
  return v.optional(schema, typeof value === 'object' && !Array.isArray(value) ? {} : value)
}

/** valibot's own strict object stops at the first unknown key; the message here lists the known ones. */
function exactly<Entries extends v.ObjectEntries>(entries: Entries) {
  const known = Object.keys(entries)
  return v.pipe(
    // Whatever else is in it is an issue.
    noList(v.looseObject(entries, 'an object')) as v.GenericSchema<
      unknown,
      v.InferOutput<v.ObjectSchema<Entries, undefined>>
    >,
    v.rawCheck(({ dataset, addIssue }) => {
      const input: unknown = dataset.value
      if (typeof input !== 'object' || input === null) return
      for (const [key, value] of Object.entries(input)) {
        if (known.includes(key)) continue
        const message = known.filter((name) => name !== '$schema').join(', ')
        addIssue({ message, path: [{ type: 'unknown', origin: 'key', input, key, value }] })
      }
    }),
  )
}

/** An object whose keys are names that the author chooses. */
export function named<const Schema extends v.GenericSchema>(schema: Schema, expected: string) {
  return noList(v.record(v.string(), schema, expected))
}

/** valibot accepts a list as an object. */
function noList<Schema extends v.GenericSchema>(schema: Schema): Schema {
  return {
    ...schema,
    '~run': (dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) =>
      schema['~run'](Array.isArray(dataset.value) ? { value: null } : dataset, config),
  }
}

/** A team's own words for each of these names; no word may stand for two names, or have another meaning already. */
export function words<const Names extends readonly string[]>(
  names: Names,
  taken: Iterable<readonly [string, string]>,
) {
  return v.pipe(
    exactly(v.entriesFromList(names, v.exactOptional(texts))),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const owners = new Map(taken)
      for (const [name, list] of Object.entries<readonly string[]>(dataset.value)) {
        // Unknown names are reported elsewhere.
        if (!names.includes(name)) continue
        for (const [index, word] of list.entries()) {
          const owner = owners.get(wordKey(word)) ?? name
          owners.set(wordKey(word), name)
          if (owner === name) continue
          const message = `a word that does not already stand for ${owner}`
          addIssue({ message, path: pathOf(dataset.value, name, index) })
        }
      }
    }),
  )
}

/** A place two steps down, as an issue names it. */
export function pathOf(
  input: unknown,
  ...keys: readonly [string | number, string | number]
): [v.IssuePathItem, v.IssuePathItem] {
  const item = (key: string | number) => ({
    type: 'unknown' as const,
    origin: 'value' as const,
    input,
    key,
    value: undefined,
  })
  return [item(keys[0]), item(keys[1])]
}

export function wholeNumber(least: number) {
  const expected = `a whole number of ${least} or more`
  return v.pipe(v.number(expected), v.safeInteger(expected), v.minValue(least, expected))
}

export function oneOf<const Choices extends readonly string[]>(choices: Choices) {
  return v.picklist(choices, choiceOf(choices))
}

function choiceOf(choices: readonly string[]): string {
  return `one of ${choices.map((choice) => `"${choice}"`).join(', ')}`
}
