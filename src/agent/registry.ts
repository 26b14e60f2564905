import { closest } from '../base/closest.ts'
import { UserError } from '../base/errors.ts'
import type { Provider } from './port.ts'
import { claude } from './providers/claude.ts'
import { codex } from './providers/codex.ts'
import { commandProvider } from './providers/command.ts'
import { continueCli } from './providers/continue.ts'
import { copilot } from './providers/copilot.ts'
import { gemini } from './providers/gemini.ts'
import { opencode } from './providers/opencode.ts'
import { qwen } from './providers/qwen.ts'
import { script } from './providers/script.ts'

/** Every agent that ralph can run; `command` is what the agent of that name runs. */
export function allProviders(command: string | null): readonly Provider[] {
  const installed = [claude, codex, gemini, opencode, copilot, qwen, continueCli]
  return [...installed, commandProvider(command), script]
}

/** The provider of that name. There is no substitute for one that is unknown. */
export function providerNamed(name: string, providers: readonly Provider[]): Provider {
  const found = providers.find((provider) => provider.name === name)
  if (found) return found
  const names = providers.map((provider) => provider.name)
  const near = closest(name, names)
  const hint = near ? `Did you mean ${near}? ` : ''
  throw new UserError(`there is no agent named "${name}"`, `${hint}The agents are ${names.join(', ')}.`)
}
