import type { Context } from '../command.ts'
import { tryAgain } from './retry.ts'

/** Answers what the agent of a blocked task asked: the next one gets both. */
export async function run(context: Context): Promise<number> {
  return tryAgain(context, context.args[1] ?? '')
}
