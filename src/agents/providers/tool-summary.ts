import { shortened } from '../../base/text.ts'
import { list, text, type Json } from './json-lines.ts'

/** The input fields that say what a tool works on, the best first. */
const SUBJECTS = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'filepath',
  'path',
  'pattern',
  'query',
  'url',
  'prompt',
  'description',
]
const LONGEST = 160

/** One line on what a tool does, such as `Edit src/login.ts` or `Bash npm test`. */
export function toolSummary(name: string, input: Json, cwd: string): string {
  const subject = SUBJECTS.map((key) => subjectText(input[key])).find((value) => value !== '') ?? ''
  return oneLine(`${name} ${relative(subject, cwd)}`)
}

/** The text in one line, cut to the width of a screen. */
export function oneLine(value: string): string {
  // Cut first: a tool's input may be megabytes, and a summary needs only its start.
  const line = value
    .slice(0, LONGEST * 4)
    .replace(/\s+/g, ' ')
    .trim()
  return shortened(line, LONGEST)
}

function subjectText(value: unknown): string {
  return Array.isArray(value) ? list(value).map(text).join(' ') : text(value)
}

function relative(subject: string, cwd: string): string {
  return subject.startsWith(`${cwd}/`) ? subject.slice(cwd.length + 1) : subject
}
