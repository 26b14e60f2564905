import { shortened } from '../base/text.ts'
import { safeParse, type BaseIssue } from 'valibot'
import { closest } from '../base/spelling.ts'
import type { Config } from './defaults.ts'
import type { ConfigDocument, ConfigProblem, KeyPath } from './document.ts'
import { configSchema } from './schema.ts'

/** The result of checking a document. */
type ConfigCheck =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] }

/** The configuration that a document holds, or everything that is wrong with it, in the order of the text. */
export function checkConfig(document: ConfigDocument): ConfigCheck {
  const result = safeParse(configSchema, document.value)
  const problems = [
    ...lostKeys(document.value, []).map((path) => lostKey(path, document)),
    ...(result.issues ?? []).map((issue) => problemOf(issue, document)),
  ]
  if (result.success && problems.length === 0) return { ok: true, config: result.output }
  return { ok: false, problems: inOrder(problems) }
}

/** The paths of keys that valibot silently ignores. */
function lostKeys(value: unknown, path: KeyPath): readonly KeyPath[] {
  if (!isObject(value)) return []
  if (Array.isArray(value)) return value.flatMap((item, index) => lostKeys(item, [...path, index]))
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'constructor' || key === 'prototype' ? [[...path, key]] : lostKeys(inner, [...path, key]),
  )
}

function lostKey(path: KeyPath, document: ConfigDocument): ConfigProblem {
  return { offset: document.keyOffset(path), message: `the key "${written(path)}" stands for nothing` }
}

function inOrder(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  return problems.toSorted((a, b) => a.offset - b.offset)
}

function problemOf(issue: BaseIssue<unknown>, document: ConfigDocument): ConfigProblem {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)))
  const aboutKey = issue.path?.at(-1)?.origin === 'key'
  if (aboutKey && issue.type === 'raw_check') return unknownKey(path, issue.message, document)
  if (aboutKey) return missingKey(path, document)
  // The message contains the choices, each in quotes.
  const choices = issue.type === 'picklist' ? [...issue.message.matchAll(/"([^"]+)"/g)] : []
  return wrongValue(path, { expected: issue.message, choices: choices.map((match) => match[1]!) }, document)
}

function wrongValue(
  path: KeyPath,
  { expected, choices }: { expected: string; choices: readonly string[] },
  document: ConfigDocument,
): ConfigProblem {
  const found = valueAt(document.value, path)
  const meant = typeof found === 'string' ? closest(found, choices) : undefined
  const hint = meant === undefined ? '' : `, did you mean "${meant}"?`
  const message = `expected ${expected}, found ${shown(found)}${hint}`
  return {
    offset: document.valueOffset(path),
    message: path.length > 0 ? `${written(path)}: ${message}` : message,
  }
}

function unknownKey(path: KeyPath, known: string, document: ConfigDocument): ConfigProblem {
  const meant = closest(String(path.at(-1)), known.split(', '))
  const hint = meant === undefined ? '' : `, did you mean "${meant}"?`
  return {
    offset: document.keyOffset(path),
    message: `unknown key "${written(path)}"${hint}${hint ? ' The keys here' : '; the keys here'} are ${known}`,
  }
}

function missingKey(path: KeyPath, document: ConfigDocument): ConfigProblem {
  const holder = path.slice(0, -1)
  return {
    offset: document.valueOffset(holder),
    message: `${written(holder)}: the key "${path.at(-1)}" is missing`,
  }
}

function valueAt(value: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>((holder, key) => (isObject(holder) ? holder[key] : undefined), value)
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
