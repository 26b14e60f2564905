import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Provider } from '../port.ts'

type Context = Parameters<Provider['preflight']>[0]

/** What shows that an agent has been set up: a variable, or a file below the home folder. */
export interface SetUp {
  readonly variables: readonly string[]
  readonly files: readonly string[]
}

/**
 * True where nothing at all shows that the agent was ever started or given a key. Only this is certain before a
 * run: a login may lie in a keychain, and where any trace of the agent exists its own word is waited for.
 */
export function neverSetUp(context: Context, setUp: SetUp): boolean {
  if (setUp.variables.some((name) => context.env[name])) return false
  const home = context.env['HOME'] ?? context.env['USERPROFILE']
  if (home === undefined) return false
  return !setUp.files.some((file) => existsSync(path.resolve(home, file)))
}
