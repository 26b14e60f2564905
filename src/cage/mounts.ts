import { lstatSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What one place of the file system is in a cage. Of rules about one place the last holds. */
export type Rule =
  /** May be written. */
  | { readonly kind: 'write'; readonly path: string; readonly from?: string }
  /** May be read, though it lies in what may be written, or not even be read. */
  | { readonly kind: 'read'; readonly path: string }
  /** Cannot be read. */
  | { readonly kind: 'closed'; readonly path: string }
  /** Is there, with nothing in it. */
  | { readonly kind: 'empty'; readonly path: string }

/** Where a cage's own things lie on this machine, all in one folder. */
export interface CageFolder {
  readonly path: string
  readonly temp: string
  readonly closed: string
  readonly empty: string
}

/** The folders for temporary files, each of which is the cage's own. */
const TEMPORARY = ['/tmp', '/var/tmp']

/** What the kernel lets root change through `/proc`, whatever powers root was left with: how the whole machine behaves. */
const SWITCHES = [
  'sys',
  'sysrq-trigger',
  'irq',
  'bus',
  'fs',
  'acpi',
  'driver',
  'scsi',
  'mtrr',
  'dynamic_debug',
]

/** What bubblewrap is told of the file system: all of it may be read, and of the rest the rules say. */
export function mountArguments(rules: readonly Rule[], folder: CageFolder): readonly string[] {
  const args = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc']
  for (const name of SWITCHES) args.push('--ro-bind-try', `/proc/${name}`, `/proc/${name}`)
  for (const temporary of new Set(TEMPORARY.flatMap((path) => real(path) ?? [])))
    args.push('--bind', folder.temp, temporary)
  const last: string[] = []
  const places = rules.flatMap((rule) => {
    const path = real(rule.path)
    return path === null ? [] : [{ ...rule, path }]
  })
  for (const [index, rule] of places.entries()) {
    const { path } = rule
    switch (rule.kind) {
      case 'write':
        args.push('--bind', rule.from ?? path, path)
        break
      case 'read':
        args.push('--ro-bind', path, path)
        break
      case 'closed':
      case 'empty':
        if (!isFolder(path)) args.push('--ro-bind', folder[rule.kind], path)
        else {
          // Who is to reach something further down has to come through.
          const isWay = places.slice(index + 1).some((later) => isInside(later.path, path))
          args.push('--perms', rule.kind === 'empty' || isWay ? '0555' : '0000', '--tmpfs', path)
          last.push('--remount-ro', path)
        }
    }
  }
  return [...args, ...last]
}

/** Whether a path is that folder, or lies in it. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

/** Whether a path lies in a folder of which the cage has its own. */
export function isTemporary(path: string): boolean {
  return TEMPORARY.some((folder) => path !== folder && isInside(path, real(folder) ?? folder))
}

/** What a path leads to; null where there is nothing. */
export function real(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

function isFolder(path: string): boolean {
  return statSync(path).isDirectory()
}

/** Whether that is a link, on which nothing can be laid. */
export function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

/** The folder of a cage, as it is named here. */
export function cageFolder(path: string): CageFolder {
  return { path, temp: join(path, 'tmp'), closed: join(path, 'closed'), empty: join(path, 'empty') }
}
