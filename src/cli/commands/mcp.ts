import { UserError } from '../../base/errors.ts'
import { INSIDE_VARIABLE } from '../../base/names.ts'
import { attemptIn, attemptOffer } from '../mcp/attempt.ts'
import { PROJECT_ABOUT, projectTools, type ToolCall } from '../mcp/project-tools.ts'
import { serveMcp, type McpOffer } from '../mcp/server.ts'
import { withParts } from '../../base/parts.ts'
import { line } from '../../screen/block.ts'
import manifest from '../../../package.json' with { type: 'json' }
import { createContext } from '../command.ts'
import { COMMANDS, type ContextOf } from '../commands.ts'
import type { Outlet } from '../io.ts'
import { GLOBAL_OPTIONS, readOptions } from '../options/option.ts'

type Context = ContextOf<'mcp'>

/** Serves the signals of an attempt or the backlog of a project, or prints the configuration for other programs. */
export async function run(context: Context): Promise<number> {
  const { io, options } = context
  const client = options.printConfig
  if (client !== undefined) return printConfig(context, client)
  const pipes = io.pipes()
  if (pipes === null)
    throw new UserError(
      'the server speaks with a program, not with a terminal',
      'ralph mcp --print-config claude says what to add to that program.',
    )
  const attempt = attemptIn(io.env)
  if (attempt === null) {
    await serveMcp(projectOffer(context), pipes)
    return 0
  }
  const offer = attemptOffer(attempt, {
    version: manifest.version,
    workspace: io.env[INSIDE_VARIABLE] ?? io.cwd,
  })
  try {
    await serveMcp(offer, pipes)
  } finally {
    offer.close()
  }
  return 0
}

async function printConfig(context: Context, client: string): Promise<number> {
  const { mcpConfigFor } = await import('../mcp/print-config.ts')
  const config = mcpConfigFor(client, context.io)
  if (context.json) {
    context.printJson({ version: 1, ...config })
    return 0
  }
  context.printRaw(config.text)
  context.note([
    line(`Add it to ${config.file}.`),
    ...(config.command === null ? [] : [line(`Or: ${config.command}`)]),
  ])
  return 0
}

function projectOffer(context: Context): McpOffer {
  const tools = projectTools(COMMANDS, async (call) => ({ ok: true, text: await answer(context, call) }))
  return { version: manifest.version, about: PROJECT_ABOUT, tools, resources: [] }
}

/** Runs the command in this process, like a call on the command line, and returns its output. */
async function answer(
  { io: own, options: given }: Context,
  { command: name, args, options }: ToolCall,
): Promise<string> {
  const command = COMMANDS.find((spec) => spec.name === name)!
  const specs = [...GLOBAL_OPTIONS, ...command.options]
  const dir = given.dir
  const values = new Map([...options, ...(dir === undefined ? [] : [['dir', [dir]] as const])])
  const printed: string[] = []
  const stdout: Outlet = {
    write: (text) => void printed.push(typeof text === 'string' ? text : Buffer.from(text).toString()),
    isWritten: true,
    columns: null,
    rows: null,
    onResize: () => () => undefined,
  }
  const io = withParts(own, { stdout, stderr: stdout })
  const context = createContext(io, {
    command,
    args,
    options: readOptions(specs, values) as Context['options'],
  })
  const { run: work } = await command.load()
  // A negative result (nothing eligible, errors found) is an answer too.
  await work(context)
  return printed.join('')
}
