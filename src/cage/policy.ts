import type { AgentHome } from '../base/cage-needs.ts'
import type { Rule } from './mounts.ts'

/** What one caged process may do: plain data, made anew for each start. */
export interface CagePolicy {
  /** In their order: of rules about one place the last holds. */
  readonly rules: readonly Rule[]
  /** Folders in which an agent keeps its own state. */
  readonly homes: readonly AgentHome[]
  /** Files that it finds as copies. */
  readonly files: readonly string[]
  /** Hosts, and words for several. */
  readonly hosts: readonly string[]
  /** The key of the configuration that would allow more of them. */
  readonly hostsKey: 'network' | 'gatesNetwork'
  /** What is never allowed, whatever the configuration says: git's own folder, ralph's, its configuration. */
  readonly never: readonly string[]
  /** Variables that it does not get. */
  readonly isHidden: (variable: string) => boolean
  /** Set over its environment. */
  readonly env: Readonly<Record<string, string>>
}
