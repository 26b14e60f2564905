import { spawnSync } from 'node:child_process'
import type { Environment } from './mark.ts'
import { findOnPath } from './program.ts'

/** One that waits for a terminal that somebody else has is no reason to wait with it. */
const PATIENCE_MS = 2000

/** Notes the modes of the terminal of this process; what it returns restores them, whatever a program has made of them. */
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
