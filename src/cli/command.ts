import type { Where } from '../config/project.ts'
import type { Io } from './io.ts'
import type { GLOBAL_OPTIONS } from './options/global.ts'
import type { OptionSpec, OptionsOf } from './options/option.ts'
import type { Block } from '../screen/block.ts'

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
  readonly args: readonly string[]
  readonly options: OptionsOf<typeof GLOBAL_OPTIONS> & Own
  /** Whether to print one JSON document. */
  readonly json: boolean
  /** Writes blocks to standard output, formatted for a terminal or a pipe. */
  readonly print: (blocks: readonly Block[]) => Promise<void>
  /** The same to standard error, for what is not the result. */
  readonly note: (blocks: readonly Block[]) => Promise<void>
  /** Writes one JSON document to standard output. */
  readonly printJson: (document: object) => void
  /** Writes bytes to standard output unchanged. */
  readonly printRaw: (text: string | Uint8Array) => void
}
