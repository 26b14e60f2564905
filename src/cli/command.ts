import type { Where } from '../project/project.ts'
import type { Io } from './io.ts'
import type { Options } from './options.ts'
import type { Block } from '../ui/block.ts'

/** One command as the table tells it: parsing, help, completion and README are all made from this. */
export interface CommandSpec {
  readonly name: string
  /** As cac and the help write it: `<id>`, `[id]`, `[...files]`. */
  readonly args: string
  readonly summary: string
  readonly options: readonly OptionSpec[]
  readonly examples: readonly string[]
  /** Loads the code that does it, only when it is asked for. */
  readonly load: () => Promise<CommandModule>
}

/** A `--name`, what it takes, and what it is about in one line. */
export interface OptionSpec {
  readonly name: string
  readonly short?: string
  readonly takes: Takes
  /** What stands for the value in the help: `20m`, `folder`. */
  readonly value?: string
  /** It may stand alone, without its value. */
  readonly alone?: true
  readonly about: string
}

/**
 * What a value must be. `list` splits at commas and may be repeated, `repeat` may be repeated and splits nothing,
 * `count` is a whole number from 1, `whole` one from 0, `money` an amount in dollars, `duration` is told in seconds.
 */
type Takes =
  'flag' | 'text' | 'list' | 'repeat' | 'count' | 'whole' | 'money' | 'duration' | readonly string[]

/** What a command's file exports: it resolves to the exit code. */
interface CommandModule {
  readonly run: (context: Context) => Promise<number> | number
}

/** What a command is handed. */
export interface Context {
  readonly io: Io
  readonly where: Where
  readonly args: readonly string[]
  readonly options: Options
  /** The answer is wanted as one JSON document. */
  readonly json: boolean
  /** Writes blocks to standard output, laid out for what it is connected to. */
  readonly print: (blocks: readonly Block[]) => Promise<void>
  /** The same to standard error: what is not the result. */
  readonly note: (blocks: readonly Block[]) => Promise<void>
  /** Writes one JSON document to standard output. */
  readonly printJson: (document: object) => void
  /** Writes bytes to standard output as they are. */
  readonly printRaw: (text: string | Uint8Array) => void
}
