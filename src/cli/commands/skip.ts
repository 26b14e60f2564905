import { readNamed } from '../../config/find-task.ts'
import { openPlace } from '../../config/project.ts'
import type { Context } from '../command.ts'
import { command } from '../run/command-run.ts'

/** Leaves a task out of the current run: its attempt ends and is kept, and it stays TODO. */
export async function run(context: Context): Promise<number> {
  const { id } = await readNamed(await openPlace(context.where), context.args[0] ?? '')
  return command(context, { do: 'skip', task: id })
}
