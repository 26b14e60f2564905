import type { Span } from '../base/diagnostic.ts'
import type { Field, Product, Section } from './model.ts'

/** A document in the style of a task file, before its values are read. */
export interface Outline<F extends string = string, S extends string = string> {
  readonly heading: Heading | null
  readonly fields: readonly Field<F>[]
  readonly sections: readonly Section<S>[]
  /** The items of each section that the vocabulary defines as a list. */
  readonly lists: ReadonlyMap<S, readonly Product[]>
  /** Why the document, or a part of it, cannot be read. */
  readonly error: OutlineError | null
}

/** The first-level heading, as plain text. */
export interface Heading {
  readonly text: string
  readonly span: Span
}

export interface OutlineError {
  readonly message: string
  readonly span: Span
}
