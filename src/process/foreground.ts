import { textAt } from '../base/read-file.ts'

/**
 * Whether a process is in the foreground of its terminal: the system stops a background process that reads keys, or
 * sets how they are read.
 */
export function isForeground(pid: number): boolean {
  if (process.platform === 'win32') return true
  return process.platform === 'linux' ? inStat(textAt(`/proc/${pid}/stat`)) : inPs(psOf(pid))
}

/** Reads /proc/<pid>/stat of Linux: the name is in parentheses, and may hold any character. */
export function inStat(stat: string): boolean {
  const [, , group, , , terminalGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return group !== undefined && group === terminalGroup
}

/** Reads what `ps -o pgid=,tpgid=` prints. */
export function inPs(line: string): boolean {
  const [group, terminalGroup] = line.trim().split(/\s+/)
  return group !== undefined && group !== '' && group === terminalGroup
}

function psOf(pid: number): string {
  // Every command loads this file, and few start a process with it.
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  return spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(pid)], { encoding: 'utf8', timeout: 2000 })
    .stdout
}
