/** A tool that an agent was denied, and the permission that would allow it. */
export interface Denial {
  readonly tool: string
  readonly allowedBy: 'full' | 'custom'
}
