import type { AgentRequest } from '../port.ts'

/** What an agent must leave to ralph, which makes the one commit of a task. */
export const RESERVED_COMMANDS = ['git commit', 'git push'] as const

/** Looks at the repository and changes nothing. */
const LOOKING = [
  'git status',
  'git diff',
  'git log',
  'git show',
  'git blame',
  'git ls-files',
  'git rev-parse',
]

/** The commands that the level `edit` allows: the gates' own, each as far as the next operator, and git that only looks. */
export function allowedCommands(request: AgentRequest): readonly string[] {
  // Agents judge `a && b` as two commands, so a gate that joins them is allowed as its parts.
  const parts = request.gateCommands.flatMap((command) => command.split(/&&|\|\||[;|\n]/))
  const commands = parts.map((part) => part.trim()).filter((part) => part !== '')
  return [...new Set([...commands, ...LOOKING])]
}
