import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { pathWithin, truePaths } from '../../base/paths.ts'

/** Another tool's files: reading them starts no process, and follows no link out of the project. */
export interface Tree {
  /** The text of a file, relative to the root; null if there is none. */
  text(path: string): string | null
  /** The names in a folder, those of folders with a slash; empty if there is no such folder. */
  list(folder: string): readonly string[]
}

/** No backlog is larger, and more would fill the memory. */
const MOST_BYTES = 16 * 1024 * 1024

/** The files of a project as another tool's: read as text, never through a link that leads out, and up to a size. */
export function foreignTree(root: string): Tree {
  const trueRoot = realpathSync(root)
  const truePath = truePaths()
  const isInside = (path: string): boolean => pathWithin(trueRoot, truePath(resolve(trueRoot, path))) !== null
  return {
    text(path) {
      const full = join(root, path)
      const found = statSync(full, { throwIfNoEntry: false })
      if (!found?.isFile()) return null
      if (!isInside(path))
        throw new UserError(
          `${path} is a link that leads out of the project`,
          'Copy the file into the project.',
        )
      if (found.size > MOST_BYTES)
        throw new UserError(
          `${path} has ${Math.round(found.size / 1024 / 1024)} MB: a backlog of more than 16 MB is not read`,
          'Take out of it what is done.',
        )
      return decoded(path, readFileSync(full))
    },
    list(folder) {
      if (!isInside(folder)) return []
      const isFolder = (name: string): boolean =>
        statSync(join(root, folder, name), { throwIfNoEntry: false })?.isDirectory() ?? false
      try {
        const names = readdirSync(join(root, folder))
        return names.map((name) => (isFolder(name) ? `${name}/` : name)).toSorted()
      } catch {
        return []
      }
    },
  }
}

function decoded(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new UserError(`${path} is not valid UTF-8`, 'Save it as UTF-8 first.')
  }
}

/** A tree that stores what is read from another one. */
export function recordingTree(tree: Tree) {
  const read = new Map<string, string>()
  return {
    read,
    text(path: string) {
      const text = read.get(path) ?? tree.text(path)
      if (text !== null) read.set(path, text)
      return text
    },
    list: (folder: string) => tree.list(folder),
  }
}

/** Texts by path as a tree, whose folders follow from the paths. */
export function treeOfTexts(texts: ReadonlyMap<string, string>): Tree {
  return {
    text: (path) => texts.get(path) ?? null,
    list(folder) {
      const start = folder === '.' || folder === '' ? '' : `${folder}/`
      const names = [...texts.keys()].flatMap((path) =>
        path.startsWith(start) ? [path.slice(start.length)] : [],
      )
      return [...new Set(names.map((name) => name.replace(/\/.*$/s, '/')))].toSorted()
    },
  }
}
