import { cac } from 'cac'
import { closest } from '../base/spelling.ts'
import { UserError } from '../base/errors.ts'
import type { CommandSpec, Context } from './command.ts'
import { GLOBAL_OPTIONS, readOptions, type Options, type OptionSpec } from './options/option.ts'

/** A parsed command line; without a command if it names none. */
export interface CommandCall {
  readonly command: CommandSpec | null
  readonly args: readonly string[]
  readonly options: Context['options'] & Options
}

/** Reads a command line by the table of commands. */
export function parseArguments(argv: readonly string[], commands: readonly CommandSpec[]): CommandCall {
  // As in git and npm: `ralph help next`.
  if (argv[0] === 'help') return parseArguments([...argv.slice(1), '--help'], commands)
  const all = [...GLOBAL_OPTIONS, ...commands.flatMap(({ options }) => options)]
  const { tokens, flags } = guarded(argv, all)
  const parsed = cac('ralph').parse(['', '', ...tokens], { run: false })
  const [name, ...args] = parsed.args.map(unguarded)
  const command = name === undefined ? null : commandNamed(name, commands)
  const specs = [...GLOBAL_OPTIONS, ...(command?.options ?? [])]
  const unknown = flags.find((flag) => !specOf(flag, specs))
  if (unknown !== undefined) throw unknownFlag(unknown, specs, command)
  const texts = new Map<string, string[]>()
  for (const spec of specs) {
    const value: unknown = parsed.options[plain(spec)]
    if (value !== undefined) texts.set(spec.name, [value].flat().map(unguarded))
  }
  const options = readOptions(specs, texts) as CommandCall['options']
  if (command && !options.help && !options.version) checkCount(command, args)
  return { command, args, options }
}

function commandNamed(name: string, commands: readonly CommandSpec[]): CommandSpec {
  const found = commands.find((command) => command.name === name)
  if (found) return found
  const names = commands.map((command) => command.name)
  const near = closest(name, names)
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
])

/**
 * The command line for cac, and its flags as typed. cac turns `007` into 7, drops a bare `-`, splits `-n5`, reads
 * `--no-color` as a negation, and takes no value that begins with a dash. So flags are passed on with underscores, and
 * texts behind a guard character, which keeps them unchanged.
 */
function guarded(argv: readonly string[], specs: readonly OptionSpec[]) {
  const tokens: string[] = []
  const flags: string[] = []
  const queue = [...argv]
  for (let token = queue.shift(); token !== undefined; token = queue.shift()) {
    const spec = specOf(token, specs)
    if (token === '--') tokens.push(...queue.splice(0).map(guard))
    else if (!/^-./.test(token)) tokens.push(guard(token))
    else flags.push(token)
    if (spec) tokens.push(`--${plain(spec)}=${guard(valueOf(spec, token, queue, specs))}`)
  }
  return { tokens, flags }
}

/** The option of a flag as typed: `--turns`, `--turns=5`, `-n5`. */
function specOf(token: string, specs: readonly OptionSpec[]): OptionSpec | undefined {
  const [long] = token.split('=')
  return specs.find(
    ({ name, short, takes }) =>
      `--${name}` === long ||
      (short === token[1] && /^-[^-]/.test(token) && (takes !== 'flag' || token.length === 2)),
  )
}

/** The value of a flag: what is joined to it, else the next word, which is taken from the queue. */
function valueOf(spec: OptionSpec, token: string, queue: string[], specs: readonly OptionSpec[]): string {
  const joined = token.startsWith('--') ? /=(.*)/s.exec(token)?.[1] : /^-.=?(.+)/s.exec(token)?.[1]
  if (spec.takes === 'flag') {
    if (joined !== undefined) throw new UserError(`--${spec.name} takes no value`)
    return ''
  }
  const isFree = queue[0] !== undefined && !specOf(queue[0], specs)
  const value = joined ?? (isFree ? queue.shift() : spec.usage.endsWith(']') ? '' : undefined)
  if (value === undefined) throw new UserError(`--${spec.name} needs a value: ${spec.usage}`)
  return value
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

const plain = ({ name }: OptionSpec): string => name.replaceAll('-', '_')
const guard = (text: string): string => `=${text}`
const unguarded = (value: unknown): string => String(value).replace(/^=/, '')
