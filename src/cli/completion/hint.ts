import { AGENT_NAMES } from '../../agent/registry.ts'
import type { CommandSpec, OptionSpec } from '../command.ts'

/** What a shell can offer in one place. */
export type Hint =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'tasks' }
  | { readonly kind: 'milestones' }
  | { readonly kind: 'files' }
  | { readonly kind: 'folders' }
  | { readonly kind: 'nothing' }

/** What follows an option; null for a flag. */
export function hintOfOption(option: OptionSpec): Hint | null {
  if (option.takes === 'flag') return null
  if (typeof option.takes === 'object') return { kind: 'words', words: option.takes }
  if (option.name === 'milestone') return { kind: 'milestones' }
  if (option.name === 'agent') return { kind: 'words', words: AGENT_NAMES }
  if (option.value === 'folder' || option.value === 'path') return { kind: 'folders' }
  return { kind: option.value === 'ids' ? 'tasks' : 'nothing' }
}

/** What the words after a command's name are. */
export function hintOfArguments(command: CommandSpec): Hint {
  if (command.name === 'completion') return { kind: 'words', words: ['bash', 'zsh', 'fish'] }
  if (/[<[]id/.test(command.args)) return { kind: 'tasks' }
  return { kind: command.args.includes('files') ? 'files' : 'nothing' }
}

/** Each option that takes a value, once, whichever commands have it. */
export function valueOptions(specs: readonly OptionSpec[]): readonly OptionSpec[] {
  return [...new Map(specs.filter((spec) => spec.takes !== 'flag').map((spec) => [spec.name, spec])).values()]
}

/** How an option is typed: its long name, and its letter where it has one. */
export function flagsOf(option: OptionSpec): readonly string[] {
  return [`--${option.name}`, ...(option.short ? [`-${option.short}`] : [])]
}
