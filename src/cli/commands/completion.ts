import { AGENT_NAMES } from '../../base/names.ts'
import { UserError } from '../../base/errors.ts'
import { readFacts } from '../../backlog/read.ts'
import { printable } from '../../screen/printable.ts'
import type { CommandSpec, Context } from '../command.ts'
import { COMMANDS } from '../commands.ts'
import { GLOBAL_OPTIONS, type OptionSpec } from '../options/option.ts'

/** Prints a shell's completion script, generated from the table of commands. The script calls this command for the tasks. */
export async function run(context: Context): Promise<number> {
  const wanted = context.args[0]!
  const text = await textFor(wanted, context)
  return context.answer({ for: wanted, text }, () => {
    context.printRaw(text)
    return []
  })
}

/** A script, or data for the scripts: the tasks with their titles, or the milestones. */
async function textFor(wanted: string, { place }: Context): Promise<string> {
  if (wanted === 'tasks') {
    const { tasks } = await readFacts(await place(), { facts: ['title'] })
    return tasks.map(({ id, title }) => `${id}\t${printable(title)}\n`).join('')
  }
  if (wanted === 'milestones') {
    const { tasks } = await readFacts(await place(), { facts: ['milestone'] })
    const names = new Set(tasks.flatMap(({ milestone }) => milestone ?? []))
    return [...names].map((name) => `${printable(name)}\n`).join('')
  }
  if (wanted === 'bash') return bashScript()
  if (wanted === 'zsh') return zshScript()
  if (wanted === 'fish') return fishScript()
  throw new UserError(`there is no completion for '${wanted}'`, 'Give one of bash, zsh, fish.')
}

/** What a shell can offer in a place: these words, or what it finds out itself. */
type Hint = readonly string[] | 'tasks' | 'milestones' | 'files' | 'folders' | 'nothing'

/** How a shell offers something: what it does for words, and for each other hint. */
type Offers = Readonly<Record<Exclude<Hint, readonly string[]>, string>> & {
  readonly words: (words: string) => string
}

function offer(hint: Hint, offers: Offers): string {
  return typeof hint === 'string' ? offers[hint] : offers.words(hint.join(' '))
}

function hintOfOption({ name, takes, value }: OptionSpec): Hint {
  if (typeof takes === 'object') return takes
  if (name === 'milestone') return 'milestones'
  if (name === 'agent') return AGENT_NAMES
  if (value === 'folder' || value === 'path') return 'folders'
  return value === 'ids' ? 'tasks' : 'nothing'
}

/** The hint for the words after a command's name. */
function hintOfArguments({ name, args }: CommandSpec): Hint {
  if (name === 'completion') return ['bash', 'zsh', 'fish']
  if (/[<[]id/.test(args)) return 'tasks'
  return args.includes('files') ? 'files' : 'nothing'
}

const BASH: Offers = {
  words: (words) => `_ralph_offer "${words}"`,
  tasks: '_ralph_tasks',
  milestones: '_ralph_milestones',
  files: 'COMPREPLY=($(compgen -f -- "$current"))',
  folders: 'COMPREPLY=($(compgen -d -- "$current"))',
  nothing: ':',
}

/**
 * Completion for bash, from version 3.2 on, which macOS still has. `compgen -W` would execute code in milestones,
 * which may come from anybody: so each is compared and quoted separately.
 */
function bashScript(): string {
  const names = COMMANDS.map(({ name }) => name)
  const all: readonly OptionSpec[] = [
    ...GLOBAL_OPTIONS,
    ...COMMANDS.flatMap((command): CommandSpec['options'] => command.options),
  ]
  // Several commands may have the same option.
  const taking = new Map(all.flatMap((option) => (option.takes === 'flag' ? [] : [[option.name, option]])))
  const flags = (options: readonly OptionSpec[]): string =>
    `_ralph_offer "${options.map(({ name }) => `--${name}`).join(' ')}"`
  return `# ralph completion for bash
_ralph_offer() { COMPREPLY=($(compgen -W "$1" -- "$current")); }
_ralph_tasks() { _ralph_offer "$(ralph completion tasks 2>/dev/null | cut -f1)"; }
_ralph_milestones() {
  local name typed=\${current#[\\"\\']}
  while IFS= read -r name; do
    if [[ $name != "\${typed//\\\\/}"* ]]; then continue; fi
    if [[ $typed == "$current" ]]; then name=$(printf '%q' "$name"); fi
    COMPREPLY+=("$name")
  done < <(ralph completion milestones 2>/dev/null)
}
_ralph() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= word
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in ${names.join('|')}) command=$word; break ;; esac
  done
  case $previous in
${[...taking.values()].map((option) => `    --${option.name}${option.short ? `|-${option.short}` : ''}) ${offer(hintOfOption(option), BASH)}; return ;;`).join('\n')}
  esac
  if [[ $current == -* ]]; then
    case $command in
${COMMANDS.map(({ name, options }) => `      ${name}) ${flags([...options, ...GLOBAL_OPTIONS])} ;;`).join('\n')}
      *) ${flags(GLOBAL_OPTIONS)} ;;
    esac
    return
  fi
  case $command in
${COMMANDS.map((command) => `    ${command.name}) ${offer(hintOfArguments(command), BASH)} ;;`).join('\n')}
    *) ${BASH.words(names.join(' '))} ;;
  esac
}
complete -F _ralph ralph
`
}

