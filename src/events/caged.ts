/** An action that the cage refused, and which entry of the configuration would allow it. */
export interface CagedAction {
  readonly action: 'read' | 'write' | 'connect'
  /** A path, or a host with its port. */
  readonly target: string
  /** `sandbox.network: "example.com"`; null for what no entry allows. */
  readonly allowedBy: string | null
}
