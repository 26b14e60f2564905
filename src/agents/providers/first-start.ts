import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Preflight } from '../port.ts'
import type { FailureWords } from './failure.ts'

/** What shows that an agent has been set up: a variable, or a file below the home folder. */
interface SetUp {
  readonly variables: readonly string[]
  readonly files: readonly string[]
}

/**
 * What to do if nothing at all shows that the agent was ever started or has a key. Only this is certain before a run:
 * a login may be in a keychain, so with any trace of the agent its own error message decides.
 */
export function neverSetUp(
  { agent, login }: Pick<FailureWords, 'agent' | 'login'>,
  { variables, files }: SetUp,
  { env }: Parameters<Preflight>[0],
): readonly string[] {
  const home = env['HOME'] ?? env['USERPROFILE']
  const isSetUp =
    home === undefined ||
    variables.some((name) => env[name]) ||
    files.some((file) => existsSync(path.resolve(home, file)))
  return isSetUp ? [] : [`${agent} has never been set up here: ${login}.`]
}
