import { AsyncLocalStorage } from 'node:async_hooks'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const ENV: Readonly<Record<string, string | undefined>> = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
}

/** Writes files, making their folders. */
export function put(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

type Environment = Readonly<Record<string, string | undefined>>

const surroundings = new AsyncLocalStorage<Environment>()

/** Runs what an agent or a gate of a test does: its git commits as an attempt's, by the environment that it is handed. */
export function asAttempt<T>(env: Environment, work: () => Promise<T>): Promise<T> {
  return surroundings.run(env, work)
}

/** Runs what a person does in the middle of an attempt. */
export function asPerson<T>(work: () => T): T {
  return surroundings.run(ENV, work)
}

/** Bare git, for what a test arranges and for what it looks at. */
export function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    env: { ...ENV, ...committerIn(surroundings.getStore()) },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd()
}

function committerIn(env: Environment = {}): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('GIT_COMMITTER_')))
}
