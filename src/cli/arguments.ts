import { cac } from 'cac'
import { closest } from '../base/spelling.ts'
import { UserError } from '../base/errors.ts'
import type { CommandSpec, OptionSpec } from './command.ts'
import { GLOBAL_OPTIONS } from './global-options.ts'
import { Options } from './options.ts'

/** A parsed command line; without a command if it names none. */
export interface CommandCall {
  readonly command: CommandSpec | null
  readonly args: readonly string[]
  readonly options: Options
}

/**
 * Reads a command line by the table of commands.
 *
 * cac turns `007` into 7, drops a bare `-`, splits `-n5` and guesses whether a word after an unknown flag is its
 * value. So flags are first matched with the table, and every text is passed to cac behind a guard character, which
 * keeps it unchanged.
 */
export function parseArguments(argv: readonly string[], commands: readonly CommandSpec[]): CommandCall {
  // As in git and npm: `ralph help next`.
  if (argv[0] === 'help') return parseArguments([...argv.slice(1), '--help'], commands)
  const command = findCommand(argv, commands)
  const specs = [...GLOBAL_OPTIONS, ...(command?.options ?? [])]
  const { words, flags } = sort(argv, specs, (flag) => {
    throw unknownFlag(flag, specs, command)
  })
  const cli = cac('ralph')
  declare(cli.globalCommand, GLOBAL_OPTIONS)
  if (command) {
    declare(cli.command(`${command.name} ${command.args}`.trim(), command.summary), command.options)
  }
  const args = words.slice(command ? 1 : 0).map(guard)
  const parsed = cli.parse(['node', 'ralph', ...(command ? [command.name] : []), ...args, ...flags], {
    run: false,
  })
  const positional = parsed.args.map(unguard)
  const options = new Options(specs, valuesOf(parsed.options, specs))
  if (command && !options.on('help') && !options.on('version')) checkCount(command, positional)
  return { command, args: positional, options }
}

function valuesOf(
  parsed: Readonly<Record<string, unknown>>,
  specs: readonly OptionSpec[],
): Map<string, string[]> {
  const values = new Map<string, string[]>()
  for (const { name } of specs) {
    // cac reads `--no-color` as a negation; here it is a flag like any other.
    const negated = name.startsWith('no-')
    const value = parsed[camelCase(negated ? name.slice(3) : name)]
    if (negated ? value === false : value !== undefined) values.set(name, [value].flat().map(unguard))
  }
  return values
}

function findCommand(argv: readonly string[], commands: readonly CommandSpec[]): CommandSpec | null {
  const anywhere = [...GLOBAL_OPTIONS, ...commands.flatMap((command) => command.options)]
  const [name] = sort(argv, anywhere, () => {}).words
  if (name === undefined) return null
  const found = commands.find((command) => command.name === name)
  if (found) return found
  const near = closest(
    name,
    commands.map((command) => command.name),
  )
  const meant = OTHER_WORDS.get(name.toLowerCase()) ?? (near && `Did you mean ralph ${near}?`)
  throw new UserError(`there is no command '${name}'`, meant ?? 'ralph --help lists the commands.')
}

/** Other tools' names for what ralph does, or what a command does here instead of an edit of a task file. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['ls', 'Did you mean ralph list?'],
  ['tasks', 'Did you mean ralph list?'],
  ['add', 'Did you mean ralph new?'],
  ['create', 'Did you mean ralph new?'],
  ['start', 'Did you mean ralph run?'],
  ['check', 'Did you mean ralph lint?'],
  ['done', 'ralph list --status DONE shows what is done. ralph run T-004 has a task done.'],
  ['edit', 'A task is a file: open it in your editor. ralph show T-004 names the file.'],
])

/** Separates words from flags, each flag with its value as one guarded argument. */
function sort(
  argv: readonly string[],
  specs: readonly OptionSpec[],
  onUnknown: (flag: string) => void,
): { words: string[]; flags: string[] } {
  const words: string[] = []
  const flags: string[] = []
  const queue = [...argv]
  for (let token = queue.shift(); token !== undefined; token = queue.shift()) {
    if (token === '--') {
      words.push(...queue)
      break
    }
    if (!token.startsWith('-') || token === '-') {
      words.push(token)
      continue
    }
    const match = matchFlag(token, specs)
    if (match) flags.push(canonical(match, queue, specs))
    else onUnknown(token)
  }
  return { words, flags }
}

interface FlagMatch {
  readonly spec: OptionSpec
  /** The value in the same word as the flag: `--turns=5`, `-C/path`. */
  readonly attached: string | null
}

function matchFlag(token: string, specs: readonly OptionSpec[]): FlagMatch | undefined {
  if (token.startsWith('--')) {
    const equals = token.indexOf('=')
    const name = token.slice(2, equals < 0 ? undefined : equals)
    const spec = specs.find((spec) => spec.name === name)
    return spec && { spec, attached: equals < 0 ? null : token.slice(equals + 1) }
  }
  const spec = specs.find((spec) => spec.short === token[1])
  if (!spec || (spec.takes === 'flag' && token.length > 2)) return undefined
  return { spec, attached: token.length > 2 ? token.slice(2).replace(/^=/, '') : null }
}

function canonical({ spec, attached }: FlagMatch, queue: string[], specs: readonly OptionSpec[]): string {
  if (spec.takes === 'flag') {
    if (attached !== null) throw new UserError(`--${spec.name} takes no value`)
    return `--${spec.name}`
  }
  const next = queue[0]
  const nextIsFlag = next !== undefined && /^-./.test(next) && matchFlag(next, specs) !== undefined
  const isAlone = spec.alone === true && (nextIsFlag || next === undefined)
  const value = attached ?? (isAlone ? '' : nextIsFlag ? undefined : queue.shift())
  if (value === undefined) throw new UserError(`--${spec.name} needs a value: --${spec.name} <${spec.value}>`)
  return `--${spec.name}=${guard(value)}`
}

function unknownFlag(flag: string, specs: readonly OptionSpec[], command: CommandSpec | null): UserError {
  const name = flag.replace(/=.*/s, '')
  const known = specs.flatMap((spec) => [`--${spec.name}`, ...(spec.short ? [`-${spec.short}`] : [])])
  const near = name.startsWith('--') ? closest(name, known) : undefined
  const help = command ? `ralph ${command.name} --help` : 'ralph --help'
  const where = command ? `ralph ${command.name} has no option` : 'there is no option'
  return new UserError(`${where} '${name}'`, near ? `Did you mean ${near}?` : `${help} lists the options.`)
}

function checkCount(command: CommandSpec, args: readonly string[]): void {
  const required = command.args.match(/<[^>]+>/g) ?? []
  const most = command.args.includes('...') ? Infinity : (command.args.match(/[<[]/g) ?? []).length
  const usage = `Usage: ralph ${command.name} ${command.args}`.trim()
  const missing = required[args.length]
  if (missing) throw new UserError(`ralph ${command.name} needs ${missing}`, usage)
  const extra = args[most]
  if (extra !== undefined) throw new UserError(`ralph ${command.name} does not take '${extra}'`, usage)
}

type CacCommand = ReturnType<ReturnType<typeof cac>['command']>

function declare(command: CacCommand, specs: readonly OptionSpec[]): void {
  for (const spec of specs) {
    const value = spec.takes === 'flag' ? '' : ` <${spec.value}>`
    command.option(`--${spec.name}${value}`, spec.about)
  }
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

const guard = (text: string): string => `=${text}`
const unguard = (value: unknown): string => String(value).replace(/^=/, '')
