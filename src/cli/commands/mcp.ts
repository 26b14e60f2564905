import * as v from 'valibot'
import { UserError } from '../../base/errors.ts'
import { INSIDE_VARIABLE } from '../../base/names.ts'
import { attemptIn, attemptOffer, type Tool, serveMcp } from '../mcp/server.ts'
import { withParts } from '../../base/parts.ts'
import { line } from '../../screen/block.ts'
import { type CommandSpec, createContext } from '../command.ts'
import { COMMANDS, type ContextOf } from '../commands.ts'
import type { Outlet } from '../io.ts'
import { GLOBAL_OPTIONS, type OptionSpec, readOptions } from '../options/option.ts'
import { findOnPath } from '../../process/program.ts'

import manifest from '../../../package.json' with { type: 'json' }

type Context = ContextOf<'mcp'>

/** Serves the signals of an attempt or the backlog of a project, or prints the configuration for other programs. */
export async function run(context: Context): Promise<number> {
  const { io, options } = context
  if (options.printConfig !== undefined) {
    const config = mcpConfigFor(options.printConfig, io)
    return context.answer(config, () => {
      context.printRaw(config.text)
      const { file, command } = config
      context.note([line(`Add it to ${file}.`), ...(command === null ? [] : [line(`Or: ${command}`)])])
      return []
    })
  }
  const pipes = io.pipes()
  if (pipes === null)
    throw new UserError(
      'the server speaks with a program, not with a terminal',
      'ralph mcp --print-config claude says what to add to that program.',
    )
  const { version } = manifest
  const attempt = attemptIn(io.env)
  if (attempt === null) {
    const tools = COMMANDS.flatMap((command) => toolOf(context, command))
    await serveMcp({ version, about: PROJECT_ABOUT, tools, resources: [] }, pipes)
    return 0
  }
  const offer = attemptOffer(attempt, { version, workspace: io.env[INSIDE_VARIABLE] ?? io.cwd })
  try {
    await serveMcp(offer, pipes)
  } finally {
    offer.close()
  }
  return 0
}

/** The description of the server for the model, outside of a run. */
const PROJECT_ABOUT =
  'The backlog of this project: Markdown task files, done one after another by ralph. All tools only read, but `new`, which writes a task file. Nothing here runs a task.'

/** The offered commands, each with the options that are not offered: those that write, and other forms of the same. */
export const OFFERED: Readonly<Record<string, readonly string[]>> = {
  next: ['prompt'],
  list: [],
  show: [],
  lint: ['fix'],
  new: ['edit'],
  graph: ['mermaid', 'dot'],
  log: ['markdown'],
  diff: ['markdown'],
}

/** Makes a tool of an offered command; its parameters are the command's arguments and options. */
function toolOf(context: Context, command: CommandSpec): readonly Tool[] {
  const { name, summary } = command
  const without = OFFERED[name]
  if (!without) return []
  const options = command.options.filter((option) => !without.includes(option.name))
  const args = argumentsOf(command)
  return [
    {
      name,
      about: `${summary[0]?.toUpperCase()}${summary.slice(1)}`,
      input: v.strictObject({
        ...args,
        ...Object.fromEntries(options.map((option) => [option.name, schemaOf(option)])),
      }),
      readOnly: name !== 'new',
      async call(input) {
        const text = await outputOf(context, command, {
          args: Object.keys(args).flatMap((arg) => textsIn(input[arg])),
          values: new Map(options.map((option) => [option.name, textsIn(input[option.name])])),
        })
        return { ok: true, text: bounded(text) }
      },
    },
  ]
}

const word = v.pipe(v.string(), v.minLength(1), v.maxLength(1000))
const words = v.pipe(v.array(word), v.maxLength(200))

/** The parameters for `<id>`, `[id]` and `[...files]`. */
function argumentsOf({ args }: CommandSpec): Readonly<Record<string, v.GenericSchema>> {
  return Object.fromEntries(
    [...args.matchAll(/([<[])(\.\.\.)?([\w-]+)[>\]]/g)].map(([, bracket, many, name = '']) => {
      const schema = many ? words : word
      return [name, bracket === '<' ? schema : v.optional(schema)]
    }),
  )
}

