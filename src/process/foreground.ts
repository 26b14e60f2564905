import { readFileSync } from 'node:fs'

/**
 * Whether a process has its terminal to itself: one that a shell has put in the background is stopped where it reads the
 * keys, or sets how they are read.
 */
export function isForeground(pid: number): boolean {
  if (process.platform === 'win32') return true
  return process.platform === 'linux' ? inStat(statOf(pid)) : inPs(psOf(pid))
}

/** What Linux says of a process: its name stands in parentheses, and may hold any sign. */
export function inStat(stat: string): boolean {
  const [, , group, , , terminalGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return group !== undefined && group === terminalGroup
}

/** What `ps -o pgid=,tpgid=` says of it. */
export function inPs(line: string): boolean {
  const [group, terminalGroup] = line.trim().split(/\s+/)
  return group !== undefined && group !== '' && group === terminalGroup
}

function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}

function psOf(pid: number): string {
  // Every command of the program loads this file, and hardly one starts a process by it.
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  return spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(pid)], { encoding: 'utf8', timeout: 2000 })
    .stdout
}
