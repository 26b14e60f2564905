import type { AgentRequest } from '../port.ts'
import type { Denial } from '../../base/nouns.ts'

/** Commands that only ralph may run, as it makes the one commit of a task. */
export const RESERVED_COMMANDS = ['git commit', 'git push'] as const

/**
 * Commands that read the repository. Exactly as written here, they neither write nor read anything else; with one
 * more argument they could: `git log --output=FILE`, `git diff --no-index`, `git blame --contents`.
 */
const LOOKING = [
  'git status',
  'git status --short',
  'git status --porcelain',
  'git diff',
  'git diff --stat',
  'git diff --staged',
  'git diff --cached',
  'git diff HEAD',
  'git log',
  'git log --oneline',
  'git log --stat',
  'git show',
  'git show --stat',
  'git show HEAD',
  'git ls-files',
  'git rev-parse HEAD',
  'git branch --show-current',
]

/**
 * The commands that the level `edit` allows, each exactly as written: reading git commands, and the gates. A gate
 * with a character that is special in the agent's rules is left out, as its rule would allow more.
 */
export function allowedCommands(request: AgentRequest, meaningful: RegExp | null = null): readonly string[] {
  const gates = request.gateCommands.map((command) => command.trim())
  const commands = [...gates, ...gates.flatMap(partsOf), ...LOOKING]
  return [...new Set(commands)].filter((command) => command !== '' && !meaningful?.test(command))
}

/** Agents check `a && b` as two commands, so a gate that joins plain commands is also allowed in parts. */
function partsOf(gate: string): readonly string[] {
  const isPlain = !/["'`$\\()<>|;#*?\n]|(?<!&)&(?!&)/.test(gate)
  return isPlain && gate.includes('&&') ? gate.split('&&').map((part) => part.trim()) : []
}

/** The denied tools, each with the least permission that would allow it; RESERVED_COMMANDS are not allowed even at `full`. */
export function denialsOf(denied: readonly string[]): readonly Denial[] {
  return denied.map((tool) => {
    const isReserved = RESERVED_COMMANDS.some((command) => tool.includes(command))
    return { tool, allowedBy: isReserved ? 'custom' : 'full' }
  })
}
