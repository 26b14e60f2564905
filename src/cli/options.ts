import { parseDuration } from '../base/time.ts'
import { UserError } from '../base/errors.ts'
import { splitOutsideBraces } from '../base/text.ts'
import type { OptionSpec } from './command.ts'

type Value = boolean | string | number | readonly string[]

/** The options of one call, checked against the table. Reading one that is not in the table is a bug. */
export class Options {
  readonly #specs: ReadonlyMap<string, OptionSpec>
  readonly #values = new Map<string, Value>()

  /** `values` holds each option's values as typed, flags as empty strings. */
  constructor(specs: readonly OptionSpec[], values: ReadonlyMap<string, readonly string[]>) {
    this.#specs = new Map(specs.map((spec) => [spec.name, spec]))
    for (const spec of specs) {
      const texts = values.get(spec.name)
      if (texts) this.#values.set(spec.name, read(spec, texts))
    }
  }

  /** Whether a flag is set. */
  on(name: string): boolean {
    return this.#get(name) === true
  }

  text(name: string): string | undefined {
    const value = this.#get(name)
    return typeof value === 'string' ? value : undefined
  }

  number(name: string): number | undefined {
    const value = this.#get(name)
    return typeof value === 'number' ? value : undefined
  }

  /** All values of an option that may be repeated, in order; empty if there are none. */
  list(name: string): readonly string[] {
    const value = this.#get(name)
    return typeof value === 'object' ? value : []
  }

  #get(name: string): Value | undefined {
    if (!this.#specs.has(name)) throw new Error(`the table of commands has no option --${name} here`)
    return this.#values.get(name)
  }
}

function read(spec: OptionSpec, texts: readonly string[]): Value {
  const { takes } = spec
  if (takes === 'flag') return true
  if (takes === 'repeat') return texts.map((text) => required(spec, text))
  if (takes === 'list') {
    return texts
      .flatMap((text) => splitOutsideBraces(required(spec, text), /,/))
      .map((text) => text.trim())
      .filter(Boolean)
  }
  const text = texts.at(-1) ?? ''
  return spec.alone === true && text === '' ? '' : readOne(spec, required(spec, text))
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
