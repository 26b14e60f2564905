import { readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { pathWithin } from '../base/paths.ts'
import type { NamedFile, ShownReason } from './material.ts'
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
export async function readText(place: Located): Promise<TextFile | NamedFile> {
  const { kind, path } = place
  if (kind !== 'file')
    return { kind: 'named', path, reason: kind === 'folder' ? 'special' : kind, bytes: null }
  const { absolute, bytes } = place
  const named = (reason: ShownReason): NamedFile => ({ kind: 'named', path, reason, bytes })
  if (bytes > HUGE_BYTES) return named('huge')
  try {
    const content = await readFile(absolute)
    if (content.includes(0)) return named('binary')
    return { kind: 'text', path, text: new TextDecoder('utf-8', { fatal: true }).decode(content), bytes }
  } catch (error) {
    return named(error instanceof TypeError ? 'binary' : 'unreadable')
  }
}

interface TextFile {
  readonly kind: 'text'
  readonly path: string
  readonly text: string
  readonly bytes: number
}
