import { readNamed } from '../../config/find-task.ts'
import { openPlace } from '../../config/project.ts'
import { tryRun } from '../run/run-control.ts'
import { UserError } from '../../base/errors.ts'
import { line } from '../../screen/block.ts'
import type { Context } from '../command.ts'
import { tryAgain } from './retry.ts'

/** Answers an agent's question: passes it to a running agent, or writes it into the file of a blocked task. */
export async function run(context: Context): Promise<number> {
  const [named = '', text = ''] = context.args
  const { id, file, status, held } = await readNamed(await openPlace(context.where), named)
  const isOpen = status === 'TODO' && !held
  if (!isOpen) return tryAgain(context, text)
  if (text.trim() === '') throw new UserError('an answer needs a text', `ralph answer ${id} "MIT"`)
  const reply = await tryRun(context.io, context.where, { do: 'answer', task: id, text })
  // Without a running question, the file shows how the task stands.
  if (reply === null) return tryAgain(context, text)
  if (!reply.ok) throw new UserError(reply.text, 'ralph status says what is asked.', 1)
  if (context.json) context.printJson({ version: 1, id, status, file })
  else await context.print([line(reply.text)])
  return 0
}
