import type { CommandSpec } from '../command.ts'
import { GLOBAL_OPTIONS } from '../options/option.ts'
import { flagsOf, hintOfArguments, hintOfOption, valueOptions, type Hint } from './hint.ts'

/**
 * Completion for bash, from version 3.2 on, which macOS still has. `compgen -W` would execute code in milestones,
 * which may come from anybody: so each is compared and quoted separately.
 */
export function bashCompletion(commands: readonly CommandSpec[]): string {
  const names = commands.map((command) => command.name)
  const taking = valueOptions([...GLOBAL_OPTIONS, ...commands.flatMap((command) => command.options)])
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
${taking.map((option) => `    ${flagsOf(option).join('|')}) ${offer(hintOfOption(option) ?? { kind: 'nothing' })}; return ;;`).join('\n')}
  esac
  if [[ $current == -* ]]; then
    case $command in
${commands.map((command) => `      ${command.name}) _ralph_offer "${flags([...command.options, ...GLOBAL_OPTIONS])}" ;;`).join('\n')}
      *) _ralph_offer "${flags(GLOBAL_OPTIONS)}" ;;
    esac
    return
  fi
  case $command in
${commands.map((command) => `    ${command.name}) ${offer(hintOfArguments(command))} ;;`).join('\n')}
    *) _ralph_offer "${names.join(' ')}" ;;
  esac
}
complete -F _ralph ralph
`
}

function offer(hint: Hint): string {
  switch (hint.kind) {
    case 'words':
      return `_ralph_offer "${hint.words.join(' ')}"`
    case 'tasks':
      return '_ralph_tasks'
    case 'milestones':
      return '_ralph_milestones'
    case 'files':
      return 'COMPREPLY=($(compgen -f -- "$current"))'
    case 'folders':
      return 'COMPREPLY=($(compgen -d -- "$current"))'
    case 'nothing':
      return ':'
  }
}

function flags(options: CommandSpec['options']): string {
  return options.map((option) => `--${option.name}`).join(' ')
}
