import { lstatSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { AgentHome } from '../../base/cage-needs.ts'

/**
 * What a cage may do with one path. Of several rules about a path the last one applies. `read`: it may be read only,
 * though it is in a folder that may be written, or closed. `closed`: it cannot be read. `empty`: it exists and is empty.
 * `own`: it is a folder of the cage's own, empty at first, which goes with the cage. `link`: it is a link, in a folder
 * that was closed.
 */
export type MountRule =
  | { readonly kind: 'read' | 'closed' | 'empty' | 'own'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly from?: string }
  | { readonly kind: 'link'; readonly path: string; readonly to: string }

/** What one caged process may do, as plain data, made for each start. */
export interface CagePolicy {
  /** In order: of several rules about a path the last one applies. */
  readonly rules: readonly MountRule[]
  /** Folders with an agent's own state. */
  readonly homes: readonly AgentHome[]
  /** Files that are copied into the cage. */
  readonly files: readonly string[]
  /** Hosts, and words for several. */
  readonly hosts: readonly string[]
  /** The configuration key that can allow more hosts. */
  readonly hostsKey: 'network' | 'gatesNetwork'
  /** Paths that are never writable, whatever the configuration: git's folder, ralph's, its configuration. */
  readonly never: readonly string[]
  /** The checkout: nobody is advised to open it. */
  readonly checkout: string
  /** Whether a variable is removed from its environment. */
  readonly isHidden: (variable: string) => boolean
  /** Variables that replace those of its environment. */
  readonly env: Readonly<Record<string, string>>
}

/** The folders for temporary files: each cage has its own. */
const TEMPORARY = ['/tmp', '/var/tmp']

/** Files in `/proc` that root may write, even without capabilities, and that change the whole machine. */
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

/** The whole file system, which may only be read, with devices and processes of the cage's own. */
export const SYSTEM = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc']

/** The arguments for bubblewrap's file system: everything may be read, except as the rules say. */
export function mountArguments(rules: readonly MountRule[], folder: CageFolder): readonly string[] {
  const args = [...SYSTEM]
  for (const name of SWITCHES) args.push('--ro-bind-try', `/proc/${name}`, `/proc/${name}`)
  for (const temporary of new Set(TEMPORARY.flatMap((path) => real(path) ?? [])))
    args.push('--bind', folder.temp, temporary)
  const last: string[] = []
  const places = rules.flatMap((rule) => {
    const isMade = rule.kind === 'link' || rule.kind === 'own'
    const path = isMade ? placeOf(rule.path) : real(rule.path)
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
      case 'own':
        args.push('--bind', folder.cache, path)
        break
      case 'link':
        args.push('--symlink', rule.to, path)
        break
      case 'closed':
      case 'empty':
        if (!isFolder(path)) args.push('--ro-bind', folder[rule.kind], path)
        else {
          // A closed folder must still lead to an allowed one inside it.
          const isWay = places.slice(index + 1).some((later) => isInside(later.path, path))
          args.push('--perms', rule.kind === 'empty' || isWay ? '0555' : '0000', '--tmpfs', path)
          last.push('--remount-ro', path)
        }
    }
  }
  return [...args, ...last]
}

/** The path of what the cage makes, by the real path of its folder. */
function placeOf(path: string): string | null {
  const folder = real(dirname(path))
  return folder === null ? null : join(folder, basename(path))
}

/** Whether a path is that folder, or inside it. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

/** Leaves out paths inside others: a process that may write there could redirect the next cage with a link. */
export function outermost(paths: readonly string[]): readonly string[] {
  const all = [...new Set(paths)]
  return all.filter((path) => !all.some((other) => other !== path && isInside(path, other)))
}

/** Whether a path is in a folder that each cage has for itself. */
export function isTemporary(path: string): boolean {
  return TEMPORARY.some((folder) => path !== folder && isInside(path, real(folder) ?? folder))
}

/** The real path; null if it does not exist. */
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

/** Whether it is a link, on which nothing can be mounted. */
export function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

/** The paths of a cage's own files on this machine, all in one folder. */
export type CageFolder = ReturnType<typeof cageFolder>

export function cageFolder(path: string) {
  return {
    path,
    temp: join(path, 'tmp'),
    cache: join(path, 'cache'),
    closed: join(path, 'closed'),
    empty: join(path, 'empty'),
  }
}
