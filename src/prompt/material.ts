/** A file of the repository that the prompt includes, or only names. */
export type Material = ShownMaterial | NamedFile | FileListing

/** A text file, or a part of one, with its content. */
export interface ShownMaterial {
  readonly kind: 'shown'
  /** Relative to the root, with forward slashes. */
  readonly path: string
  /** The part of the file; null for all of it: `§3.2`. */
  readonly stretch: string | null
  readonly text: string
  /** The size of the whole file. */
  readonly bytes: number
  /** Found through a folder or a glob: included only while the budget lasts, and always listed. */
  readonly listed: boolean
}

/** A named file that is not shown, and why. */
export interface NamedFile {
  readonly kind: 'named'
  readonly path: string
  readonly reason: ShownReason
  readonly bytes: number | null
}
export type ShownReason = keyof typeof REASONS

/** Why a file is not shown, as the prompt words it. */
export const REASONS = {
  missing: 'does not exist yet',
  outside: 'lies outside of the project, so it is not shown',
  ignored: 'is ignored by git, so it is not shown',
  binary: 'is not a text in UTF-8, so it is not shown',
  huge: 'is too large to be shown: read the part that you need',
  special: 'is no regular file, so it is not shown',
  unreadable: 'cannot be read',
  'no-section': 'has no such section',
} as const

/** The files of a folder or a glob. */
export interface FileListing {
  readonly kind: 'listing'
  readonly pattern: string
  /** In code unit order. */
  readonly paths: readonly string[]
  /** Whether there are more files. */
  readonly more: boolean
}
