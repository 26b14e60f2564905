import remarkStringify from 'remark-stringify'
import { unified } from 'unified'
import { withoutControls } from '../base/text.ts'
import { closed, fenced } from './markdown/fence.ts'
import { type Line, linesOf, unclosed } from './markdown/lines.ts'
import { parseBlockPieces } from './markdown/parse.ts'
import { BeyondReason } from './markdown/blocks.ts'

/**
 * Makes an agent's notes safe for a task file: headings become third level or deeper, so that they begin no section,
 * and nothing is left open at the end.
 */
export function safeNotes(markdown: string): string {
  const notes = bounded(withoutControls(markdown).trim())
  const pushed = pushHeadings(notes)
  // A fence is closed; HTML would hide what it holds.
  const whole = /^[`~]/.test(unclosed(pushed) ?? '') ? closed(pushed) : pushed
  return staysInside(whole) ? whole : fenced(notes, 'text')
}

// The log has the agent's whole output; a task file is for people.
const LONGEST = 64 * 1024

function bounded(notes: string): string {
  if (notes.length <= LONGEST) return notes
  const kept = notes.slice(0, notes.lastIndexOf('\n', LONGEST) + 1 || LONGEST).trimEnd()
  return `${kept}\n\n(Cut here: the notes have ${Math.round(notes.length / 1024)} KB.)`
}

/** Escapes a text so that Markdown shows it literally. */
export function plainMarkdown(text: string): string {
  const value = withoutControls(text).trim()
  return serializer
    .stringify({ type: 'root', children: [{ type: 'paragraph', children: [{ type: 'text', value }] }] })
    .trim()
}

/** Escapes a person's text for a title: `Option<T>` would be HTML. A title with code marks is Markdown already. */
export function titleMarkdown(title: string): string {
  if (title.includes('`') || !/[\\*_<[&#]/.test(title)) return title
  return plainMarkdown(title).replace(/#$/, '\\#')
}

const serializer = unified().use(remarkStringify, { bullet: '-', rule: '-', fences: true }).freeze()

const HIGHEST = 3
const DEEPEST = 6

/** The marks of quotes and bullets before a line's text, and those of its heading. */
const HEADING = /^((?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t])))*[ \t]*)(#{1,6}(?!\S))?/

/** Changes only the marks of headings: the rest stays as written. */
function pushHeadings(notes: string): string {
  const lines = [...linesOf(notes)]
  const shift = HIGHEST - lines.reduce((highest, line) => Math.min(highest, depthOf(line)), DEEPEST)
  if (shift <= 0) return notes
  const pushed: string[] = []
  /** Where the paragraph above begins. */
  let paragraph = 0
  for (const line of lines) {
    const marks = '#'.repeat(Math.min(DEEPEST, depthOf(line) + shift))
    if (depthOf(line) === DEEPEST) pushed.push(line.text)
    else if (HEADING.exec(line.text)![2] !== undefined) pushed.push(line.text.replace(HEADING, `$1${marks}`))
    else {
      // An underlined heading becomes one line with marks: there are no underlines below the second level.
      const [first = '', ...others] = pushed.splice(paragraph)
      const text = [first.trimEnd(), ...others.map((one) => one.trim())].join(' ')
      pushed.push(text.replace(HEADING, `$1${marks} `))
    }
    if (line.kind === 'item') paragraph = pushed.length - 1
    else if (line.kind !== 'text') paragraph = pushed.length
  }
  return pushed.join('\n')
}

/** The level of a line's heading; the deepest for any other line. */
function depthOf({ kind, text }: Line): number {
  const [, , marks] = HEADING.exec(text)!
  if (kind === 'heading') return marks?.length ?? (text.includes('=') ? 1 : 2)
  return kind === 'quote' && marks !== undefined ? marks.length : DEEPEST
}

/** Whether these notes, in a section, neither end it nor begin another. */
function staysInside(notes: string): boolean {
  try {
    const pieces = parseBlockPieces(`## Before\n\n${notes}\n\n## After\n`)
    const nodes = pieces.flatMap(({ root }) => root.children)
    const headings = nodes.filter((node) => node.type === 'heading' && node.depth < HIGHEST)
    return headings.length === 2 && nodes.at(-1) === headings[1]
  } catch (error) {
    if (error instanceof BeyondReason) return false
    throw error
  }
}
