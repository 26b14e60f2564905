import { parseArguments, type CommandCall } from './arguments.ts'
import type { Context } from './command.ts'
import { COMMANDS } from './commands.ts'
import { createContext } from './context.ts'
import { helpOf, overview } from './help.ts'
import { reportError } from './report-error.ts'
import type { Io } from './io.ts'
import manifest from '../../package.json' with { type: 'json' }

/** The whole program: parses the command line, runs the command, and resolves to the exit code. It has the only catch. */
export async function main(io: Io): Promise<number> {
  try {
    const invocation = parseArguments(io.argv, COMMANDS)
    return await dispatch(invocation, createContext(io, invocation))
  } catch (error) {
    return reportError(error, io)
  }
}

async function dispatch({ command, args, options }: CommandCall, context: Context): Promise<number> {
  if (options.version) {
    context.printRaw(`${manifest.version}\n`)
    return 0
  }
  if (!command || options.help) {
    await context.print(command ? helpOf(command) : overview(COMMANDS))
    return 0
  }
  const { run } = await command.load()
  return await run({ ...context, args })
}
