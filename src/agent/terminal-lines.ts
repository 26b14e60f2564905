import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'

/** More of a line that does not end nobody reads. */
const MOST_CHARACTERS = 64 * 1024

/**
 * The lines that a program prints to a terminal, as a person reads them: without the sequences that colour them and
 * move about, and of what was written over, as a progress bar is, the last.
 */
export class TerminalLines {
  readonly #decoder = new StringDecoder()
  #rest = ''

  /** The lines that this chunk completes. */
  push(chunk: Uint8Array): readonly string[] {
    const [first = '', ...others] = this.#decoder.write(chunk).split('\n')
    const lines = [this.#rest + first, ...others]
    this.#rest = lastOf(lines.pop()!)
    return lines.map(visible)
  }

  /** What stands in the line that has not ended, as a question does. */
  get pending(): string {
    return visible(this.#rest)
  }

  end(): readonly string[] {
    const last = visible(this.#rest)
    this.#rest = ''
    return last === '' ? [] : [last]
  }
}

/** What is written over is seen no more. */
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
