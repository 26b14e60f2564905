import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { UserError } from '../base/errors.ts'
import { withParts } from '../base/parts.ts'
import type { Place, Where } from '../config/project.ts'
import type { Block } from '../screen/block.ts'
import { layOut, type Canvas } from '../screen/layout.ts'
import { printableJson } from '../screen/printable.ts'
import { wantsAscii, wantsColour } from '../screen/style.ts'
import type { CommandCall } from './arguments.ts'
import type { Io, Outlet } from './io.ts'
import type { GLOBAL_OPTIONS, OptionSpec, OptionsOf } from './options/option.ts'

/** One command of the table: parsing, help, completion and README are generated from it. */
export interface CommandSpec {
  readonly name: string
  /** In the notation of cac and the help: `<id>`, `[id]`, `[...files]`. */
  readonly args: string
  readonly summary: string
  readonly options: readonly OptionSpec[]
  readonly examples: readonly string[]
  /** Loads the command's code, only when it is called. */
  readonly load: () => Loaded
}

/** The code of a command, whose `run` resolves to the exit code. */
export type Loaded = Promise<{ run(this: void, context: Context): Promise<number> | number }>

/** What a command is passed; it has options of its own. */
export interface Context<Own = object> {
  readonly io: Io
  readonly where: Where
  /** Opens the place that the command works in. */
  readonly place: () => Promise<Place>
  readonly args: readonly string[]
  readonly options: OptionsOf<typeof GLOBAL_OPTIONS> & Own
  /** Whether to print one JSON document. */
  readonly json: boolean
  /** Prints the result: as a JSON document, or as blocks for a person; resolves to the exit code 0. */
  readonly answer: (document: object, blocks: () => Blocks | Promise<Blocks>) => Promise<number>
  /** Writes blocks to standard output, formatted for a terminal or a pipe. */
  readonly print: (blocks: Blocks) => void
  /** The same to standard error, for what is not the result. */
  readonly note: (blocks: Blocks) => void
  /** Writes one JSON document to standard output. */
  readonly printJson: (document: object) => void
  /** Writes bytes to standard output unchanged. */
  readonly printRaw: (text: string | Uint8Array) => void
}

type Blocks = readonly Block[]

/** Makes the context of a call: the outside world, the options, and the ways to print. */
export function createContext(world: Io, { args, options }: CommandCall): Context {
  const { root, dir, json, noColor } = options
  const io = root === undefined ? world : withParts(world, { cwd: folderAt(world.cwd, root) })
  const draw = (outlet: Outlet, blocks: Blocks): void =>
    outlet.write(layOut(blocks, canvasFor(outlet, io.env, noColor)))
  const where = { cwd: io.cwd, dir }
  const printJson = (document: object): void =>
    io.stdout.write(`${printableJson(JSON.stringify(document, null, 2))}\n`)
  return {
    io,
    where,
    place: async () => (await import('../config/project.ts')).openPlace(where),
    args,
    options,
    json,
    async answer(document, blocks) {
      if (json) printJson({ version: 1, ...document })
      else draw(io.stdout, await blocks())
      return 0
    },
    print: (blocks) => draw(io.stdout, blocks),
    note: (blocks) => draw(io.stderr, blocks),
    printJson,
    printRaw: (text) => io.stdout.write(text),
  }
}

/** A missing folder would lead to a project above it. */
function folderAt(cwd: string, path: string): string {
  const folder = resolve(cwd, path)
  if (existsSync(folder) && statSync(folder).isDirectory()) return folder
  throw new UserError(`there is no folder ${path}`, 'Name with -C a folder of the project to work on.')
}

/** How to draw on an outlet. */
export function canvasFor(outlet: Outlet, env: Io['env'], noColor: boolean): Canvas {
  return {
    columns: outlet.columns,
    colour: wantsColour({ noColor, env, isTerminal: outlet.columns !== null }),
    ascii: wantsAscii(env),
  }
}
