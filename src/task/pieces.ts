import type { Root } from 'mdast'

/** A part of a text that was parsed on its own. */
export interface Piece {
  readonly root: Root
  readonly text: string
  /** Where it begins in the whole. */
  readonly start: number
}

/**
 * Parses a text piece by piece, because the parser's time grows with the square of its input where underlined headings
 * are many. The cuts change nothing: each stands before a line that begins in the first column with no mark of a list
 * or a quote, and after a blank line or a rule, so that no paragraph, list or quote goes on across it; a piece that
 * ends within a fence or an HTML block is parsed again with more.
 */
export function parsePieces(text: string, parse: (text: string) => Root): readonly Piece[] {
  const pieces: Piece[] = []
  let start = 0
  do {
    let size = PIECE
    let end = cutAfter(text, start + size)
    let piece = { text: text.slice(start, end), start, root: parse(text.slice(start, end)) }
    while (end < text.length && isOpen(piece)) {
      size *= 2
      end = cutAfter(text, start + size)
      piece = { text: text.slice(start, end), start, root: parse(text.slice(start, end)) }
    }
    pieces.push(piece)
    start = end
  } while (start < text.length)
  return pieces
}

const PIECE = 2048

function cutAfter(text: string, from: number): number {
  const cut = /\n(?:[ \t]*|---+[ \t]*)\r?\n(?=[^\s\-*+>0-9])/g
  cut.lastIndex = from
  const match = cut.exec(text)
  return match === null ? text.length : match.index + match[0].length
}

/** Whether the piece's end lies within a fence or an HTML block: a closed one ends before the blank line or the rule. */
function isOpen({ root, text }: Piece): boolean {
  const last = root.children.at(-1)
  return (
    (last?.type === 'code' || last?.type === 'html') &&
    (last.position?.end.offset ?? 0) >= text.trimEnd().length
  )
}
