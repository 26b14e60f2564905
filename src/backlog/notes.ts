import type { Heading, Node, Root } from 'mdast'
import remarkStringify from 'remark-stringify'
import { unified } from 'unified'
import { withoutControls } from '../base/controls.ts'
import { parseBlockPieces, parseTree } from './markdown/parse.ts'
import { BeyondReason } from './markdown/blocks.ts'
import { applySplices, type Splice } from './markdown/splice.ts'
import { visit } from './markdown/visit.ts'

/**
 * Makes an agent's notes safe for a task file: headings become third level or deeper, so that they begin no section,
 * and nothing is left open at the end.
 */
export function safeNotes(markdown: string): string {
  const notes = bounded(withoutControls(markdown).trim())
  try {
    const pushed = pushHeadings(notes)
    if (staysInside(pushed)) return pushed
    // The serializer closes what is open, such as a fence.
    const written = stringify(pushedTree(parseTree(notes)))
    return staysInside(written) ? written : fenced(notes)
  } catch (error) {
    if (error instanceof BeyondReason) return fenced(notes)
    throw error
  }
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
  const lines = withoutControls(text).trim()
  return stringify({
    type: 'root',
    children: [{ type: 'paragraph', children: [{ type: 'text', value: lines }] }],
  })
}

/** Escapes a person's text for a title: `Option<T>` would be HTML. A title with code marks is Markdown already. */
export function titleMarkdown(title: string): string {
  if (title.includes('`') || !/[\\*_<[&#]/.test(title)) return title
  return plainMarkdown(title).replace(/#$/, '\\#')
}

const serializer = unified().use(remarkStringify, { bullet: '-', rule: '-', fences: true }).freeze()

function stringify(root: Root): string {
  return serializer.stringify(root).trim()
}

const HIGHEST = 3
const DEEPEST = 6

/** Changes only the marks of headings: the rest stays as written. */
function pushHeadings(notes: string): string {
  const headings = parseBlockPieces(notes).flatMap(({ root, start }) =>
    headingsIn(root).map((heading) => ({ heading, start })),
  )
  const shift = shiftOf(headings.map(({ heading }) => heading))
  if (shift === 0) return notes
  return applySplices(
    notes,
    headings.map(({ heading, start }) => headingSplice(notes, heading, start, shift)),
  )
}

function headingsIn(tree: Root): Heading[] {
  const headings: Heading[] = []
  visit(tree, (node) => {
    if (node.type === 'heading') headings.push(node as Heading)
  })
  return headings
}

function shiftOf(headings: readonly { readonly depth: number }[]): number {
  return Math.max(0, HIGHEST - headings.reduce((highest, { depth }) => Math.min(highest, depth), DEEPEST))
}

function depthOf(heading: Heading, shift: number): Heading['depth'] {
  return Math.min(DEEPEST, heading.depth + shift) as Heading['depth']
}

function headingSplice(notes: string, heading: Heading, base: number, shift: number): Splice {
  const { start, end } = offsets(heading, base)
  const marks = '#'.repeat(depthOf(heading, shift))
  const atx = /^#{1,6}(?!\S)/.exec(notes.slice(start, end))
  if (atx) return { start, end: start + atx[0].length, text: marks }
  // An underlined heading becomes one line with marks: there are no underlines below the second level.
  const [first, last] = [heading.children[0], heading.children.at(-1)]
  if (first === undefined || last === undefined) return { start, end, text: marks }
  const text = notes.slice(offsets(first, base).start, offsets(last, base).end)
  return { start, end, text: `${marks} ${text.replace(/\s*[\r\n]+[\s>]*/g, ' ')}` }
}

function pushedTree(tree: Root): Root {
  const headings = headingsIn(tree)
  const shift = shiftOf(headings)
  for (const heading of headings) heading.depth = depthOf(heading, shift)
  return tree
}

function offsets(node: Node, base: number): { start: number; end: number } {
  return { start: base + (node.position?.start.offset ?? 0), end: base + (node.position?.end.offset ?? 0) }
}

/** Whether these notes, in a section, neither end it nor begin another. */
function staysInside(notes: string): boolean {
  const pieces = parseBlockPieces(`## Before\n\n${notes}\n\n## After\n`)
  const nodes = pieces.flatMap(({ root }) => root.children)
  const headings = nodes.filter((node) => node.type === 'heading' && node.depth < HIGHEST)
  return headings.length === 2 && nodes.at(-1) === headings[1]
}

function fenced(notes: string): string {
  const longest = Math.max(2, ...[...notes.matchAll(/`+/g)].map((run) => run[0].length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${notes}\n${fence}`
}
