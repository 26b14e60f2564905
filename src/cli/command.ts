import type { Where } from '../config/project.ts'
import type { Io } from './io.ts'
import type { Options } from './options.ts'
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
  readonly load: () => Promise<CommandModule>
}

/** An option: its name, its kind of value and a description in one line. */
export interface OptionSpec {
  readonly name: string
  readonly short?: string
  readonly takes: Takes
  /** The placeholder for the value in the help: `20m`, `folder`. */
  readonly value?: string
  /** Whether it may be used without its value. */
  readonly alone?: true
  readonly about: string
}

/**
 * The kind of a value. `list` is split at commas and may be repeated, `repeat` may be repeated and is not split,
 * `count` is a whole number from 1, `whole` one from 0, `money` an amount in dollars, `duration` becomes seconds.
 */
type Takes =
  'flag' | 'text' | 'list' | 'repeat' | 'count' | 'whole' | 'money' | 'duration' | readonly string[]

/** The export of a command's file: it resolves to the exit code. */
interface CommandModule {
  readonly run: (context: Context) => Promise<number> | number
}

/** What a command is passed. */
export interface Context {
  readonly io: Io
  readonly where: Where
  readonly args: readonly string[]
  readonly options: Options
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
