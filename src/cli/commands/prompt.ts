import type { Context } from '../command.ts'
import { openPlace } from '../../config/project.ts'
import { showPrompt } from '../show-prompt.ts'

/** Prints the prompt of one task, exactly as an agent would get it. */
export async function run(context: Context): Promise<number> {
  await showPrompt(context, await openPlace(context.where), context.args[0] ?? '')
  return 0
}