function schemaOf({ takes, about }: OptionSpec): v.GenericSchema {
  const described = (schema: v.GenericSchema): v.GenericSchema =>
    v.optional(v.pipe(schema, v.description(about)))
  if (takes === 'flag') return described(v.boolean())
  if (takes === 'list' || takes === 'repeat') return described(words)
  return described(typeof takes === 'string' ? word : v.picklist(takes))
}

/** A parameter's values as they would be typed: a flag has an empty one. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.map(String)
  return value === true ? [''] : []
}

/** Runs the command in this process, like a call on the command line, and returns its output. */
async function outputOf(
  { io: own, where }: Context,
  command: CommandSpec,
  { args, values }: { args: readonly string[]; values: ReadonlyMap<string, readonly string[]> },
): Promise<string> {
  const printed: string[] = []
  const stdout: Outlet = {
    write: (text) => void printed.push(typeof text === 'string' ? text : Buffer.from(text).toString()),
    isWritten: true,
    columns: null,
    rows: null,
    onResize: () => () => undefined,
  }
  const specs = [...GLOBAL_OPTIONS, ...command.options]
  const options = { ...readOptions(specs, values), dir: where.dir } as Context['options']
  const { run: work } = await command.load()
  // A negative result (nothing eligible, errors found) is an answer too.
  await work(createContext(withParts(own, { stdout, stderr: stdout }), { command, args, options }))
  return printed.join('')
}

/** Models do not read more, and most programs refuse it. */
const LONGEST = 60_000

function bounded(text: string): string {
  if (text.length <= LONGEST) return text
  const kept = text.slice(0, text.lastIndexOf('\n', LONGEST) + 1)
  return `${kept}\n(Cut here, at ${Math.round(LONGEST / 1000)} KB of ${Math.round(text.length / 1000)}: ask for less.)\n`
}

/** The command that starts the server. */
type Start = readonly [string, ...string[]]

const IN_FOLDER = ['-C', '${workspaceFolder}']

const mcpServers = (command: string, args: readonly string[]) =>
  json({ mcpServers: { ralph: { command, args } } })

/**
 * The programs that can use ralph's server: the file to write, as in their documentation, its text, and the beginning of
 * a command that does the same.
 */
const CLIENTS = {
  claude: {
    file: '.mcp.json in the project, or ~/.claude.json for all projects',
    write: mcpServers,
    add: 'claude mcp add --scope project ralph --',
  },
  codex: {
    file: '~/.codex/config.toml',
    write: (command: string, args: readonly string[]) =>
      `[mcp_servers.ralph]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
    add: 'codex mcp add ralph --',
  },
  gemini: {
    file: '.gemini/settings.json in the project, or ~/.gemini/settings.json',
    write: mcpServers,
    add: 'gemini mcp add ralph',
  },
  opencode: {
    file: 'opencode.json in the project, or ~/.config/opencode/opencode.json',
    write: (command: string, args: readonly string[]) =>
      json({ mcp: { ralph: { type: 'local', command: [command, ...args], enabled: true } } }),
    add: null,
  },
  cursor: {
    file: '.cursor/mcp.json in the project',
    write: (command: string, args: readonly string[]) => mcpServers(command, [...args, ...IN_FOLDER]),
    add: null,
  },
  vscode: {
    file: '.vscode/mcp.json in the project',
    write: (command: string, args: readonly string[]) =>
      json({ servers: { ralph: { type: 'stdio', command, args: [...args, ...IN_FOLDER] } } }),
    add: null,
  },
}

/** What to add to the configuration of one of them, and where; it starts the `ralph` on PATH, or else this very program. */
function mcpConfigFor(
  client: keyof typeof CLIENTS,
  { self, env }: { self: Start; env: Readonly<Record<string, string | undefined>> },
) {
  const { file, write, add } = CLIENTS[client]
  const [program, ...before]: Start = findOnPath('ralph', env) === null ? self : ['ralph']
  const args = [...before, 'mcp']
  const command = add === null ? null : `${add} ${[program, ...args].map(shellWord).join(' ')}`
  return { client, file, text: write(program, args), command }
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function shellWord(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
