import type { AgentHome } from '../../base/cage-needs.ts'
import type { MountRule } from './mounts.ts'

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
  /** Whether a variable is removed from its environment. */
  readonly isHidden: (variable: string) => boolean
  /** Variables that replace those of its environment. */
  readonly env: Readonly<Record<string, string>>
}
