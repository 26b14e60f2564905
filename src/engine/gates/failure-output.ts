import { createHash } from 'node:crypto'
import {
  asLeftStanding,
  CODE,
  GAP,
  HEADING,
  isErrorLine,
  isInternalFrame,
  LINES_BEFORE,
  PLACE,
  pointsAtCause,
} from '../../base/failure-lines.ts'
import type { TestCounts } from '../../base/nouns.ts'
import { LineSplitter } from '../../base/stream.ts'
import { TestCounter } from './test-counts.ts'

/** Longer lines are cut: nobody reads the rest. */
const LINE_BYTES = 4096
/** The characters of a line that are read: the same ones, in whatever chunks the line came. */
const READ_LENGTH = 1300
const LINE_LENGTH = 400
/** The last lines show the result; the first that look like errors show the cause. */
const LAST_LINES = 100
const ERROR_LINES = 200
/** The lines after an error mostly explain it; after a line that shows its place more are kept, up to the maximum. */
const LINES_AFTER = 2
const MOST_AFTER = 16

interface OutputLine {
  readonly number: number
  readonly text: string
}

/** The output of a gate, kept in bounded memory and reduced to what is worth reading. */
export class FailureOutput {
  readonly #lines = new LineSplitter(LINE_BYTES)
  readonly #errors = new ErrorLines()
  readonly #tests = new TestCounter()
  #count = 0
  #last: OutputLine[] = []
  #isWhole = true

  push(chunk: Uint8Array): void {
    this.#take(this.#lines.push(chunk))
  }

  /** At most this many bytes: error lines with their explanations, and the end. Called once, after all output. */
  excerpt(maxBytes = 8000): string {
    const last = this.#lastLines(maxBytes)
    const first = last[0]?.number ?? 0
    const errors = this.#errors.lines.filter((line) => line.number < first)
    const room = maxBytes - sizeOf(last)
    return join([...fitting(errors, room), ...last])
  }

  /** Equal for equal failures: see `fingerprintOf`. */
  fingerprint(kind: string): string {
    const { texts } = this.#errors
    return fingerprintOf(kind, texts.length > 0 ? texts : this.#last.map(({ text }) => clean(text)))
  }

  /** The tests that the output tells of. */
  get tests(): TestCounts | null {
    return this.#tests.counts
  }

  /** Ends the output. */
  end(): void {
    this.#take(this.#lines.end())
    this.#keepLast()
  }

  #take(lines: readonly string[]): void {
    for (const line of lines) {
      const text = line.slice(0, READ_LENGTH)
      this.#count++
      this.#tests.take(text)
      if (isInternalFrame(text)) continue
      const numbered = { number: this.#count, text }
      this.#errors.take(numbered)
      this.#last.push(numbered)
    }
    if (this.#last.length > 2 * LAST_LINES) this.#keepLast()
  }

  #keepLast(): void {
    if (this.#last.length <= LAST_LINES) return
    this.#last = this.#last.slice(-LAST_LINES)
    this.#isWhole = false
  }

  /** All lines if nothing was left out; otherwise they leave room for the errors before them. */
  #lastLines(maxBytes: number): readonly OutputLine[] {
    const lines = this.#last.map(({ number, text }) => ({ number, text: clean(text) }))
    const all = this.#isWhole && sizeOf(lines) <= maxBytes
    return all ? lines : fitting(lines.toReversed(), (maxBytes * 5) / 8).toReversed()
  }
}

/** The first error lines of an output, each with the lines around it that show the cause. */
class ErrorLines {
  readonly lines: OutputLine[] = []
  /** Only the error lines. */
  readonly texts: string[] = []
  #before: OutputLine[] = []
  /** A file name on a line of its own above its errors, as linters print it. */
  #heading: OutputLine | null = null
  #following = 0
  #mayFollow = 0

  take(line: OutputLine): void {
    if (this.lines.length >= ERROR_LINES) return
    const text = asLeftStanding(line.text)
    if (text === '') this.#heading = null
    else if (HEADING.test(text)) this.#heading = line
    if (isErrorLine(text)) this.#takeError(line)
    else if (this.#following > 0) this.#takeFollowing(line, text)
    else this.#before = [...this.#before.slice(1 - LINES_BEFORE), line]
  }

  #takeError(line: OutputLine): void {
    const begin = this.#before.findIndex(({ text }) => pointsAtCause(asLeftStanding(text)))
    const before = begin === -1 ? [] : this.#before.slice(begin)
    for (const one of this.#heading ? [this.#heading, ...before, line] : [...before, line]) this.#keep(one)
    this.texts.push(clean(line.text))
    this.#before = []
    this.#heading = null
    this.#following = LINES_AFTER
    this.#mayFollow = MOST_AFTER
  }

  #takeFollowing(line: OutputLine, text: string): void {
    this.#keep(line)
    this.#mayFollow--
    this.#following = Math.min(followingAfter(text, this.#following), this.#mayFollow)
  }

  #keep({ number, text }: OutputLine): void {
    if (number > (this.lines.at(-1)?.number ?? 0)) this.lines.push({ number, text: clean(text) })
  }
}

/** Goes through bytes: a slice of a string keeps the whole string in memory, and may end in half a character. */
function clean(line: string): string {
  return Buffer.from(asLeftStanding(line).slice(0, LINE_LENGTH)).toString()
}

/** The first lines that have room, each counted with its newline and the mark of a gap before it. */
function fitting(lines: readonly OutputLine[], maxBytes: number): OutputLine[] {
  let size = 0
  const end = lines.findIndex((line) => (size += sizeOf([line])) > maxBytes)
  return end === -1 ? [...lines] : lines.slice(0, end)
}

function sizeOf(lines: readonly OutputLine[]): number {
  return lines.reduce((size, { text }) => size + Buffer.byteLength(text) + Buffer.byteLength(GAP) + 2, 0)
}

function join(lines: readonly OutputLine[]): string {
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

/** What differs between two runs of the same failure, and its replacement; applied in this order. */
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
 * Equal for equal failures: numbers, durations, hashes and temporary paths do not count, nor does the
 * order of lines, which differs if tests run in parallel. `kind` must be equal too.
 */
function fingerprintOf(kind: string, lines: readonly string[]): string {
  const normal = new Set(lines.map(normalise))
  const hash = createHash('sha256').update(kind)
  for (const line of [...normal].sort()) hash.update(`\n${line}`)
  return hash.digest('hex').slice(0, 16)
}

function normalise(line: string): string {
  return VARIABLE.reduce((text, [pattern, stand]) => text.replace(pattern, stand), line).trim()
}

/** How many lines to keep after this one, which follows an error. */
function followingAfter(text: string, following: number): number {
  if (text === '') return following
  if (PLACE.test(text) || text.endsWith(':')) return LINES_AFTER
  return CODE.test(text) ? Math.max(following - 1, 1) : following - 1
}
