import { LineSplitter } from '../base/lines.ts'
import { fingerprintOf } from './fingerprint.ts'
import { isErrorLine, asLeftStanding } from './output-line.ts'

/** A line longer than this is cut: nobody reads the rest. */
const LINE_BYTES = 4096
const LINE_LENGTH = 400
/** The last lines say how it ended; the first that look like errors say what was wrong. */
const LAST_LINES = 100
const ERROR_LINES = 200
/** What follows an error mostly explains it. */
const LINES_AFTER = 2

interface Line {
  readonly number: number
  readonly text: string
}

/** What a gate printed, kept in bounded memory and reduced to what is worth reading. */
export class FailureOutput {
  readonly #lines = new LineSplitter(LINE_BYTES)
  #count = 0
  #last: string[] = []
  readonly #errors: Line[] = []
  readonly #errorTexts: string[] = []
  #following = 0

  push(chunk: Uint8Array): void {
    this.#take(this.#lines.push(chunk))
  }

  /** At most so many bytes: error lines with what follows them, and the end. Called once, when all has come. */
  excerpt(maxBytes = 8000): string {
    const last = this.#lastLines(maxBytes)
    const first = last[0]?.number ?? 0
    const errors = this.#errors.filter((line) => line.number < first)
    const room = maxBytes - sizeOf(last)
    return join([...fitting(errors, room), ...last])
  }

  /** The same for the same failure: see `fingerprintOf`. */
  fingerprint(kind: string): string {
    return fingerprintOf(kind, this.#errorTexts.length > 0 ? this.#errorTexts : this.#last.map(clean))
  }

  /** No more is to come. */
  end(): void {
    this.#take(this.#lines.end())
    this.#last = this.#last.slice(-LAST_LINES)
  }

  #take(lines: readonly string[]): void {
    for (const line of lines) {
      this.#count++
      if (this.#errors.length < ERROR_LINES) this.#keepError(line)
    }
    this.#last.push(...lines.slice(-LAST_LINES))
    if (this.#last.length > 2 * LAST_LINES) this.#last = this.#last.slice(-LAST_LINES)
  }

  #keepError(line: string): void {
    const isError = isErrorLine(line)
    if (!isError && this.#following === 0) return
    this.#following = isError ? LINES_AFTER : this.#following - 1
    const text = clean(line)
    this.#errors.push({ number: this.#count, text })
    if (isError) this.#errorTexts.push(text)
  }

  /** All where there is no more; otherwise they leave room for the errors before them. */
  #lastLines(maxBytes: number): readonly Line[] {
    const begin = this.#count - this.#last.length
    const lines = this.#last.map((line, index) => ({ number: begin + index + 1, text: clean(line) }))
    const all = begin === 0 && sizeOf(lines) <= maxBytes
    return all ? lines : fitting(lines.toReversed(), (maxBytes * 5) / 8).toReversed()
  }
}

/** Through bytes: a slice of a string keeps the whole of it in memory, and may end in half a character. */
function clean(line: string): string {
  return Buffer.from(asLeftStanding(line).slice(0, LINE_LENGTH)).toString()
}

/** As many of the first as have room, each with its newline and the mark of a gap before it. */
function fitting(lines: readonly Line[], maxBytes: number): Line[] {
  let size = 0
  const end = lines.findIndex((line) => (size += sizeOf([line])) > maxBytes)
  return end === -1 ? [...lines] : lines.slice(0, end)
}

const GAP = '…'

function sizeOf(lines: readonly Line[]): number {
  return lines.reduce((size, { text }) => size + Buffer.byteLength(text) + Buffer.byteLength(GAP) + 2, 0)
}

function join(lines: readonly Line[]): string {
  const parts: string[] = []
  let next = 1
  for (const { number, text } of lines) {
    if (number > next) parts.push(GAP)
    next = number + 1
    const isSecondBlank = text === '' && parts.at(-1) === ''
    if (!isSecondBlank) parts.push(text)
  }
  return parts.join('\n').trim()
}
