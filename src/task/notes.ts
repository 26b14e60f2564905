import type { Heading, Node, Root } from 'mdast'
import remarkStringify from 'remark-stringify'
import { unified } from 'unified'
import { parseBlockTree, parseTree } from './markdown.ts'
import { TooDeep } from './blocks.ts'
import { applySplices, type Splice } from './splice.ts'
import { visit } from './visit.ts'

/**
 * Notes that an agent wrote, made safe to stand in a task file: their headings pushed to the third level or deeper,
 * so that they can never make a section of their own, and nothing left open at their end.
 */
export function safeNotes(markdown: string): string {
  const notes = markdown.replace(/^\uFEFF/, '').trim()
  try {
    const pushed = pushHeadings(notes, parseBlockTree(notes))
    if (staysInside(pushed)) return pushed
    // What is left open (a fence, say) the serializer closes.
    const written = stringify(pushedTree(parseTree(notes)))
    return staysInside(written) ? written : fenced(notes)
  } catch (error) {
    if (error instanceof TooDeep) return fenced(notes)
    throw error
  }
}

/** Text of a person or a program as Markdown that says just that, whatever marks stand in it. */
export function plainMarkdown(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').trim()
  return stringify({
    type: 'root',
    children: [{ type: 'paragraph', children: [{ type: 'text', value: lines }] }],
  })
}

const serializer = unified().use(remarkStringify, { bullet: '-', rule: '-', fences: true }).freeze()

function stringify(root: Root): string {
  return serializer.stringify(root).trim()
}

const HIGHEST = 3
const DEEPEST = 6

/** Only the headings' marks change: the rest stays as the agent wrote it. */
function pushHeadings(notes: string, tree: Root): string {
  const shift = shiftOf(tree)
  const splices: Splice[] = []
  visit(tree, (node) => {
    if (node.type === 'heading') splices.push(...headingSplices(notes, node as Heading, shift))
  })
  return applySplices(notes, splices)
}

function shiftOf(tree: Root): number {
  let highest = DEEPEST
  visit(tree, (node) => {
    if (node.type === 'heading') highest = Math.min(highest, (node as Heading).depth)
  })
  return Math.max(0, HIGHEST - highest)
}

function depthOf(heading: Heading, shift: number): Heading['depth'] {
  return Math.min(DEEPEST, heading.depth + shift) as Heading['depth']
}

function headingSplices(notes: string, heading: Heading, shift: number): Splice[] {
  if (shift === 0) return []
  const { start, end } = offsets(heading)
  const marks = '#'.repeat(depthOf(heading, shift))
  const raw = notes.slice(start, end)
  const atx = /^#{1,6}/.exec(raw)
  if (atx) return [{ start, end: start + atx[0].length, text: marks }]
  // An underlined heading becomes one line with marks: below the second level there is no underline.
  const [first, last] = [heading.children[0], heading.children.at(-1)]
  if (first === undefined || last === undefined) return [{ start, end, text: marks }]
  const text = notes.slice(offsets(first).start, offsets(last).end).replace(/\s*[\r\n]+[\s>]*/g, ' ')
  return [{ start, end, text: `${marks} ${text}` }]
}

function pushedTree(tree: Root): Root {
  const shift = shiftOf(tree)
  visit(tree, (node) => {
    if (node.type === 'heading') (node as Heading).depth = depthOf(node as Heading, shift)
  })
  return tree
}

function offsets(node: Node): { start: number; end: number } {
  return { start: node.position?.start.offset ?? 0, end: node.position?.end.offset ?? 0 }
}

/** Whether a section that holds these notes ends where the next one begins, and holds no other. */
function staysInside(notes: string): boolean {
  const root = parseBlockTree(`## Before\n\n${notes}\n\n## After\n`)
  const headings = root.children.filter((node) => node.type === 'heading' && node.depth < HIGHEST)
  return headings.length === 2
}

function fenced(notes: string): string {
  const longest = Math.max(2, ...[...notes.matchAll(/`+/g)].map((run) => run[0].length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}text\n${notes}\n${fence}`
}
