import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { namesIn } from '../../base/folder.ts'
import { digestOf, type KnownFile } from './plan-file.ts'

/** The project's files as planning sees them: on disk, with changes that a preview would write. */
export class Desk {
  readonly #root: string
  readonly #written = new Map<string, string | null>()

  constructor(root: string) {
    this.#root = root
  }

  /** The text of a file, relative to the root; null if there is none. */
  read(path: string): string | null {
    return this.#written.has(path) ? this.#written.get(path)! : readText(join(this.#root, path))
  }

  /** The names in a folder. */
  list(folder: string): readonly string[] {
    const names = new Set(namesIn(join(this.#root, folder)))
    for (const [path, text] of this.#written)
      if (text !== null && dirname(path) === folder) names.add(path.slice(folder.length + 1))
    return [...names].toSorted()
  }

  /** Replaces a file for later reads, whatever is on disk. */
  lay(path: string, text: string | null): void {
    this.#written.set(path, text)
  }

  /** The files with their current digests. */
  known(files: readonly string[]): readonly KnownFile[] {
    return files.map((file) => ({ file, digest: digestOf(this.read(file) ?? '') }))
  }
}

/** The text of a file; null if it cannot be read. */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** Writes or removes a file of the project. Does not write through a link, which may lead anywhere. */
export function putText(path: string, text: string | null): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(path)
  if (text === null) return rmSync(path, { force: true })
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
