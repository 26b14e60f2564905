/** An action that the cage refused, and the configuration entry that would allow it. */
export interface CagedAction {
  readonly action: 'read' | 'write' | 'connect'
  /** A path, or a host with its port. */
  readonly target: string
  /** `sandbox.network: "example.com"`; null if no entry can allow it. */
  readonly allowedBy: string | null
}
