/** A path of keys and list positions into a configuration. */
export type KeyPath = readonly (string | number)[]

/** A parsed configuration file: its value, and the place of each part in the text. */
export interface ConfigDocument {
  readonly value: unknown
  /** The offset of the key at that path, or of the value if there is no key. */
  keyOffset(path: KeyPath): number
  /** The offset of the value at that path; if it is missing, that of the closest parent. */
  valueOffset(path: KeyPath): number
}

/** A problem that makes a file unusable, with its place. */
export interface ConfigProblem {
  readonly offset: number
  readonly message: string
}

/** The result of reading a text. */
export type ConfigReading =
  | { readonly ok: true; readonly document: ConfigDocument }
  | { readonly ok: false; readonly problem: ConfigProblem }
