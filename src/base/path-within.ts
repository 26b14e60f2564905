import { isAbsolute, relative, sep } from 'node:path'

/** A path as seen from a folder, with forward slashes, empty for the folder itself; null where it does not lie in it. */
export function pathWithin(folder: string, path: string): string | null {
  const from = relative(folder, path)
  if (from === '..' || from.startsWith(`..${sep}`) || isAbsolute(from)) return null
  return sep === '/' ? from : from.replaceAll(sep, '/')
}
