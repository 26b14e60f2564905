import { spawnSync } from 'node:child_process'
import type { Environment } from './mark.ts'
import { findOnPath } from './program.ts'

/** Limits the wait for `stty`, which blocks while another process has the terminal. */
const PATIENCE_MS = 2000

/** Notes the modes of this process's terminal; the returned function restores them, whatever a program has changed. */
export function keepTerminalModes(env: Environment): () => void {
  const program = findOnPath('stty', env)
  if (program === null) return () => undefined
  const stty = (argument: string): string => {
    const { stdout } = spawnSync(program, [argument], {
      stdio: ['inherit', 'pipe', 'ignore'],
      encoding: 'utf8',
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    })
    return stdout?.trim() ?? ''
  }
  const modes = stty('-g')
  return () => void (modes !== '' && stty(modes))
}
