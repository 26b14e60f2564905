import type { Line } from '../ui/block.ts'

/** A part of a row: so many columns from one on. What is in it never reaches beyond. */
export interface Segment {
  /** The first column, from 0. */
  readonly at: number
  readonly width: number
  readonly line: Line
}

/** One row of the screen: its segments from left to right. */
export type FrameRow = readonly Segment[]

/** What a full screen shows at one moment. */
export interface Frame {
  readonly columns: number
  readonly rows: readonly FrameRow[]
  /** Where a person is typing; null where nobody is. */
  readonly cursor: { readonly row: number; readonly column: number } | null
}

/** How large a terminal is. */
export interface Size {
  readonly columns: number
  readonly rows: number
}
