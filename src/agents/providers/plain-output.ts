import { resolve } from 'node:path'
import { asLeftStanding, isInternalFrame, tellingLine, tellingLines } from '../../base/failure-lines.ts'
import { Tail } from '../../base/stream.ts'
import type { AgentRequest, Exit, StreamEvent } from '../port.ts'
import { readPlainFile } from '../../base/read-file.ts'

const LINES = 100
const LINE_LENGTH = 10_000
const NOTES_BYTES = 1024 * 1024
/** Of a failure. */
const LINES_SHOWN = 5
const LINE_SHOWN = 400
const ANSWER_BYTES = 4 * 1024 * 1024

/** Collects a plain program's output: its last lines are the notes, unless the program wrote a notes file. */
export class PlainOutput {
  readonly #request: AgentRequest
  readonly #answer: Tail | null
  #last: string[] = []

  constructor(request: AgentRequest) {
    this.#request = request
    this.#answer = request.answer ? new Tail(ANSWER_BYTES) : null
  }

  line(text: string): readonly StreamEvent[] {
    this.#answer?.push(Buffer.from(`${text}\n`))
    this.#last.push(cut(text))
    if (this.#last.length > 2 * LINES) this.#last = this.#last.slice(-LINES - 1)
    return text.trim() === '' ? [] : [{ type: 'text', text }]
  }

  /** The whole output, up to the size of the longest answer. */
  get all(): string {
    return this.#answer?.text() ?? ''
  }

  /** The last lines, one more than the notes may have, as that one can be the marker. */
  get tail(): string {
    return this.#last.slice(-LINES - 1).join('\n')
  }

  /** The notes file, or else the output before the marker. */
  notes(printed: string): string {
    return writtenNotes(this.#request) ?? printed.split('\n').slice(-LINES).join('\n')
  }
}

/** The notes file of an attempt; undefined if there is none, or if it cannot be read as a whole, like a pipe. */
export function writtenNotes({ cwd, task }: Pick<AgentRequest, 'cwd' | 'task'>): string | undefined {
  return readPlainFile(resolve(cwd, task.notesFile), NOTES_BYTES)?.trim() || undefined
}

/** Cuts bytes: a slice of a string would keep the whole string in memory. */
function cut(text: string): string {
  return text.length <= LINE_LENGTH ? text : Buffer.from(text.slice(0, LINE_LENGTH)).toString()
}

/** How a program failed: first the line of its output that says most, then the lines around it. */
export function failureOf(program: string, exit: Exit, tail: string): string {
  const how = exit.signal ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`
  const output = [exit.stderr, tail].find((text) => text.trim() !== '') ?? ''
  const shown = output.split('\n').map(asLeftStanding)
  const lines = shown.filter((line) => !isInternalFrame(line)).join('\n')
  const telling = tellingLine(lines).slice(0, LINE_SHOWN)
  if (telling === '') return `${program} ${how}`
  const around = tellingLines(lines, LINES_SHOWN).map((line) => line.slice(0, LINE_SHOWN))
  const more = around.length > 1 ? `\n${around.join('\n')}` : ''
  return `${program} ${how}: ${telling}${more}`
}
