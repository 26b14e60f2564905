/** One measured thing, and how it stands to what it is measured against. */
export interface Row {
  readonly what: string
  readonly value: string
  readonly ratio: string
}
