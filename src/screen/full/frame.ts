import type { Line } from '../block.ts'

/** A part of a row: a number of columns from a first one. Its content never reaches beyond. */
export interface Segment {
  /** The first column, from 0. */
  readonly at: number
  readonly width: number
  readonly line: Line
}

/** One row of the screen: its segments from left to right. */
export type FrameRow = readonly Segment[]

/** The content of a full screen at one moment. */
export interface Frame {
  readonly columns: number
  readonly rows: readonly FrameRow[]
  /** The position of the text cursor; null if nobody types. */
  readonly cursor: { readonly row: number; readonly column: number } | null
}

/** The size of a full screen, in characters. */
export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}
