import type { CommandSpec } from '../command.ts'
import { GLOBAL_OPTIONS, type OptionSpec } from '../options/option.ts'
import { hintOfArguments, hintOfOption, type Hint } from './hint.ts'

/** Completion for fish, with descriptions of commands and options. */
export function fishCompletion(commands: readonly CommandSpec[]): string {
  const names = commands.map((command) => command.name).join(' ')
  const before = `not __fish_seen_subcommand_from ${names}`
  return `# ralph completion for fish
function __ralph_tasks
  ralph completion tasks 2>/dev/null
end
complete -c ralph -f
${commands.map((command) => `complete -c ralph -n ${quote(before)} -a ${command.name} -d ${quote(command.summary)}`).join('\n')}
${GLOBAL_OPTIONS.map((option) => optionLine(option, '')).join('\n')}
${commands.flatMap(linesOf).join('\n')}
`
}

function linesOf(command: CommandSpec): readonly string[] {
  const seen = ` -n ${quote(`__fish_seen_subcommand_from ${command.name}`)}`
  const action = actionOf(hintOfArguments(command))
  return [
    ...(action ? [`complete -c ralph${seen} ${action}`] : []),
    ...command.options.map((option) => optionLine(option, seen)),
  ]
}

function optionLine(option: OptionSpec, seen: string): string {
  const hint = hintOfOption(option)
  const value = hint ? ` -x ${actionOf(hint)}`.trimEnd() : ''
  const short = option.short ? ` -s ${option.short}` : ''
  return `complete -c ralph${seen} -l ${option.name}${short}${value} -d ${quote(option.about)}`
}

function actionOf(hint: Hint): string {
  switch (hint.kind) {
    case 'words':
      return `-a ${quote(hint.words.join(' '))}`
    case 'tasks':
      return `-a '(__ralph_tasks)'`
    case 'milestones':
      return `-a '(ralph completion milestones 2>/dev/null)'`
    case 'files':
      return '-F'
    case 'folders':
      return `-a '(__fish_complete_directories)'`
    case 'nothing':
      return ''
  }
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
