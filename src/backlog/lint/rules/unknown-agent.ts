import { quote, suggestion, valueSpan } from '../place.ts'
import type { Rule } from '../rule.ts'

/**
 * The task names an agent that ralph does not know, and ralph uses no other agent instead.
 *
 * @fix Correct the name, or remove the field: the configuration then says who does the task.
 *
 * @example
 * ```json context
 * { "agents": ["claude", "codex", "gemini"] }
 * ```
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Agent**: codex
 * ```
 *
 * @example
 * ```json context
 * { "agents": ["claude", "codex", "gemini"] }
 * ```
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 * - **Agent**: cluade
 * ```
 * ```text
 * docs/tasks/T-001.md:4:14 error unknown-agent Agent "cluade" is none that ralph knows (did you mean claude?)
 * ```
 */
export const unknownAgent: Rule = {
  name: 'unknown-agent',
  severity: 'error',
  start: ({ context }) => {
    const known = new Set(context.agents)
    return (task) => {
      const name = task.agent
      if (name === null || known.size === 0 || known.has(name)) return []
      const message = `Agent ${quote(name)} is none that ralph knows${suggestion(name, known)}`
      return [{ span: valueSpan(task, 'Agent'), message }]
    }
  },
}