const ZSH: Offers = {
  words: (words) => `(${words})`,
  tasks: '_ralph_tasks',
  milestones: '_ralph_milestones',
  files: '_files',
  folders: '_files -/',
  nothing: '',
}

/** Completion for zsh, with descriptions of commands and options. */
function zshScript(): string {
  const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
  const argument = (option: OptionSpec): string => {
    const { name, short, takes, value = name } = option
    const about = option.about.replace(/[[\]:]/g, '\\$&')
    const hint = takes === 'flag' ? '' : `:${value}:${offer(hintOfOption(option), ZSH)}`
    const flags = [`--${name}`, ...(short ? [`-${short}`] : [])]
    return flags.map((flag) => quote(`${flag}[${about}]${hint}`)).join(' ')
  }
  const branch = (command: CommandSpec): string => {
    const options = [...command.options, ...GLOBAL_OPTIONS].map(argument).join(' ')
    const action = offer(hintOfArguments(command), ZSH)
    return `        ${command.name}) _arguments ${options}${action ? ` '*:${command.args.replace(/\W/g, '')}:${action}'` : ''} ;;`
  }
  return `#compdef ralph
# ralph completion for zsh
_ralph_tasks() {
  local -a tasks
  tasks=(\${(f)"$(ralph completion tasks 2>/dev/null | sed -e 's/:/\\\\:/g' -e $'s/\\t/:/')"})
  _describe -t tasks task tasks
}
_ralph_milestones() {
  local -a milestones
  milestones=(\${(f)"$(ralph completion milestones 2>/dev/null)"})
  compadd -a milestones
}
_ralph() {
  local context state line
  typeset -A opt_args
  local -a commands
  commands=(
${COMMANDS.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}`).join('\n')}
  )
  _arguments -C ${GLOBAL_OPTIONS.map(argument).join(' ')} '1: :->command' '*:: :->rest'
  case $state in
    command) _describe -t commands command commands ;;
    rest)
      case $line[1] in
${COMMANDS.map(branch).join('\n')}
      esac ;;
  esac
}
if [ "$funcstack[1]" = "_ralph" ]; then _ralph "$@"; else compdef _ralph ralph; fi
`
}

const FISH: Offers = {
  words: (words) => `-a '${words}'`,
  tasks: `-a '(__ralph_tasks)'`,
  milestones: `-a '(ralph completion milestones 2>/dev/null)'`,
  files: '-F',
  folders: `-a '(__fish_complete_directories)'`,
  nothing: '',
}

/** Completion for fish, with descriptions of commands and options. */
function fishScript(): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const before = `not __fish_seen_subcommand_from ${COMMANDS.map(({ name }) => name).join(' ')}`
  const optionLine = (option: OptionSpec, seen: string): string => {
    const { name, takes, about } = option
    const value = takes === 'flag' ? '' : ` -x ${offer(hintOfOption(option), FISH)}`.trimEnd()
    const short = option.short ? ` -s ${option.short}` : ''
    return `complete -c ralph${seen} -l ${name}${short}${value} -d ${quote(about)}`
  }
  const linesOf = (command: CommandSpec): readonly string[] => {
    const seen = ` -n ${quote(`__fish_seen_subcommand_from ${command.name}`)}`
    const action = offer(hintOfArguments(command), FISH)
    return [
      ...(action ? [`complete -c ralph${seen} ${action}`] : []),
      ...command.options.map((option) => optionLine(option, seen)),
    ]
  }
  return `# ralph completion for fish
function __ralph_tasks
  ralph completion tasks 2>/dev/null
end
complete -c ralph -f
${COMMANDS.map(({ name, summary }) => `complete -c ralph -n ${quote(before)} -a ${name} -d ${quote(summary)}`).join('\n')}
${GLOBAL_OPTIONS.map((option) => optionLine(option, '')).join('\n')}
${COMMANDS.flatMap(linesOf).join('\n')}
`
}
