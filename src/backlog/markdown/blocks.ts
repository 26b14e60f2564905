import type { Span } from '../../base/diagnostic.ts'

/** The part of a document's block structure that readers need: headings outside of lists and quotes, lists, paragraphs. */
export type MarkdownBlock =
  | HeadingBlock
  | { readonly kind: 'list'; readonly items: readonly ItemBlock[] }
  | { readonly kind: 'text'; readonly span: Span }

export interface HeadingBlock {
  readonly kind: 'heading'
  readonly depth: number
  readonly span: Span
  /** Its text, without the marks. */
  readonly text: Span
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

/** Thrown for a text that no person writes, and that the parser cannot read in a reasonable time. */
export class BeyondReason extends Error {}
