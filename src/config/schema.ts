import * as v from 'valibot'
import { parseDuration } from '../base/duration.ts'
import { DEFAULTS, GATE_TIMEOUT_SECONDS, SUBJECT_SLOTS, type Config, type TierRow } from './defaults.ts'
import { ALIASED_FIELDS, ALIASED_SECTIONS, ALIASED_STATUSES } from './vocabulary.ts'

const text = v.pipe(v.string('a text'), v.regex(/\S/, 'a text that is not empty'))
const texts = v.array(text, 'a list of texts')
const flag = v.boolean('true or false')
const count = wholeNumber(1)
const amount = v.pipe(v.number('a number of dollars'), v.gtValue(0, 'a number of dollars above 0'))

const duration = v.pipe(
  v.union([v.string(), v.number()], 'a duration such as "90s", "20m" or "1h 30m", or a number of seconds'),
  v.check(
    (value) => parseDuration(String(value)) !== undefined,
    'a duration such as "90s", "20m" or "1h 30m", or a whole number of seconds',
  ),
  v.transform((value) => parseDuration(String(value)) ?? 0),
)

const inside = v.pipe(
  text,
  v.check(
    (path) => !/^([\\/]|[a-z]:)/i.test(path) && !path.split(/[\\/]/).includes('..'),
    'a path inside the project, relative to its root',
  ),
)

const subject = v.pipe(
  text,
  v.check((template) => !/[\r\n]/.test(template), 'a subject of one line'),
  v.check(
    (template) =>
      [...template.matchAll(/\{([^{}]*)\}/g)].every(([, slot]) => SUBJECT_SLOTS.some((s) => s === slot)),
    `a subject with no other slots than ${SUBJECT_SLOTS.map((slot) => `{${slot}}`).join(', ')}`,
  ),
)

const gate = v.pipe(
  table({
    name: text,
    command: text,
    required: v.optional(flag, true),
    timeout: v.optional(duration, GATE_TIMEOUT_SECONDS),
  }),
  v.transform(({ timeout, ...rest }) => ({ ...rest, timeoutSeconds: timeout })),
)

const gates = v.pipe(
  v.array(gate, 'a list of gates'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    for (const [index, { name }] of dataset.value.entries()) {
      if (dataset.value.findIndex((other) => other.name === name) === index) continue
      addIssue({ message: 'a name that no other gate has', path: pathOf(dataset.value, index, 'name') })
    }
  }),
)

const mcpServer = table({
  command: text,
  args: v.optional(v.array(v.string('a text'), 'a list of texts'), []),
  env: v.optional(noList(v.record(v.string(), v.string('a text'), 'an object of names and texts')), {}),
})

/** What a configuration may say. Every message is what was expected there; the output is a whole `Config`. */
export const configSchema = v.pipe(
  table({
    $schema: v.optional(v.string('a text')),
    tasks: v.optional(inside, DEFAULTS.tasks),
    aliases: v.optional(
      table({
        fields: v.optional(words(ALIASED_FIELDS), {}),
        statuses: v.optional(words(ALIASED_STATUSES), {}),
        sections: v.optional(words(ALIASED_SECTIONS), {}),
      }),
      {},
    ),
    tiers: v.optional(
      v.pipe(
        table({
          Light: lowestTier(DEFAULTS.tiers.rows.Light),
          Standard: tier(DEFAULTS.tiers.rows.Standard),
          Heavy: tier(DEFAULTS.tiers.rows.Heavy),
          keywords: v.optional(texts, [...DEFAULTS.tiers.keywords]),
        }),
        v.transform(({ keywords, ...rows }) => ({ rows, keywords })),
      ),
      {},
    ),
    agent: orNull(text),
    agents: v.optional(texts, [...DEFAULTS.agents]),
    model: orNull(text),
    command: orNull(text),
    permission: v.optional(oneOf(['edit', 'full', 'custom']), DEFAULTS.permission),
    agentArgs: v.optional(v.array(v.string('a text'), 'a list of texts'), []),
    fallback: v.optional(texts, []),
    stallTimeout: v.optional(duration, DEFAULTS.stallSeconds),
    gates: orNull(gates),
    baseline: v.optional(oneOf(['warn', 'stop', 'off']), DEFAULTS.baseline),
    retries: v.optional(wholeNumber(0), DEFAULTS.retries),
    onFailure: orNull(oneOf(['block', 'stop', 'ask'])),
    budget: orNull(amount),
    maxCostPerTask: orNull(amount),
    maxTasks: orNull(count),
    commit: v.optional(
      table({
        subject: v.optional(subject, DEFAULTS.commit.subject),
        digits: v.optional(digits(), DEFAULTS.commit.digits),
        seal: v.optional(flag, DEFAULTS.commit.seal),
      }),
      {},
    ),
    push: v.optional(flag, DEFAULTS.push),
    progress: orNull(inside),
    prompt: v.optional(
      table({
        budget: v.optional(wholeNumber(0), DEFAULTS.prompt.budget),
        fileCap: v.optional(wholeNumber(0), DEFAULTS.prompt.fileCap),
      }),
      {},
    ),
    mcpServers: v.optional(noList(v.record(v.string(), mcpServer, 'an object of names and servers')), {}),
    logs: v.optional(table({ maxBytes: v.optional(count, DEFAULTS.logs.maxBytes) }), {}),
  }),
  v.forward(
    v.partialCheck(
      [['permission'], ['agentArgs']],
      ({ permission, agentArgs }) => permission === 'custom' || agentArgs.length === 0,
      'none, as long as "permission" is not "custom"',
    ),
    ['agentArgs'],
  ),
  v.transform(({ stallTimeout, ...rest }): Config => {
    delete rest.$schema
    return { ...rest, stallSeconds: stallTimeout }
  }),
)

