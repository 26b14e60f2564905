import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { namesIn } from '../../base/folder.ts'
import { UserError } from '../../base/errors.ts'
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

/** The files with their current digests. */
export function knownNow(files: readonly Pick<KnownFile, 'file'>[], desk: Desk): readonly KnownFile[] {
  return files.map(({ file }) => ({ file, digest: digestOf(desk.read(file) ?? '') }))
}

/** The documents with their current digests; throws if one is missing. */
export function specsNow(root: string, files: readonly string[]): readonly KnownFile[] {
  const desk = new Desk(root)
  return files.map((file) => {
    const text = desk.read(file)
    if (text === null) throw new UserError(`there is no file ${file}`, 'A wish in words stands in quotes.')
    if (text.includes('\0'))
      throw new UserError(`${file} is not a text`, 'Give documents in text, such as Markdown.')
    return { file, digest: digestOf(text) }
  })
}
