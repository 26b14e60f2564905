import { spawn, type ChildProcess } from 'node:child_process'
import { childEnvironment, type Environment } from './mark.ts'
import { findOnPath, findShell } from './program.ts'

/** What a person reads long texts with, if it is not what git is told to use. */
const USUAL_PAGER = 'less'

/** The command of the person's pager: as git has it, without what the repository itself may say; null where there is none. */
export function pagerCommand(env: Environment, configured: string | null): string | null {
  const named = env['GIT_PAGER'] ?? configured ?? env['PAGER']
  if (named !== undefined) return named.trim() === '' || named.trim() === 'cat' ? null : named
  return findOnPath(USUAL_PAGER, env) === null ? null : USUAL_PAGER
}

/** Shows bytes in a pager that has the terminal, to its end; false where it could not be started. */
export function page(
  bytes: Uint8Array,
  { command, cwd, env }: { readonly command: string; readonly cwd: string; readonly env: Environment },
): Promise<boolean> {
  const shell = findShell(env)
  if (shell === null) return Promise.resolve(false)
  const child = spawn(shell, ['-c', command], {
    cwd,
    env: { LESS: 'FRX', LV: '-c', ...childEnvironment(env) },
    stdio: ['pipe', 'inherit', 'inherit'],
    windowsHide: true,
  })
  // Who leaves the pager early wants no more of it.
  child.stdin.on('error', () => undefined)
  child.stdin.end(bytes)
  return wasThere(child)
}

/** Whether there was such a program, once it has ended: the shell has codes of its own to say that there is none. */
function wasThere(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code !== 127 && code !== 126))
  })
}

/** As git has it: what the person has set for a terminal, and the one that every system has. */
export function editorCommand(env: Environment): string {
  return env['GIT_EDITOR'] ?? env['VISUAL'] ?? env['EDITOR'] ?? 'vi'
}

/** Opens a file in an editor that has the terminal, to its end; false where it could not be started. */
export function edit(
  file: string,
  { command, cwd, env }: { readonly command: string; readonly cwd: string; readonly env: Environment },
): Promise<boolean> {
  const shell = findShell(env)
  if (shell === null) return Promise.resolve(false)
  // The file is no part of the command, whatever its name is.
  const child = spawn(shell, ['-c', `${command} "$@"`, command, file], {
    cwd,
    env: childEnvironment(env),
    stdio: 'inherit',
  })
  return wasThere(child)
}
