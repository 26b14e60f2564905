import type { Span } from '../../base/diagnostic.ts'

/** The part of a document's block structure that readers need. */
export type MarkdownBlock = HeadingBlock | ListBlock | TextBlock

/** A heading outside of lists and quotes; in tasks only those of the first and second level are found. */
export interface HeadingBlock {
  readonly kind: 'heading'
  readonly depth: number
  readonly span: Span
  /** Its text, without the marks. */
  readonly text: Span
}

interface ListBlock {
  readonly kind: 'list'
  readonly items: readonly ItemBlock[]
}

export interface ItemBlock {
  /** From the bullet to the end of the item's last line. */
  readonly span: Span
  /** The paragraph at the start of the item; null if it begins with something else. */
  readonly text: Span | null
  /** The content below that paragraph; null if there is none. */
  readonly inner: Span | null
  /** The items of nested lists. */
  readonly nested: readonly ItemBlock[]
}

/** A paragraph. */
interface TextBlock {
  readonly kind: 'text'
  readonly span: Span
}

/** The source of a document's blocks: the scanner, or the Markdown parser. */
export interface BlockSource {
  readonly headings: readonly HeadingBlock[]
  /** The blocks of a stretch between two headings. */
  readonly within: (span: Span) => readonly MarkdownBlock[]
}

/** Thrown for a text that no person writes, and that the parser cannot read in a reasonable time. */
export class BeyondReason extends Error {}
