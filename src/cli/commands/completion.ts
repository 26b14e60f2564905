import { UserError } from '../../base/errors.ts'
import type { Context } from '../command.ts'
import { COMMANDS } from '../commands.ts'
import { bashCompletion } from '../completion/bash.ts'
import { fishCompletion } from '../completion/fish.ts'
import { zshCompletion } from '../completion/zsh.ts'

/** Prints a shell's completion script, made from the table of commands. */
export function run({ args: [shell = ''], printRaw }: Context): number {
  printRaw(scriptFor(shell))
  return 0
}

function scriptFor(shell: string): string {
  if (shell === 'bash') return bashCompletion(COMMANDS)
  if (shell === 'zsh') return zshCompletion(COMMANDS)
  if (shell === 'fish') return fishCompletion(COMMANDS)
  throw new UserError(`there is no completion for '${shell}'`, 'Give one of bash, zsh, fish.')
}
