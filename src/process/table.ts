import { execFile } from 'node:child_process'
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { hostname, platform } from 'node:os'
import { dirname } from 'node:path'
import { MARK_VARIABLE } from './mark.ts'
import { codeOf } from '../base/errors.ts'
import { textAt } from '../base/read-file.ts'

/** One living process; zombies do not count. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  /** Its session; its group if the system has no sessions; itself if there are neither. */
  readonly session: number
  /** With the pid it identifies a process: pids are reused. */
  readonly startedAt: string
}

/** Every living process of the machine; empty if the system does not answer. */
export async function readProcessTable(): Promise<readonly ProcessEntry[]> {
  if (platform() === 'linux') return readProc()
  return platform() === 'win32' ? parseCim(await askWindows(ALL_PROCESSES)) : parsePs(await ps())
}

/** When a process began, in the table's format; empty if it is gone, null if the system does not answer. */
export async function startOf(pid: number): Promise<string | null> {
  if (platform() === 'linux') return readProcess(pid)?.startedAt ?? ''
  const table = await readProcessTable()
  return table.length === 0 ? null : (table.find((entry) => entry.pid === pid)?.startedAt ?? '')
}

/** One process; undefined if it is gone, or if the system can only list all at once. */
export function readProcess(pid: number): ProcessEntry | undefined {
  return platform() === 'linux' ? parseStat(pid, readStat(String(pid))) : undefined
}

/** Whether any process has that number. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** A process's command line, for a person to read; empty if it is gone. */
export async function commandOf(pid: number): Promise<string> {
  if (platform() === 'linux') return textAt(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()
  if (platform() === 'win32') return (await askWindows(commandLineOf(pid))).trim()
  return (await askSystem('ps', ['-o', 'command=', '-p', String(pid)])).trim()
}

/** Whether the process was started with that mark. Works only on Linux. */
export function bearsMark(pid: number, mark: string): boolean {
  // Empty if the process is gone by now, or another user's.
  const environment = textAt(`/proc/${pid}/environ`)
  if (!environment.includes(mark)) return false
  return environment
    .split('\0')
    .some((entry) => entry.startsWith(`${MARK_VARIABLE}=`) && entry.split(/[=:]/).includes(mark))
}

function readProc(): ProcessEntry[] {
  const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return names.flatMap((name) => parseStat(Number(name), readStat(name)) ?? [])
}

const STAT = Buffer.alloc(1024)

/** Reads it in one call: this is done for every process, each time that an agent or gate ends. */
function readStat(pid: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(`/proc/${pid}/stat`, 'r')
    return STAT.toString('latin1', 0, readSync(file, STAT, 0, STAT.length, 0))
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** The fields after the name, which is in parentheses and may hold any character, parentheses too: proc_pid_stat(5). */
function parseStat(pid: number, stat: string | undefined): ProcessEntry | undefined {
  if (stat === undefined) return undefined
  const [state = '', parent, , session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if ('ZXx'.includes(state)) return undefined
  return { pid, parent: Number(parent), session: Number(session), startedAt: rest[15] ?? '' }
}

/** With a fixed language and time zone, so that every caller gets the same start. */
function ps(): Promise<string> {
  return askSystem('env', ['LC_ALL=C', 'TZ=UTC', 'ps', '-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart='])
}

/** Parses the output of `ps -A -o pid=,ppid=,pgid=,stat=,lstart=`. */
export function parsePs(text: string): readonly ProcessEntry[] {
  return entriesIn(text, /^ *(?<pid>\d+) +(?<parent>\d+) +(?<group>\d+) +(?!Z)\S+ +(?<startedAt>\S.*)$/gm)
}

/** Without sessions and groups, each process is its own. */
function entriesIn(text: string, pattern: RegExp): readonly ProcessEntry[] {
  return [...text.matchAll(pattern)].map(({ groups = {} }) => ({
    pid: Number(groups['pid']),
    parent: Number(groups['parent']),
    session: Number(groups['group'] ?? groups['pid']),
    startedAt: groups['startedAt']?.trim() ?? '',
  }))
}

/** Prints number, parent and start in milliseconds, one process a line. The system's own processes have no start. */
const ALL_PROCESSES =
  "Get-CimInstance Win32_Process | Where-Object CreationDate | ForEach-Object { '{0} {1} {2:F0}' -f $_.ProcessId, $_.ParentProcessId, ($_.CreationDate.ToFileTimeUtc() / 10000) }"

function commandLineOf(pid: number): string {
  return `(Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}').CommandLine`
}

/**
 * Parses the output of `ALL_PROCESSES`. Windows has neither sessions nor groups of this kind, and keeps the number of
 * a dead parent.
 */
export function parseCim(text: string): readonly ProcessEntry[] {
  return entriesIn(text, /^(?<pid>\d+) (?<parent>\d+) (?<startedAt>\d+)\s*$/gm)
}

/** Identifies this machine: a host's name changes with the network. */
export interface Machine {
  readonly host: string
  /** The id that the system got when it was installed; empty if there is none. */
  readonly id: string
  /** The id of this start of the system; empty if there is none. */
  readonly boot: string
  /** The namespace of process numbers: each container has its own. Empty if there is only one. */
  readonly pids: string
}

let own: Promise<Machine> | undefined

/** The machine that this process runs on; read once. */
export function thisMachine(): Promise<Machine> {
  return (own ??= ask())
}

async function ask(): Promise<Machine> {
  const unknown = { host: hostname(), id: '', boot: '', pids: '' }
  switch (platform()) {
    case 'linux':
      return {
        ...unknown,
        id: textAt('/etc/machine-id').trim(),
        boot: textAt('/proc/sys/kernel/random/boot_id').trim(),
        pids: linkOf('/proc/self/ns/pid'),
      }
    case 'darwin': {
      const [registry, boot] = await Promise.all([
        askSystem('ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']),
        askSystem('sysctl', ['-n', 'kern.bootsessionuuid']),
      ])
      return { ...unknown, id: platformUuid(registry), boot: boot.trim() }
    }
    case 'win32': {
      const [id = '', boot = ''] = (await askWindows(MACHINE_AND_BOOT)).trim().split(/\s+/)
      return { ...unknown, id, boot }
    }
    default:
      return unknown
  }
}

const MACHINE_AND_BOOT =
  "(Get-ItemProperty 'HKLM:\\SOFTWARE\\Microsoft\\Cryptography').MachineGuid; (Get-CimInstance Win32_OperatingSystem).LastBootUpTime.ToFileTimeUtc()"

/** The machine's id in the output of `ioreg -rd1 -c IOPlatformExpertDevice`. */
export function platformUuid(registry: string): string {
  return /"IOPlatformUUID" = "([^"]+)"/.exec(registry)?.[1] ?? ''
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** The output of a command for PowerShell, which every Windows has. */
function askWindows(command: string): Promise<string> {
  return askSystem('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', command])
}

/**
 * The output of a program of the system; empty if it fails. It runs in Node's folder, because Windows
 * looks for a program first in the current folder, and anybody may have put one of that name into a repository.
 */
export function askSystem(program: string, args: readonly string[]): Promise<string> {
  const options = { cwd: dirname(process.execPath), maxBuffer: 1 << 26, windowsHide: true }
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout) => resolve(error ? '' : stdout))
  })
}
