import { UserError, messageOf } from '../base/errors.ts'
import {
  BLANK,
  type Block,
  type View,
  accent,
  bad,
  dim,
  line,
  paragraph,
  strong,
  table,
} from '../screen/block.ts'
import { layOut } from '../screen/layout.ts'
import { type CommandCall, parseArguments } from './arguments.ts'
import { type CommandSpec, type Context, canvasFor, createContext } from './command.ts'
import { COMMANDS } from './commands.ts'
import type { Io } from './io.ts'
import { GLOBAL_OPTIONS, type OptionSpec } from './options/option.ts'

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
    context.print(command ? helpOf(command) : overview(COMMANDS))
    return 0
  }
  const { run } = await command.load()
  return await run({ ...context, args })
}

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

/** The output of `ralph --help`. */
function overview(commands: readonly CommandSpec[]): View {
  const rows = commands.map((command) => [accent(command.name), dim(command.args), command.summary])
  return [
    line(strong('ralph'), ' does the tasks of docs/tasks, one commit each'),
    BLANK,
    line('Usage: ralph <command> [options]'),
    BLANK,
    ...table(rows, { wrap: 2 }),
    BLANK,
    line('Every command takes'),
    ...optionTable(GLOBAL_OPTIONS),
    BLANK,
    line(dim('ralph <command> --help shows its options, with an example.')),
  ]
}

/** The output of `ralph <command> --help`. */
function helpOf(command: CommandSpec): View {
  const own = command.options.length > 0 ? [line('Options'), ...optionTable(command.options), BLANK] : []
  return [
    paragraph([], `${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}.`),
    BLANK,
    line(`Usage: ralph ${command.name}${command.args ? ` ${command.args}` : ''} [options]`),
    BLANK,
    ...own,
    line('Every command takes'),
    ...optionTable(GLOBAL_OPTIONS),
    BLANK,
    line(command.examples.length > 1 ? 'Examples' : 'Example'),
    ...command.examples.map((example) => line('  ', accent(example))),
  ]
}

function optionTable(options: readonly OptionSpec[]): View {
  const rows = options.map((option) => [accent(option.usage), option.about])
  return table(rows, { wrap: 1 })
}