/** What a person writes: every key may be left out. */
export type ConfigInput = v.InferInput<typeof configSchema>

/**
 * An object with these keys and no other; the message for another one is the list of those that there are.
 * valibot's own strict object stops at the first.
 */
function table<Entries extends v.ObjectEntries>(entries: Entries) {
  const known = Object.keys(entries)
  return v.pipe(
    noList(v.looseObject(entries, 'an object')),
    v.rawCheck(({ dataset, addIssue }) => {
      const input: unknown = dataset.value
      if (typeof input !== 'object' || input === null || Array.isArray(input)) return
      for (const [key, value] of Object.entries(input)) {
        if (known.includes(key)) continue
        const message = known.filter((name) => name !== '$schema').join(', ')
        addIssue({ message, path: [{ type: 'unknown', origin: 'key', input, key, value }] })
      }
    }),
  )
}

/** To valibot a list is an object as well. */
function noList<Schema extends v.GenericSchema>(schema: Schema): Schema {
  return {
    ...schema,
    '~run': (dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) =>
      schema['~run'](Array.isArray(dataset.value) ? { value: null } : dataset, config),
  }
}

function words<const Names extends readonly string[]>(names: Names) {
  return v.pipe(
    table(v.entriesFromList(names, v.exactOptional(texts))),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      const owners = new Map(names.map((name) => [wordKey(name), name]))
      for (const [name, list] of Object.entries<readonly string[]>(dataset.value)) {
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

/** Words that read the same mean the same: see the vocabulary of the task file. */
function wordKey(word: string): string {
  return word
    .normalize('NFC')
    .replaceAll(/[\s_-]+/g, ' ')
    .trim()
    .toLowerCase()
}

/** The lowest tier takes what no other one claims, so it has no threshold to set. */
function lowestTier(defaults: TierRow) {
  const entries = spending(defaults)
  return v.optional(
    v.pipe(
      table(entries),
      v.transform((row) => ({ ...spent(row), fromDepends: 0, fromProduces: 0 })),
    ),
    {},
  )
}

function tier(defaults: TierRow) {
  const entries = {
    fromDepends: v.optional(v.nullable(wholeNumber(0)), defaults.fromDepends),
    fromProduces: v.optional(v.nullable(wholeNumber(0)), defaults.fromProduces),
    ...spending(defaults),
  }
  return v.optional(
    v.pipe(
      table(entries),
      v.transform(({ fromDepends, fromProduces, ...row }) => ({ fromDepends, fromProduces, ...spent(row) })),
    ),
    {},
  )
}

function spending(defaults: TierRow) {
  return {
    turns: v.optional(count, defaults.maxTurns),
    timeout: v.optional(duration, defaults.timeoutSeconds),
    agent: orNull(text),
    model: orNull(text),
  }
}

function spent(row: { turns: number; timeout: number; agent: string | null; model: string | null }) {
  return { maxTurns: row.turns, timeoutSeconds: row.timeout, agent: row.agent, model: row.model }
}

function pathOf(input: unknown, ...keys: readonly [Key, Key]): [v.IssuePathItem, v.IssuePathItem] {
  const item = (key: Key) => ({
    type: 'unknown' as const,
    origin: 'value' as const,
    input,
    key,
    value: undefined,
  })
  return [item(keys[0]), item(keys[1])]
}
type Key = string | number

function digits() {
  const expected = '"auto" or a whole number from 4 to 8'
  return v.union(
    [
      v.literal('auto'),
      v.pipe(v.number(), v.integer(expected), v.minValue(4, expected), v.maxValue(8, expected)),
    ],
    expected,
  )
}

function wholeNumber(least: number) {
  const expected = `a whole number of ${least} or more`
  return v.pipe(v.number(expected), v.safeInteger(expected), v.minValue(least, expected))
}

function oneOf<const Choices extends readonly string[]>(choices: Choices) {
  return v.picklist(choices, `one of ${choices.map((choice) => `"${choice}"`).join(', ')}`)
}

function orNull<const Schema extends v.GenericSchema>(schema: Schema) {
  return v.optional(v.nullable(schema), null)
}
