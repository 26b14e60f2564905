import { open, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { pathWithin } from '../base/paths.ts'
import type { ShownReason } from './material.ts'

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
  const code = error instanceof Error && 'code' in error ? error.code : null
  return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'].some((name) => name === code)
}

/** A file's text, or why it cannot be shown. */
type TextReading = { readonly text: string } | { readonly reason: ShownReason }

/** Files of this size are not read: no prompt has room for them. */
const HUGE_BYTES = 1024 * 1024
/** The first bytes show whether a file is text, without reading all of it. */
const SNIFFED_BYTES = 4096

/** Reads a text file without its byte order mark. */
export async function readText(file: FoundFile): Promise<TextReading> {
  if (file.bytes > HUGE_BYTES) return { reason: 'huge' }
  try {
    const bytes = await readUnlessBinary(file.absolute)
    return bytes ? { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) } : { reason: 'binary' }
  } catch (error) {
    return { reason: error instanceof TypeError ? 'binary' : 'unreadable' }
  }
}

/** The bytes of a file, or null if one of them is 0. */
async function readUnlessBinary(path: string): Promise<Buffer | null> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES)
    const head = buffer.subarray(0, bytesRead)
    if (head.includes(0)) return null
    const rest = bytesRead < SNIFFED_BYTES ? Buffer.alloc(0) : await handle.readFile()
    return rest.includes(0) ? null : Buffer.concat([head, rest])
  } finally {
    await handle.close()
  }
}
