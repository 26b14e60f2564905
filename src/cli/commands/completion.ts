import { UserError } from '../../base/errors.ts'
import { readFacts } from '../../backlog/read.ts'
import { printable } from '../../screen/printable.ts'
import type { Context } from '../command.ts'
import { COMMANDS } from '../commands.ts'
import { bashCompletion } from '../completion/bash.ts'
import { fishCompletion } from '../completion/fish.ts'
import { zshCompletion } from '../completion/zsh.ts'
import { openPlace } from '../../config/project.ts'

/** Prints a shell's completion script, generated from the table of commands. The script calls this command for the tasks. */
export async function run(context: Context): Promise<number> {
  const [wanted = ''] = context.args
  const text = (await linesFor(wanted, context)) ?? scriptFor(wanted)
  if (context.json) context.printJson({ version: 1, for: wanted, text })
  else context.printRaw(text)
  return 0
}

/** The data for the scripts: the tasks with their titles, or the milestones; null for anything else. */
async function linesFor(wanted: string, { where }: Context): Promise<string | null> {
  if (wanted === 'tasks') {
    const { tasks } = await readFacts(await openPlace(where), { facts: ['title'] })
    return tasks.map(({ id, title }) => `${id}\t${printable(title)}\n`).join('')
  }
  if (wanted !== 'milestones') return null
  const { tasks } = await readFacts(await openPlace(where), { facts: ['milestone'] })
  const names = new Set(tasks.flatMap(({ milestone }) => (milestone === null ? [] : [printable(milestone)])))
  return [...names].map((name) => `${name}\n`).join('')
}

function scriptFor(shell: string): string {
  if (shell === 'bash') return bashCompletion(COMMANDS)
  if (shell === 'zsh') return zshCompletion(COMMANDS)
  if (shell === 'fish') return fishCompletion(COMMANDS)
  throw new UserError(`there is no completion for '${shell}'`, 'Give one of bash, zsh, fish.')
}
