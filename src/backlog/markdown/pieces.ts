import type { Root } from 'mdast'
import { BeyondReason } from './blocks.ts'
import { linesOf } from './lines.ts'

/** A part of a text that was parsed separately. */
export interface ParsedPiece {
  readonly root: Root
  readonly text: string
  /** Its offset in the whole text. */
  readonly start: number
}

/**
 * Parses a text piece by piece, because many texts take the parser quadratic time. The result is the same: each cut
 * is before a line that begins in the first column without a mark of a list or a quote, and after a blank line or a
 * rule, so that no paragraph, list or quote continues across it. A piece that ends inside a fence or an HTML block is
 * parsed again with more text.
 */
export function parsePieces(text: string, parse: (text: string) => Root): readonly ParsedPiece[] {
  const pieces: ParsedPiece[] = []
  let start = 0
  do {
    let size = PIECE
    let piece = pieceOf(text, start, size, parse)
    while (start + piece.text.length < text.length && isOpen(piece)) {
      size *= 2
      piece = pieceOf(text, start, size, parse)
    }
    pieces.push(piece)
    start += piece.text.length
  } while (start < text.length)
  return pieces
}

const PIECE = 2048

function pieceOf(text: string, start: number, size: number, parse: (text: string) => Root): ParsedPiece {
  const part = text.slice(start, cutAfter(text, start + size))
  refuseEndless(part)
  return { text: part, start, root: parse(part) }
}

/** Throws for a piece with more lines than a person writes and the parser can read in reasonable time; a fence may have any number. */
function refuseEndless(text: string): void {
  let lines = 0
  for (const { kind } of linesOf(text)) if (kind !== 'fenced') lines++
  if (lines > MOST_LINES)
    throw new BeyondReason(
      `more than ${MOST_LINES} lines have no paragraph between them that begins after a blank line`,
    )
}

const MOST_LINES = 3000

function cutAfter(text: string, from: number): number {
  const cut = /\n(?:[ \t]*|---+[ \t]*)\r?\n(?=[^\s\-*+>0-9])/g
  cut.lastIndex = from
  const match = cut.exec(text)
  return match === null ? text.length : match.index + match[0].length
}

/** Whether the piece ends inside a fence or an HTML block: closed ones end before the blank line or the rule. */
function isOpen({ root, text }: ParsedPiece): boolean {
  const last = root.children.at(-1)
  return (
    (last?.type === 'code' || last?.type === 'html') &&
    (last.position?.end.offset ?? 0) >= text.trimEnd().length
  )
}
