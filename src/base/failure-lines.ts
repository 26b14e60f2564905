import { stripVTControlCharacters } from 'node:util'
import { counted } from './text.ts'

/** Stands for lines that were left out. */
export const GAP = '…'
/** Some tools print the place above the error: node prints the file, the line and a caret. */
export const LINES_BEFORE = 4

const ERROR =
  /error|exception|(?:^|[^a-z0-9])(?:fail|fatal|panic|traceback|assert|expected|cannot|undefined|unresolved|not ok)|[✗✘✖×❌●]|^E {3}/i
const NO_ERROR = /(?:^|[^0-9])(?:0|no) (?:[a-z]+ )?(?:errors?|fail(?:ed|ures?|ing)?)\b/i

/** Whether a line of a tool's output looks like an error. */
export function isErrorLine(line: string): boolean {
  const text = line.includes('\u001b') ? asLeftStanding(line) : line
  return ERROR.test(text) && !NO_ERROR.test(text)
}

/** A line as a terminal would finally show it: without overwritten parts, colours and control characters. */
export function asLeftStanding(line: string): string {
  const plain = line.includes('\u001b') ? stripVTControlCharacters(line) : line
  const standing = plain.slice(plain.trimEnd().lastIndexOf('\r') + 1)
  return standing.replace(/[\0-\u0008\u000b-\u001f\u007f-\u009f]/g, '').trimEnd()
}

/** `src/a.ts:3:5`, `src/a.ts(3,5)`, `File "a.py", line 3`. */
export const PLACE =
  /(?:^|[\s("'`@[])(?:[a-z]:)?(?:[\w.@~-]*[\\/])*[\w.@+-]+\.[a-z]\w{0,7}(?::\d|\(\d)|\bFile "[^"]+", line \d/i
/** What marks a place in the line above: `^^^^`, `  | ~~~ here`. */
const CARET = /^[E\d|│>\s]*[\^~]+(?:\s|$)/
/** A quoted line of code: `12 |   return x`. */
export const CODE = /^[>\s\d]*[|│]/
/** A file name on a line of its own. */
export const HEADING = /^(?:[A-Za-z]:)?[\w./\\@-]+\.\w+$/

/** Whether a line shows where something is wrong. */
export function pointsAtCause(text: string): boolean {
  return PLACE.test(text) || CARET.test(text)
}

/** A stack frame inside the language's own runtime, which is not the cause: of Node, Python and Go. */
const INTERNAL_FRAME =
  /^\s+at .*\bnode:internal\/|^<frozen \w+|^\s+\?\?\?$|^(?:testing|runtime)\.[\w.]+\(|^panic\(|^created by testing\.|^\t\S*\/src\/(?:testing|runtime)\/\w+\.go:\d/

export function isInternalFrame(line: string): boolean {
  return INTERNAL_FRAME.test(line)
}

/** How test runners, compilers and linters mark what is wrong. */
const HEADLINE =
  /^\s*(?:[✖✗✘×❌●]|(?:--- )?FAIL(?:ED|URE)?\b|not ok\b|E {3}|(?:# )?(?:\w*(?:Error|Exception)|error(?:\[\w+\])?|fatal|panic)\b.*:|thread '.*' panicked)|(?:[:)]|\d -)\s+(?:fatal )?(?:error|ERROR)\b|^\s*\d+:\d+\s+error\b/

/** Of those, the lines that only name what failed; the others say why. */
const NAME = /^\s*(?:[✖✗✘×❌●]|(?:--- )?FAIL(?:ED|URE)?\b|not ok\b)/
/** `FAIL  test/a.test.ts [ test/a.test.ts ]`: of one that failed as a whole. */
const FILE_NAME = /^\s*FAIL\s+\S+(?:\s+\[[^\]]*\])?\s*$/

/** Where the first failure that says why begins: at its name, if that is known; else the first name. -1 for none. */
function firstFailure(lines: readonly string[]): number {
  const why = firstCause(lines)
  const name = lines.slice(0, Math.max(0, why)).findLastIndex((line) => NAME.test(line))
  if (why === -1) return lines.findIndex((line) => HEADLINE.test(line))
  return name === -1 ? why : name
}

/** A line such as `Error: Transform failed with 1 error:` only announces the cause. */
function firstCause(lines: readonly string[]): number {
  const isCause = (line: string): boolean => HEADLINE.test(line) && !NAME.test(line)
  const first = lines.findIndex(isCause)
  const next = lines.findIndex((line, at) => at === first + 1 && isCause(line))
  return next !== -1 && lines[first]!.trimEnd().endsWith(':') ? next : first
}

/**
 * The few lines of a failed check that a person needs: what failed first, where, and what follows it; else the
 * end. If that is too long, lines stay that name an error or point at its cause.
 */
export function tellingLines(output: string, most: number): readonly string[] {
  const lines = linesOf(output)
  const first = firstFailure(lines)
  if (first === -1) return lines.slice(-most)
  const begin = beginOf(lines, first)
  const telling = lines.slice(begin, first + 3 * most).map((text, index) => ({ text, index }))
  const tells = ({ text, index }: (typeof telling)[number]): boolean =>
    HEADLINE.test(text) ||
    HEADING.test(text) ||
    pointsAtCause(text) ||
    CARET.test(telling[index + 1]?.text ?? '')
  const chosen = [...telling.filter(tells), ...telling.filter((line) => !tells(line))].slice(0, most)
  return chosen.toSorted((a, b) => a.index - b.index).map(({ text }) => text)
}

/** The one line that says most: what failed first, and why; else the last that may be meant, else the end. */
export function tellingLine(output: string, isMeant: (line: string) => boolean = () => true): string {
  const lines = linesOf(output)
  const [name, why] = [firstFailure(lines), firstCause(lines)]
  const known = [...new Set([name, why])].flatMap((at) => lines[at] ?? [])
  const telling = known.filter((line) => known.length === 1 || !FILE_NAME.test(line))
  // pytest puts a mark before what failed.
  if (telling.length > 0) return telling.map((line) => line.replace(/^E {3,}/, '').trim()).join(': ')
  return (lines.findLast(isMeant) ?? lines.at(-1) ?? '').trim()
}

/** How test runners count what failed: vitest, jest, pytest, node, cargo. */
const COUNTS = [
  ['test', /^\s*(?:Tests:?\s+|=+ |(?:#|ℹ) fail |test result: FAILED\..*; )(\d+)(?: failed\b|$)/m],
  ['suite', /^\s*Test (?:Files|Suites:)\s+(\d+) failed\b/m],
] as const

/** `14 suites failed`, from the summary of a test runner; null without one. */
export function failedText(output: string): string | null {
  for (const [what, pattern] of COUNTS) {
    const count = Number(pattern.exec(output)?.[1] ?? 0)
    if (count > 0) return `${counted(count, what)} failed`
  }
  return null
}

function linesOf(output: string): readonly string[] {
  return output.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '' && line !== GAP)
}

/** The first line about an error: its place, which may be above it. */
function beginOf(lines: readonly string[], error: number): number {
  const earliest = Math.max(0, error - LINES_BEFORE)
  const place = lines
    .slice(earliest, error + 1)
    .findLastIndex((line) => PLACE.test(line) || HEADING.test(line))
  return place === -1 ? error : earliest + place
}
