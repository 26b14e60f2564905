import { parseDuration } from '../../base/time.ts'
import { UserError } from '../../base/errors.ts'
import { splitOutsideBraces } from '../../base/text.ts'
import type { Config } from '../../config/defaults.ts'

/** An option: its name, its kind of value and a description in one line. Parsing, help, completion and types come from it. */
export interface OptionSpec {
  readonly name: string
  readonly short?: string
  readonly takes: Takes
  /** The placeholder for the value in the help: `20m`, `folder`. */
  readonly value?: string
  /** Whether it may be used without its value. */
  readonly alone?: true
  readonly about: string
  /** What the code calls it, if that is not its name in camel case. */
  readonly key?: string
  /** The key of the configuration that it overrides. */
  readonly sets?: keyof Config | 'queue.remote' | 'plan.budget'
}

/**
 * The kind of a value. `list` is split at commas and may be repeated, `repeat` may be repeated and is not split,
 * `count` is a whole number from 1, `whole` one from 0, `money` an amount in dollars, `duration` becomes seconds.
 */
type Takes =
  'flag' | 'text' | 'list' | 'repeat' | 'count' | 'whole' | 'money' | 'duration' | readonly string[]

/** The values of a table's options: a flag is false and a list empty if it was not given. */
export type OptionsOf<Specs extends readonly OptionSpec[]> = {
  readonly [Spec in Specs[number] as KeyOf<Spec>]: ValueOf<Spec['takes']>
}

type KeyOf<Spec extends OptionSpec> = Spec extends { readonly key: infer Key extends string }
  ? Key
  : CamelCase<Spec['name']>

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

type ValueOf<Kind extends Takes> = Kind extends 'flag'
  ? boolean
  : Kind extends 'list' | 'repeat'
    ? readonly string[]
    : Kind extends readonly (infer Word)[]
      ? Word | undefined
      : (Kind extends 'text' ? string : number) | undefined

/** The values of any table's options. */
export type Options = Readonly<
  Record<string, boolean | string | number | readonly string[] | null | undefined>
>

/** The specification of an option that is a flag. */
export function flag<const Name extends string>(name: Name, about: string) {
  return { name, takes: 'flag', about } as const
}

/** The options of all commands. */
export const GLOBAL_OPTIONS = [
  flag('json', 'print JSON for programs'),
  { name: 'dir', takes: 'text', value: 'folder', about: 'the task folder, instead of docs/tasks' },
  { name: 'root', short: 'C', takes: 'text', value: 'path', about: 'work as if started there' },
  flag('no-color', 'print without colour'),
  { ...flag('help', 'show this help'), short: 'h' },
  { ...flag('version', 'show the version'), short: 'v' },
] as const satisfies readonly OptionSpec[]

/** What the code calls an option. */
export function keyOf({ key, name }: OptionSpec): string {
  return key ?? name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Reads the options of one call. `texts` holds each option's values as typed, by its name; flags as empty strings. */
export function readOptions(
  specs: readonly OptionSpec[],
  texts: ReadonlyMap<string, readonly string[]>,
): Options {
  return Object.fromEntries(specs.map((spec) => [keyOf(spec), read(spec, texts.get(spec.name) ?? [])]))
}

/** A place, with what these options override in its configuration. */
export function overridden<Place extends { readonly config: Config }>(
  place: Place,
  specs: readonly OptionSpec[],
  options: Options,
): Place {
  const { config } = place
  const changed: Record<string, unknown> = {}
  for (const spec of specs) {
    const value = options[keyOf(spec)]
    // A flag that is not given says nothing.
    if (spec.sets === undefined || value === undefined || value === null || value === false) continue
    const [table, key] = spec.sets.split('.') as [keyof Config, string | undefined]
    changed[table] = key === undefined ? value : { ...(config[table] as object), [key]: value }
  }
  return { ...place, config: { ...config, ...changed } }
}

function read(spec: OptionSpec, texts: readonly string[]): Options[string] {
  const { takes } = spec
  if (takes === 'flag') return texts.length > 0
  if (takes === 'repeat') return texts.map((text) => required(spec, text))
  if (takes === 'list') {
    return texts
      .flatMap((text) => splitOutsideBraces(required(spec, text), /,/))
      .map((text) => text.trim())
      .filter(Boolean)
  }
  const text = texts.at(-1)
  if (text === undefined || (spec.alone === true && text === '')) return text
  return readOne(spec, required(spec, text))
}

const NUMBERS = {
  count: { form: /^[1-9]\d{0,8}$/, wanted: 'a whole number from 1' },
  whole: { form: /^\d{1,9}$/, wanted: 'a whole number from 0' },
  money: { form: /^\d{1,9}(\.\d{1,4})?$/, wanted: 'an amount in dollars, like 5.00' },
} as const

function readOne(spec: OptionSpec, text: string): string | number {
  const { takes } = spec
  if (typeof takes === 'object') return chosen(spec, takes, text)
  if (takes === 'duration')
    return parseDuration(text) ?? refuse(spec, text, 'a time, like 90s, 20m or 1h 30m')
  if (takes !== 'count' && takes !== 'whole' && takes !== 'money') return text
  const { form, wanted } = NUMBERS[takes]
  const digits = text.replace(takes === 'money' ? /^\$/ : '', '')
  return form.test(digits) ? Number(digits) : refuse(spec, text, wanted)
}

function chosen(spec: OptionSpec, choices: readonly string[], text: string): string {
  const found = choices.find((choice) => choice.toLowerCase() === text.toLowerCase())
  return found ?? refuse(spec, text, `one of ${choices.join(', ')}`)
}

function required(spec: OptionSpec, text: string): string {
  return text.trim() === '' ? refuse(spec, text, 'a value') : text
}

function refuse(spec: OptionSpec, text: string, wanted: string): never {
  throw new UserError(`--${spec.name} takes ${wanted}, not '${text}'`)
}
