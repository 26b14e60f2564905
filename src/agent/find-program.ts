import { accessSync, constants, statSync } from 'node:fs'
import { platform } from 'node:os'
import { delimiter, join } from 'node:path'
import type { AgentRequest } from './port.ts'

type Environment = AgentRequest['env']

/** Where the program of that name is on PATH; null where it is not. */
export function findOnPath(program: string, env: Environment): string | null {
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

/** The first of these whose program is there; null where none is. One that needs no program is never found. */
export function firstInstalled<Agent extends { readonly program: string | null }>(
  agents: readonly Agent[],
  env: Environment,
): Agent | null {
  return agents.find(({ program }) => program !== null && findOnPath(program, env) !== null) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
