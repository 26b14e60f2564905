import type { Denial } from '../events/denial.ts'
import { RESERVED_COMMANDS } from './providers/shell-rules.ts'

/** What was denied, each with the least permission that would allow it: what is ralph's to do is no agent's at `full` either. */
export function denialsOf(denied: readonly string[]): readonly Denial[] {
  return denied.map((tool) => {
    const isReserved = RESERVED_COMMANDS.some((command) => tool.includes(command))
    return { tool, allowedBy: isReserved ? 'custom' : 'full' }
  })
}
