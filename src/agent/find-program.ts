import { accessSync, constants, statSync } from 'node:fs'
import { platform } from 'node:os'
import { delimiter, join } from 'node:path'
import type { AgentRequest } from './port.ts'

/** Where the program of that name is on PATH; null where it is not. */
export function findOnPath(program: string, env: AgentRequest['env']): string | null {
  const extensions = platform() === 'win32' ? (env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';') : ['']
  for (const folder of (env['PATH'] ?? env['Path'] ?? '').split(delimiter)) {
    if (folder === '') continue
    for (const extension of extensions) {
      const path = join(folder, program + extension)
      if (isExecutable(path)) return path
    }
  }
  return null
}

function isExecutable(path: string): boolean {
  try {
    // Most are not there, and to throw that for each folder of PATH would take `next` a millisecond.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
