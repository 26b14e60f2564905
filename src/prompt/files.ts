import { readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { pathWithin } from '../base/paths.ts'
import { codeOf } from '../base/errors.ts'

/** Which files a prompt may include. */
export interface Surroundings {
  /** The project's root. */
  readonly root: string
  /** Which of these paths, relative to the root, git ignores. */
  readonly isIgnored: (paths: readonly string[]) => Promise<ReadonlySet<string>>
}

/** The location of a path from a task file. */
export type Located = FoundFile | { readonly kind: ShownReason; readonly path: string }

/** A file or a folder inside of the root, symlinks resolved. */
export interface FoundFile {
  readonly kind: 'file' | 'folder'
  /** As written, relative to the root. */
  readonly path: string
  /** The real path, relative to the root. */
  readonly real: string
  /** The paths to check with git: its own, and that of a link to it. */
  readonly gitPaths: readonly string[]
  readonly absolute: string
  readonly bytes: number
}

/** Resolves a written path; whether git ignores it is checked later, for many paths at once. */
export async function locate(root: string, written: string): Promise<Located> {
  const trueRoot = await realpath(root)
  const target = resolve(trueRoot, written)
  const path = slashed(relative(trueRoot, target))
  try {
    const absolute = await realpath(target)
    const link = join(await realpath(dirname(target)), basename(target))
    const [real, linkPath] = [pathWithin(trueRoot, absolute), pathWithin(trueRoot, link)]
    if (real === null) return { kind: 'outside', path: written }
    if (real.split('/').includes('.git')) return { kind: 'ignored', path }
    const status = await stat(absolute)
    if (!status.isFile() && !status.isDirectory()) return { kind: 'special', path }
    const kind = status.isFile() ? 'file' : 'folder'
    const gitPaths = [...new Set([real, linkPath ?? real])].filter((name) => name !== '')
    return { kind, path, real, gitPaths, absolute, bytes: status.size }
  } catch (error) {
    if (pathWithin(trueRoot, target) === null) return { kind: 'outside', path: written }
    return { kind: isMissing(error) ? 'missing' : 'unreadable', path }
  }
}

function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/')
}

/** An impossible file name counts as a missing file. */
function isMissing(error: unknown): boolean {
  const code = codeOf(error)
  return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'].some((name) => name === code)
}

/** Files of this size are not read: no prompt has room for them. */
const HUGE_BYTES = 1024 * 1024

/** Reads a text file without its byte order mark; a place without one is only named, with the reason. */
export async function readText(place: Located): Promise<ShownMaterial | NamedFile> {
  const { kind, path } = place
  if (kind !== 'file')
    return { kind: 'named', path, reason: kind === 'folder' ? 'special' : kind, bytes: null }
  const { absolute, bytes } = place
  const named = (reason: ShownReason): NamedFile => ({ kind: 'named', path, reason, bytes })
  if (bytes > HUGE_BYTES) return named('huge')
  try {
    const content = await readFile(absolute)
    if (content.includes(0)) return named('binary')
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content)
    return { kind: 'shown', path, stretch: null, text, bytes, listed: false }
  } catch (error) {
    return named(error instanceof TypeError ? 'binary' : 'unreadable')
  }
}

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
type ShownReason = keyof typeof REASONS

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
