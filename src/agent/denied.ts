import { RESERVED_COMMANDS } from './providers/shell-rules.ts'

/** A tool that an agent asked for and was denied, and the permission that would allow it. */
export interface Denial {
  readonly tool: string
  readonly allowedBy: 'full' | 'custom'
}

/** What was denied, each with the least permission that would allow it: what is ralph's to do is no agent's at `full` either. */
export function denialsOf(denied: readonly string[]): readonly Denial[] {
  return denied.map((tool) => {
    const isReserved = RESERVED_COMMANDS.some((command) => tool.includes(command))
    return { tool, allowedBy: isReserved ? 'custom' : 'full' }
  })
}
