import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'

/** A longer line is cut: nobody reads the rest. */
const MOST_CHARACTERS = 64 * 1024

/**
 * The lines that a program prints to a terminal, as a person reads them: without colours and cursor movements, and
 * without overwritten text, such as the earlier states of a progress bar.
 */
export class TerminalLines {
  readonly #decoder = new StringDecoder()
  #rest = ''

  /** Adds a chunk and returns the lines that it completes. */
  push(chunk: Uint8Array): readonly string[] {
    const [first = '', ...others] = this.#decoder.write(chunk).split('\n')
    const lines = [this.#rest + first, ...others]
    this.#rest = lastOf(lines.pop()!)
    return lines.map(visible)
  }

  /** The unfinished line, such as a question. */
  get pending(): string {
    return visible(this.#rest)
  }

  end(): readonly string[] {
    const last = visible(this.#rest)
    this.#rest = ''
    return last === '' ? [] : [last]
  }
}

/** The part of a line that is not overwritten. */
function lastOf(rest: string): string {
  const returned = rest.lastIndexOf('\r', rest.length - 2)
  return rest.slice(Math.max(returned + 1, rest.length - MOST_CHARACTERS))
}

function visible(line: string): string {
  const written = stripVTControlCharacters(line)
    .split('\r')
    .findLast((text) => text !== '')
  return (written ?? '').replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
}
