/** Something from the repository that the prompt shows, or only names. */
export type Material = ShownMaterial | NamedFile | FileListing

/** A text file, or a stretch of one, with its content. */
export interface ShownMaterial {
  readonly kind: 'shown'
  /** Relative to the root, with forward slashes. */
  readonly path: string
  /** What of the file it is, where it is not the whole: `§3.2`. */
  readonly stretch: string | null
  readonly text: string
  /** The size of the whole file. */
  readonly bytes: number
  /** Found through a folder or a glob: shown only while the budget lasts, and named by its listing in any case. */
  readonly listed: boolean
}

/** A file that was asked for and is not shown, and why. */
export interface NamedFile {
  readonly kind: 'named'
  readonly path: string
  readonly reason: ShownReason
  readonly bytes: number | null
}
export type ShownReason = keyof typeof REASONS

/** Why a file is not shown, in the words of the prompt. */
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

/** What a folder or a glob stands for. */
export interface FileListing {
  readonly kind: 'listing'
  readonly pattern: string
  /** In the order of their code units. */
  readonly paths: readonly string[]
  /** Whether there are more than were looked at. */
  readonly more: boolean
}

/** From this size on a file is not even read: no prompt has room for it. */
export const HUGE_BYTES = 1024 * 1024
