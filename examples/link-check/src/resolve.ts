import { posix } from 'node:path'

/** What a link leads to: a file with perhaps an anchor, or something outside that is not looked at. */
export type Target =
  | { readonly kind: 'file'; readonly path: string; readonly anchor: string | null }
  | { readonly kind: 'outside' }

/** Where a link in a file leads; paths are relative to the top folder, with forward slashes. */
export function resolveTarget(file: string, target: string): Target {
  if (/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(target)) return { kind: 'outside' }
  const [path = '', anchor = null] = target.split('#', 2)
  return { kind: 'file', path: path === '' ? file : inFolderOf(file, decodeURI(path)), anchor }
}

function inFolderOf(file: string, path: string): string {
  return path.startsWith('/') ? posix.normalize(path.slice(1)) : posix.join(posix.dirname(file), path)
}
