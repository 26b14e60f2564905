import { parseDuration } from '../../base/time.ts'
import { UserError } from '../../base/errors.ts'
import { parseCount, TOKENS } from '../../base/usage.ts'
import { splitOutsideBraces } from '../../base/text.ts'
import type { Config } from '../../config/defaults.ts'

/** An option, as `option` makes it: parsing, help, completion and types come from it. */
export interface OptionSpec<Kind extends Takes = Takes, Key extends string = string> {
  readonly usage: string
  readonly name: string
  readonly short: string | undefined
  readonly takes: Kind
  readonly about: string
  /** What the placeholder of the value says: `20m`, `folder`. */
  readonly value: string | undefined
  /** What the code calls it. */
  readonly key: Key
  readonly sets: Setting | undefined
}

/** The key of the configuration that an option overrides. */
type Setting = keyof Config | 'queue.remote' | 'plan.budget'

/**
 * Specifies an option in the notation of the help: `-C, --root <path>`, or `--queue [url]` if its value may be left out.
 * The code calls it by its key, which is its name in camel case unless another is given.
 */
export function option<
  const Usage extends string,
  const Kind extends Takes,
  const Key extends string = CamelCase<NameIn<Usage>>,
>(
  usage: Usage,
  takes: Kind,
  about: string,
  { key, sets }: { key?: Key; sets?: Setting } = {},
): OptionSpec<Kind, NoInfer<Key>> {
  const [, short, name = '', value] = /^(?:-(\w), )?--([\w-]+)(?: [<[](.+)[>\]])?$/.exec(usage) ?? []
  const camel = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return { usage, name, short, takes, about, value, key: key ?? (camel as Key), sets }
}

/** The specification of an option that is a flag. */
export function flag<const Usage extends string, const Key extends string = CamelCase<NameIn<Usage>>>(
  usage: Usage,
  about: string,
  more: { key?: Key; sets?: Setting } = {},
): OptionSpec<'flag', NoInfer<Key>> {
  return option<Usage, 'flag', Key>(usage, 'flag', about, more)
}

type NameIn<Usage extends string> = Usage extends `${string}--${infer Name} ${string}`
  ? Name
  : Usage extends `${string}--${infer Name}`
    ? Name
    : never

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

/**
 * The kind of a value. `list` is split at commas and may be repeated, `repeat` may be repeated and is not split,
 * `count` is a whole number from 1, `whole` one from 0, `money` an amount in dollars, `tokens` a number such as `3M`,
 * `duration` becomes seconds.
 */
type Takes =
  | 'flag'
  | 'text'
  | 'list'
  | 'repeat'
  | 'count'
  | 'whole'
  | 'money'
  | 'tokens'
  | 'duration'
  | readonly string[]

/** The values of a table's options: a flag is false and a list empty if it was not given. */
export type OptionsOf<Specs extends readonly OptionSpec[]> = {
  readonly [Spec in Specs[number] as Spec['key']]: ValueOf<Spec['takes']>
}

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

/** The options of all commands. */
export const GLOBAL_OPTIONS = [
  flag('--json', 'print JSON for programs'),
  option('--dir <folder>', 'text', 'the task folder, instead of docs/tasks'),
  option('-C, --root <path>', 'text', 'work as if started there'),
  flag('--no-color', 'print without colour'),
  flag('-h, --help', 'show this help'),
  flag('-v, --version', 'show the version'),
] as const satisfies readonly OptionSpec[]

/** Reads the options of one call. `texts` holds each option's values as typed, by its name; flags as empty strings. */
export function readOptions(
  specs: readonly OptionSpec[],
  texts: ReadonlyMap<string, readonly string[]>,
): Options {
  return Object.fromEntries(specs.map((spec) => [spec.key, read(spec, texts.get(spec.name) ?? [])]))
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
    const value = options[spec.key]
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
  if (text === undefined || (spec.usage.endsWith(']') && text === '')) return text
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
  if (takes === 'tokens') return parseCount(text) ?? refuse(spec, text, TOKENS)
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
