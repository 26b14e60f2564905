import { closes, openingOf } from './fence.ts'

/** A heading of a document, by its place in the source. */
export interface DocumentHeading {
  readonly depth: number
  readonly text: string
  readonly offset: number
}

/** The top-level headings of a Markdown document: read line by line where that is sure to be right, by remark elsewhere. */
export async function headingsOf(source: string): Promise<readonly DocumentHeading[]> {
  return scanHeadings(source) ?? (TOO_DEEP.test(source) ? [] : await parseHeadings(source))
}

/** Lists and quotes nested as no person nests them, over which remark would take minutes. */
const TOO_DEEP = /^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])){100}/m

/** The headings by a look at each line, or null where a line could mean something else than it seems to. */
export function scanHeadings(source: string): readonly DocumentHeading[] | null {
  const headings: DocumentHeading[] = []
  let fence: string | null = null
  let afterText = false
  for (const { line, offset } of linesFrom(source, frontmatterEnd(source))) {
    if (fence !== null) {
      if (closes(fence, line)) fence = null
      continue
    }
    if (isUnsure(line, afterText)) return null
    fence = openingOf(line)
    if (fence !== null) {
      afterText = false
      continue
    }
    const atx = /^(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/.exec(line)
    if (atx) headings.push({ depth: atx[1]!.length, text: plain(atx[2] ?? ''), offset })
    afterText = !atx && line.trim() !== ''
  }
  return headings
}

/** The headings as remark reads them. */
export async function parseHeadings(source: string): Promise<readonly DocumentHeading[]> {
  const [{ unified }, { default: remarkParse }, { toString }] = await Promise.all([
    import('unified'),
    import('remark-parse'),
    import('mdast-util-to-string'),
  ])
  const start = frontmatterEnd(source)
  const tree = unified().use(remarkParse).parse(source.slice(start))
  return tree.children.flatMap((node) => {
    if (node.type !== 'heading') return []
    return [{ depth: node.depth, text: plain(toString(node)), offset: start + node.position!.start.offset! }]
  })
}

/**
 * A tag or a comment may hide what follows; an indented heading or fence may belong to a list; a rule below text makes
 * a heading of it; a lone CR ends a line; a BOM is nothing that a line begins with.
 */
function isUnsure(line: string, afterText: boolean): boolean {
  if (/^[ \t]*<(?!(?:https?|mailto):)/.test(line)) return true
  if (/^[ \t]+(?:#{1,6}(?:[ \t]|$)|`{3}|~{3})/.test(line)) return true
  if (afterText && /^[ \t]*(?:=+|-+)[ \t]*$/.test(line)) return true
  return line.includes('\r') || line.startsWith('\ufeff')
}

/** Emphasis and code marks are no part of what a heading says. */
function plain(text: string): string {
  return text.replace(/[*`]|\\(?=[^\w\s])/g, '').trim()
}

function frontmatterEnd(source: string): number {
  return /^\ufeff?---[ \t]*\r?\n(?:[\s\S]*?\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(source)?.[0].length ?? 0
}

function* linesFrom(source: string, start: number): Generator<{ line: string; offset: number }> {
  for (let offset = start; offset < source.length;) {
    const newline = source.indexOf('\n', offset)
    const end = newline === -1 ? source.length : newline
    yield { line: source.slice(offset, end).replace(/\r$/, ''), offset }
    offset = end + 1
  }
}
