import type { Denial } from '../base/denial.ts'
import { RESERVED_COMMANDS } from './providers/shell-rules.ts'

/** The denied tools, each with the least permission that would allow it; RESERVED_COMMANDS are not allowed even at `full`. */
export function denialsOf(denied: readonly string[]): readonly Denial[] {
  return denied.map((tool) => {
    const isReserved = RESERVED_COMMANDS.some((command) => tool.includes(command))
    return { tool, allowedBy: isReserved ? 'custom' : 'full' }
  })
}
