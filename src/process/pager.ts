import { spawn, type ChildProcess } from 'node:child_process'
import { childEnvironment, type Environment } from './mark.ts'
import { findOnPath, findShell } from './program.ts'

/** The pager if git is not configured to use another one. */
const USUAL_PAGER = 'less'

/** The command of the person's pager: as git reads it, without the repository's own settings; null if there is none. */
export function pagerCommand(env: Environment, configured: string | null): string | null {
  const named = env['GIT_PAGER'] ?? configured ?? env['PAGER']
  if (named !== undefined) return named.trim() === '' || named.trim() === 'cat' ? null : named
  return findOnPath(USUAL_PAGER, env) === null ? null : USUAL_PAGER
}

/** A command with the terminal, and where it runs. */
interface AtTerminal {
  readonly command: string
  readonly cwd: string
  readonly env: Environment
}

/** Shows bytes in a pager that has the terminal, until it ends; false if it could not be started. */
export function page(bytes: Uint8Array, { command, env, ...at }: AtTerminal): Promise<boolean> {
  const child = startShell([command], { ...at, env: { LESS: 'FRX', LV: '-c', ...env } }, 'pipe')
  // A person who closes the pager early does not want the rest.
  child?.stdin?.on('error', () => undefined)
  child?.stdin?.end(bytes)
  return wasThere(child)
}

/** The editor that the person has named, as git chooses it; null for none. */
export function namedEditor(env: Environment): string | null {
  const named = [env['GIT_EDITOR'], env['VISUAL'], env['EDITOR']]
  return named.find((command) => command !== undefined && command.trim() !== '') ?? null
}

/** Opens a file in an editor that has the terminal, until it ends; false if it could not be started. */
export function edit(file: string, { command, ...at }: AtTerminal): Promise<boolean> {
  // The file is an argument, not part of the command, whatever its name is.
  return wasThere(startShell([`${command} "$@"`, command, file], at, 'inherit'))
}

function startShell(
  args: readonly string[],
  { cwd, env }: Omit<AtTerminal, 'command'>,
  stdin: 'pipe' | 'inherit',
): ChildProcess | null {
  const shell = findShell(env)
  if (shell === null) return null
  return spawn(shell, ['-c', ...args], {
    cwd,
    env: childEnvironment(env),
    stdio: [stdin, 'inherit', 'inherit'],
    windowsHide: true,
  })
}

/** Whether the program existed, once it has ended: the shell has exit codes for a missing one. */
function wasThere(child: ChildProcess | null): Promise<boolean> {
  if (child === null) return Promise.resolve(false)
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code !== 127 && code !== 126))
  })
}
