import { shortened } from '../base/text.ts'
import { safeParse, type BaseIssue } from 'valibot'
import { closest } from '../base/spelling.ts'
import { configSchema } from './schema.ts'

/** A path of keys and list positions into a configuration. */
export type KeyPath = readonly (string | number)[]

/** A parsed configuration file: its value, and the place of each part in the text. */
export interface ConfigDocument {
  readonly value: unknown
  /** The offset of the value at that path, or of its key; if it is missing, that of the closest parent. */
  offsetOf(path: KeyPath, part: 'key' | 'value'): number
}

/** A problem that makes a file unusable, with its place. */
export interface ConfigProblem {
  readonly offset: number
  readonly message: string
}

/** The configuration that a document holds, and everything that is wrong with it, in the order of the text. */
export function checkConfig(document: ConfigDocument) {
  const { success, output, issues = [] } = safeParse(configSchema, document.value)
  const problems = [
    ...lostKeys(document.value, []).map((path) => ({
      offset: document.offsetOf(path, 'key'),
      message: `the key "${written(path)}" stands for nothing`,
    })),
    ...issues.map((issue) => problemOf(issue, document)),
  ]
  return { config: success ? output : null, problems: problems.toSorted((a, b) => a.offset - b.offset) }
}

/** The paths of keys that valibot silently ignores. */
function lostKeys(value: unknown, path: KeyPath): readonly KeyPath[] {
  if (!isObject(value)) return []
  if (Array.isArray(value)) return value.flatMap((item, index) => lostKeys(item, [...path, index]))
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'constructor' || key === 'prototype' ? [[...path, key]] : lostKeys(inner, [...path, key]),
  )
}

function problemOf({ path: items, type, message }: BaseIssue<unknown>, document: ConfigDocument) {
  const path = (items ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)))
  if (items?.at(-1)?.origin !== 'key') return wrongValue(path, { type, message }, document)
  return type === 'raw_check' ? unknownKey(path, message, document) : missingKey(path, document)
}

function wrongValue(
  path: KeyPath,
  { type, message }: Pick<BaseIssue<unknown>, 'type' | 'message'>,
  document: ConfigDocument,
): ConfigProblem {
  const found = path.reduce<unknown>(
    (holder, key) => (isObject(holder) ? holder[key] : undefined),
    document.value,
  )
  // The message contains the choices, each in quotes.
  const choices = type === 'picklist' ? [...message.matchAll(/"([^"]+)"/g)].map(([, choice]) => choice!) : []
  const where = path.length > 0 ? `${written(path)}: ` : ''
  const hint = typeof found === 'string' ? hintOf(found, choices) : ''
  return {
    offset: document.offsetOf(path, 'value'),
    message: `${where}expected ${message}, found ${shown(found)}${hint}`,
  }
}

function unknownKey(path: KeyPath, known: string, document: ConfigDocument): ConfigProblem {
  const hint = hintOf(String(path.at(-1)), known.split(', '))
  const keys = hint === '' ? '; the keys here' : ' The keys here'
  return {
    offset: document.offsetOf(path, 'key'),
    message: `unknown key "${written(path)}"${hint}${keys} are ${known}`,
  }
}

function missingKey(path: KeyPath, document: ConfigDocument): ConfigProblem {
  const holder = path.slice(0, -1)
  return {
    offset: document.offsetOf(holder, 'value'),
    message: `${written(holder)}: the key "${path.at(-1)}" is missing`,
  }
}

function hintOf(found: string, choices: readonly string[]): string {
  const meant = closest(found, choices)
  return meant === undefined ? '' : `, did you mean "${meant}"?`
}

function isObject(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null
}

/** `gates[0].name`, as code would write it. */
function written(path: KeyPath): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '')
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length > 0 ? 'a list' : 'an empty list'
  if (isObject(value)) return 'an object'
  return shortened(JSON.stringify(value) ?? 'nothing', 60)
}
