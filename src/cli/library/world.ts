import { fileURLToPath } from 'node:url'
import { builtFile } from '../../base/built-file.ts'
import type { World } from '../../base/world.ts'

/** The world of the program that uses the library: its folder, environment and clock, unchanged. */
export function ownWorld(signal: AbortSignal = new AbortController().signal): World {
  return {
    cwd: process.cwd(),
    env: process.env,
    self: [process.execPath, fileURLToPath(builtFile('bin.cjs'))],
    pid: process.pid,
    now: () => new Date(),
    signal,
    urgent: new AbortController().signal,
  }
}
