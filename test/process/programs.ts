import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../repository.ts'

/** Whether the process is there, and more than the trace of one that has ended. */
export function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.startsWith('Z')
}

/** A folder with a program that runs this script. */
export function folderWith(name: string, script: string, mode = 0o755): string {
  const folder = makeFolder()
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, name), mode)
  return folder
}
