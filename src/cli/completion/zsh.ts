import type { CommandSpec } from '../command.ts'
import { GLOBAL_OPTIONS, type OptionSpec } from '../options/option.ts'
import { hintOfArguments, hintOfOption, type Hint } from './hint.ts'

/** Completion for zsh, with descriptions of commands and options. */
export function zshCompletion(commands: readonly CommandSpec[]): string {
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
${commands.map((command) => `    ${quote(`${command.name}:${command.summary}`)}`).join('\n')}
  )
  _arguments -C ${GLOBAL_OPTIONS.map(argument).join(' ')} '1: :->command' '*:: :->rest'
  case $state in
    command) _describe -t commands command commands ;;
    rest)
      case $line[1] in
${commands.map(branch).join('\n')}
      esac ;;
  esac
}
if [ "$funcstack[1]" = "_ralph" ]; then _ralph "$@"; else compdef _ralph ralph; fi
`
}

function branch(command: CommandSpec): string {
  const options = [...command.options, ...GLOBAL_OPTIONS].map(argument).join(' ')
  const action = actionOf(hintOfArguments(command))
  return `        ${command.name}) _arguments ${options}${action ? ` '*:${command.args.replace(/\W/g, '')}:${action}'` : ''} ;;`
}

function argument(option: OptionSpec): string {
  const about = option.about.replace(/[[\]:]/g, '\\$&')
  const hint = hintOfOption(option)
  const value = hint ? `:${option.value ?? option.name}:${actionOf(hint)}` : ''
  const long = quote(`--${option.name}[${about}]${value}`)
  return option.short ? `${long} ${quote(`-${option.short}[${about}]${value}`)}` : long
}

function actionOf(hint: Hint): string {
  switch (hint.kind) {
    case 'words':
      return `(${hint.words.join(' ')})`
    case 'tasks':
      return '_ralph_tasks'
    case 'milestones':
      return '_ralph_milestones'
    case 'files':
      return '_files'
    case 'folders':
      return '_files -/'
    case 'nothing':
      return ''
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
