import { retry } from '../../authoring/retry-task.ts'
import { line } from '../../screen/block.ts'
import type { ContextOf } from '../commands.ts'
import type { Context } from '../command.ts'

/** Makes a blocked task TODO again, with an answer to its agent's question if there is one. */
export async function run(context: ContextOf<'retry'>): Promise<number> {
  return tryAgain(context, context.options.answer ?? null)
}

/** The shared part of both commands that accept an answer. */
export async function tryAgain(context: Context, answer: string | null): Promise<number> {
  const { io, where, args } = context
  const { id, file } = await retry(io, where, { task: args[0] ?? '', answer })
  if (context.json) context.printJson({ version: 1, id, status: 'TODO', file })
  else await context.print([line(`${id} is TODO again. Next: ralph run ${id}`)])
  return 0
}
