import type { AgentRequest } from '../port.ts'

/** What an agent must leave to ralph, which makes the one commit of a task. */
export const RESERVED_COMMANDS = ['git commit', 'git push'] as const

/**
 * Look at the repository, and exactly as they stand here neither write nor read anything else. One argument more and
 * they could: `git log --output=FILE`, `git diff --no-index`, `git blame --contents`.
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
 * The commands that the level `edit` allows, each exactly as it stands: git that only looks, and the gates. A gate in
 * which a character has a meaning of its own in the agent's rules is left out, for it would allow more than itself.
 */
export function allowedCommands(request: AgentRequest, meaningful: RegExp | null = null): readonly string[] {
  const gates = request.gateCommands.map((command) => command.trim())
  const commands = [...gates, ...gates.flatMap(partsOf), ...LOOKING]
  return [...new Set(commands)].filter((command) => command !== '' && !meaningful?.test(command))
}

/** Agents judge `a && b` as two commands, so a gate that joins plain commands is allowed as its parts too. */
function partsOf(gate: string): readonly string[] {
  const isPlain = !/["'`$\\()<>|;#*?\n]|(?<!&)&(?!&)/.test(gate)
  return isPlain && gate.includes('&&') ? gate.split('&&').map((part) => part.trim()) : []
}
