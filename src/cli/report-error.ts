import { messageOf, UserError } from '../base/errors.ts'
import { bad, dim, line, paragraph, type Block } from '../screen/block.ts'
import { layOut } from '../screen/layout.ts'
import { canvasFor } from './context.ts'
import type { Io } from './io.ts'

/** Prints what went wrong and what to do, and resolves to the exit code. */
export async function reportError(
  error: unknown,
  io: Pick<Io, 'argv' | 'env' | 'stderr' | 'runLog'>,
): Promise<number> {
  const expected = error instanceof UserError
  const blocks = expected ? userErrorBlocks(error) : bugBlocks(error, io)
  const noColor = io.argv.includes('--no-color')
  io.stderr.write(layOut(blocks, canvasFor(io.stderr, io.env, noColor)))
  return expected ? error.exitCode : 2
}

function userErrorBlocks(error: UserError): readonly Block[] {
  const [first = '', ...rest] = error.message.split('\n')
  const fix = error.fix === '' ? [] : error.fix.split('\n')
  return [
    paragraph([bad('error:'), ' '], first),
    ...rest.map((text) => line(text)),
    ...fix.map((text) => paragraph([], text)),
  ]
}

function bugBlocks(error: unknown, { env, runLog }: Pick<Io, 'env' | 'runLog'>): readonly Block[] {
  const message = messageOf(error)
  const stack = error instanceof Error ? (error.stack ?? '').split('\n').slice(1) : []
  return [
    paragraph([bad('error:'), ' '], message),
    paragraph([], 'This is a bug in ralph, not in your project. Please report it, with what you ran.'),
    ...(runLog.path === null ? [] : [line(`The log of the run is ${runLog.path}`)]),
    ...(env['RALPH_DEBUG']
      ? stack.map((text) => line(dim(text)))
      : [paragraph([], 'RALPH_DEBUG=1 shows where it happened.', 'dim')]),
  ]
}
