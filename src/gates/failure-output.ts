import { createHash } from 'node:crypto'
import { stripVTControlCharacters } from 'node:util'
import { LineSplitter } from '../base/stream.ts'

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

/** What differs between two runs that fail alike, and what stands for it; in this order. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  [/(?:\/private)?(?:\/tmp|\/var\/folders|\/dev\/shm)\/[^\s:'"`)\]}>,;]+/g, '<temporary>'],
  [/[a-z]:\\[^\s:'"]*\\te?mp\\[^\s:'"`)\]}>,;]+/gi, '<temporary>'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '<hex>'],
  [/\b0x[0-9a-f]+\b/gi, '<hex>'],
  [/\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}\b/gi, '<hex>'],
  [/\d+(?:[.,:]\d+)*/g, '<number>'],
  [/<number> ?(?:ns|[µμu]s|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b/gi, '<duration>'],
  [/<duration>(?: <duration>)+/g, '<duration>'],
  [/\s+/g, ' '],
]

/**
 * The same for the same failure: numbers, durations, hashes and temporary paths do not count, nor does the
 * order of lines, which differs where tests run at once. `kind` is what must be the same besides.
 */
export function fingerprintOf(kind: string, lines: readonly string[]): string {
  const normal = new Set(lines.map(normalise))
  const hash = createHash('sha256').update(kind)
  for (const line of [...normal].sort()) hash.update(`\n${line}`)
  return hash.digest('hex').slice(0, 16)
}

function normalise(line: string): string {
  return VARIABLE.reduce((text, [pattern, stand]) => text.replace(pattern, stand), line).trim()
}

const ERROR =
  /error|exception|(?:^|[^a-z0-9])(?:fail|fatal|panic|traceback|assert|expected|cannot|undefined|unresolved|not ok)|[✗✘✖×❌●]|^E {3}/i
const NO_ERROR = /(?:^|[^0-9])(?:0|no) (?:[a-z]+ )?(?:errors?|fail(?:ed|ures?|ing)?)\b/i

/** Whether a line of a tool's output looks like one that says what is wrong. */
export function isErrorLine(line: string): boolean {
  const text = line.includes('\u001b') ? asLeftStanding(line) : line
  return ERROR.test(text) && !NO_ERROR.test(text)
}

/** A line as a terminal would leave it standing: overwritten parts, colours and control characters gone. */
export function asLeftStanding(line: string): string {
  const plain = line.includes('\u001b') ? stripVTControlCharacters(line) : line
  const standing = plain.slice(plain.trimEnd().lastIndexOf('\r') + 1)
  return standing.replace(/[\0-\u0008\u000b-\u001f\u007f-\u009f]/g, '').trimEnd()
}

/** How test runners, compilers and linters begin, or name, what is wrong. */
const HEADLINE =
  /^\s*(?:[✖✗✘×❌●]|(?:--- )?FAIL(?:ED|URE)?\b|not ok\b|E {3}|(?:\w*(?:Error|Exception)|error|fatal|panic)\b.*:|thread '.*' panicked)|[:)]\s+(?:fatal )?error\b/

/** The few lines of a failed check that a person looks for: what failed first, and what follows it; else the end. */
export function tellingLines(output: string, most: number): readonly string[] {
  const lines = output.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '')
  const first = lines.findIndex((line) => HEADLINE.test(line))
  return first === -1 ? lines.slice(-most) : lines.slice(first, first + most)
}
