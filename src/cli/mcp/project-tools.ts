import * as v from 'valibot'
import type { OptionSpec } from '../options/option.ts'
import type { Tool, ToolAnswer } from './server.ts'

/** A command that the server offers as a tool, from the table of commands. */
export interface ToolCommand {
  readonly name: string
  readonly summary: string
  /** `<id>`, `[id]`, `[...files]`. */
  readonly args: string
  readonly options: readonly OptionSpec[]
}

/** A call of a tool, as the command takes it. */
export interface ToolCall {
  readonly command: string
  readonly args: readonly string[]
  /** Each option's values as typed; a flag has an empty one. */
  readonly options: ReadonlyMap<string, readonly string[]>
}

/** The description of the server for the model, outside of a run. */
export const PROJECT_ABOUT =
  'The backlog of this project: Markdown task files, done one after another by ralph. All tools only read, but `new`, which writes a task file. Nothing here runs a task.'

/** How a command is offered. */
interface Offer {
  /** Options that are not offered: those that write, and other forms of the same. */
  readonly without: readonly string[]
  readonly writes?: true
}

/** The commands that are offered. */
export const OFFERED: Readonly<Record<string, Offer>> = {
  next: { without: ['prompt'] },
  list: { without: [] },
  show: { without: [] },
  lint: { without: ['fix'] },
  new: { without: [], writes: true },
  graph: { without: ['mermaid', 'dot'] },
  log: { without: ['markdown'] },
  diff: { without: ['markdown'] },
}

/** Makes a tool of each offered command; its parameters are the command's arguments and options. */
export function projectTools(
  commands: readonly ToolCommand[],
  run: (call: ToolCall) => Promise<ToolAnswer>,
): readonly Tool[] {
  return commands.flatMap((command) => {
    const offered = OFFERED[command.name]
    if (!offered) return []
    const options = command.options.filter(({ name }) => !offered.without.includes(name))
    const names = argumentsOf(command.args)
    const entries = [
      ...names.map(({ name, schema }) => [name, schema] as const),
      ...options.map((option) => [option.name, schemaOf(option)] as const),
    ]
    return [
      {
        name: command.name,
        about: `${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}`,
        input: v.strictObject(Object.fromEntries(entries)),
        readOnly: offered.writes !== true,
        call: async (input) =>
          bounded(
            await run({
              command: command.name,
              args: names.flatMap(({ name }) => textsIn(input[name])),
              options: new Map(
                options.flatMap(({ name }) => (isGiven(input[name]) ? [[name, valuesIn(input[name])]] : [])),
              ),
            }),
          ),
      } satisfies Tool,
    ]
  })
}

const word = v.pipe(v.string(), v.minLength(1), v.maxLength(1000))
const words = v.pipe(v.array(word), v.maxLength(200))

/** The parameters for `<id>`, `[id]` and `[...files]`. */
function argumentsOf(usage: string): readonly { readonly name: string; readonly schema: v.GenericSchema }[] {
  return [...usage.matchAll(/([<[])(\.\.\.)?([\w-]+)[>\]]/g)].map(([, bracket, many, name = '']) => {
    const schema = many ? words : word
    return { name, schema: bracket === '<' ? schema : v.optional(schema) }
  })
}

function schemaOf({ takes, about }: OptionSpec): v.GenericSchema {
  const described = (schema: v.GenericSchema): v.GenericSchema =>
    v.optional(v.pipe(schema, v.description(about)))
  if (takes === 'flag') return described(v.boolean())
  if (takes === 'list' || takes === 'repeat') return described(words)
  return described(typeof takes === 'string' ? word : v.picklist(takes))
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0)
}

function valuesIn(value: unknown): readonly string[] {
  return value === true ? [''] : textsIn(value)
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.map(String) : []
}

/** Models do not read more, and most programs refuse it. */
const LONGEST = 60_000

function bounded({ ok, text }: ToolAnswer): ToolAnswer {
  if (text.length <= LONGEST) return { ok, text }
  const kept = text.slice(0, text.lastIndexOf('\n', LONGEST) + 1)
  return {
    ok,
    text: `${kept}\n(Cut here, at ${Math.round(LONGEST / 1000)} KB of ${Math.round(text.length / 1000)}: ask for less.)\n`,
  }
}
