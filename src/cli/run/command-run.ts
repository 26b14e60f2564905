import { commandRun } from './run-control.ts'
import type { ControlRequest } from '../../engine/control-socket.ts'
import { line } from '../../screen/block.ts'
import type { Context } from '../command.ts'

/** Sends a request to the running run, and prints its answer. */
export async function command(context: Context, request: ControlRequest): Promise<number> {
  const text = await commandRun(context.io, context.where, request)
  if (context.json) context.printJson({ version: 1, ok: true, text })
  else await context.print([line(text)])
  return 0
}
