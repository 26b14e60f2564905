import { AGENT_NAMES } from '../../base/names.ts'
import type { CommandSpec } from '../command.ts'
import type { OptionSpec } from '../options/option.ts'

/** What a shell can offer in a place. */
export type Hint =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'tasks' }
  | { readonly kind: 'milestones' }
  | { readonly kind: 'files' }
  | { readonly kind: 'folders' }
  | { readonly kind: 'nothing' }

/** The hint for an option's value; null for a flag. */
export function hintOfOption(option: OptionSpec): Hint | null {
  if (option.takes === 'flag') return null
  if (typeof option.takes === 'object') return { kind: 'words', words: option.takes }
  if (option.name === 'milestone') return { kind: 'milestones' }
  if (option.name === 'agent') return { kind: 'words', words: AGENT_NAMES }
  if (option.value === 'folder' || option.value === 'path') return { kind: 'folders' }
  return { kind: option.value === 'ids' ? 'tasks' : 'nothing' }
}

/** The hint for the words after a command's name. */
export function hintOfArguments(command: CommandSpec): Hint {
  if (command.name === 'completion') return { kind: 'words', words: ['bash', 'zsh', 'fish'] }
  if (/[<[]id/.test(command.args)) return { kind: 'tasks' }
  return { kind: command.args.includes('files') ? 'files' : 'nothing' }
}

/** All options with a value, each once, even if several commands have it. */
export function valueOptions(specs: readonly OptionSpec[]): readonly OptionSpec[] {
  return [...new Map(specs.filter((spec) => spec.takes !== 'flag').map((spec) => [spec.name, spec])).values()]
}

/** The spellings of an option: its long name, and its letter if it has one. */
export function flagsOf(option: OptionSpec): readonly string[] {
  return [`--${option.name}`, ...(option.short ? [`-${option.short}`] : [])]
}
