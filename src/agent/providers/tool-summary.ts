import { list, text, type Json } from './json-lines.ts'

/** Where tools keep what they are about, the most telling first. */
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

/** One line that says what a tool does, as `Edit src/login.ts` or `Bash npm test`. */
export function toolSummary(name: string, input: Json, cwd: string): string {
  const subject = SUBJECTS.map((key) => subjectText(input[key])).find((value) => value !== '') ?? ''
  return oneLine(`${name} ${relative(subject, cwd)}`)
}

/** The text in one line, cut where it is longer than a screen is wide. */
export function oneLine(value: string): string {
  // Cut first: a tool's input may be megabytes, of which a summary needs the start.
  const line = value
    .slice(0, LONGEST * 4)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line
}

function subjectText(value: unknown): string {
  return Array.isArray(value) ? list(value).map(text).join(' ') : text(value)
}

function relative(subject: string, cwd: string): string {
  return subject.startsWith(`${cwd}/`) ? subject.slice(cwd.length + 1) : subject
}
