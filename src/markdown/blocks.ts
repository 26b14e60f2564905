import type { Span } from '../base/diagnostic.ts'

/** What the reader of a document needs to know of its block structure; everything else is left out. */
export type MarkdownBlock = HeadingBlock | ListBlock | TextBlock

/** A heading that stands in no list and no quote; of a task's only those of the first and second level are found. */
export interface HeadingBlock {
  readonly kind: 'heading'
  readonly depth: number
  readonly span: Span
  /** Its text, without the marks around it. */
  readonly text: Span
}

export interface ListBlock {
  readonly kind: 'list'
  readonly items: readonly ItemBlock[]
}

export interface ItemBlock {
  /** From the bullet to the end of the item's last line. */
  readonly span: Span
  /** The paragraph that the item begins with; null where it begins with something else. */
  readonly text: Span | null
  /** What stands below that paragraph; null where nothing does. */
  readonly inner: Span | null
  /** The items of the lists in it. */
  readonly nested: readonly ItemBlock[]
}

/** A paragraph. */
interface TextBlock {
  readonly kind: 'text'
  readonly span: Span
}

/** Where the blocks of a document come from: the scanner, or the Markdown parser. */
export interface BlockSource {
  readonly headings: readonly HeadingBlock[]
  /** The blocks of a stretch between two headings. */
  readonly within: (span: Span) => readonly MarkdownBlock[]
}

/** A text goes beyond what a person writes, and beyond what the parser reads in a reasonable time. */
export class BeyondReason extends Error {}
