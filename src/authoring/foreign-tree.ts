import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UserError } from '../base/errors.ts'
import { pathWithin, truePaths } from '../base/paths.ts'
import type { Tree } from './bridges/source.ts'

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
      if (found.size > MOST_BYTES) throw tooLarge(path, found.size)
      return decoded(path, readFileSync(full))
    },
    list(folder) {
      if (!isInside(folder)) return []
      try {
        const entries = readdirSync(join(root, folder), { withFileTypes: true })
        const isFolder = (name: string): boolean =>
          statSync(join(root, folder, name), { throwIfNoEntry: false })?.isDirectory() ?? false
        return entries
          .map((entry) =>
            entry.isDirectory() || (entry.isSymbolicLink() && isFolder(entry.name))
              ? `${entry.name}/`
              : entry.name,
          )
          .toSorted()
      } catch {
        return []
      }
    },
  }
}

function tooLarge(path: string, size: number): UserError {
  const megabytes = Math.round(size / 1024 / 1024)
  return new UserError(
    `${path} has ${megabytes} MB: a backlog of more than 16 MB is not read`,
    'Take out of it what is done.',
  )
}

function decoded(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new UserError(`${path} is not valid UTF-8`, 'Save it as UTF-8 first.')
  }
}

/** A tree that stores what is read from another one. */
export function recordingTree(tree: Tree): Tree & { readonly read: ReadonlyMap<string, string> } {
  const read = new Map<string, string>()
  return {
    read,
    text(path) {
      const text = read.get(path) ?? tree.text(path)
      if (text !== null) read.set(path, text)
      return text
    },
    list: (folder) => tree.list(folder),
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
