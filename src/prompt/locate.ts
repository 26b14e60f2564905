import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { pathWithin } from '../base/paths.ts'
import type { ShownReason } from './material.ts'

/** What a prompt may look at, and how. */
export interface Surroundings {
  /** The project's root. */
  readonly root: string
  /** Which of these paths, relative to the root, git ignores. */
  readonly isIgnored: (paths: readonly string[]) => Promise<ReadonlySet<string>>
}

/** Where a path of a task file leads. */
export type Located = FoundFile | { readonly kind: ShownReason; readonly path: string }

/** A file or a folder inside of the root, symlinks resolved. */
export interface FoundFile {
  readonly kind: 'file' | 'folder'
  /** As it was written, relative to the root. */
  readonly path: string
  /** Its true place, relative to the root. */
  readonly real: string
  /** The paths that git has to be asked about: its own, and that of a link that leads to it. */
  readonly asked: readonly string[]
  readonly absolute: string
  readonly bytes: number
}

/** Follows a written path to where it truly leads; what git ignores is told apart later, for many paths at once. */
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
    const asked = [...new Set([real, linkPath ?? real])].filter((name) => name !== '')
    return { kind, path, real, asked, absolute, bytes: status.size }
  } catch (error) {
    if (pathWithin(trueRoot, target) === null) return { kind: 'outside', path: written }
    return { kind: isMissing(error) ? 'missing' : 'unreadable', path }
  }
}

function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/')
}

/** A name that no file could have is that of a missing one. */
function isMissing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'].some((name) => name === code)
}
