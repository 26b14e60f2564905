/** A path of keys and list positions into a configuration. */
export type KeyPath = readonly (string | number)[]

/** A configuration file that has been read: its value, and where each part of it stands in the text. */
export interface ConfigDocument {
  readonly value: unknown
  /** Where the key at that path is written, or the value where there is none. */
  keyOffset(path: KeyPath): number
  /** Where the value at that path begins; what is not there is looked for in what would hold it. */
  valueOffset(path: KeyPath): number
}

/** Something that keeps a file from being read or believed, at its place. */
export interface ConfigProblem {
  readonly offset: number
  readonly message: string
}

/** What a reader makes of a text. */
export type ConfigReading =
  | { readonly ok: true; readonly document: ConfigDocument }
  | { readonly ok: false; readonly problem: ConfigProblem }
