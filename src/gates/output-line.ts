import { stripVTControlCharacters } from 'node:util'

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
