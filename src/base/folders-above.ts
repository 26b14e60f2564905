/** The folders that a path with forward slashes lies in, the outermost first. */
export function* foldersAbove(path: string): Iterable<string> {
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) yield path.slice(0, at)
}
