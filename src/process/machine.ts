import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, platform } from 'node:os'
import { askSystem, askWindows } from './table.ts'

/** By what a process is known to be of this machine: a host's name changes with the network that it is in. */
export interface Machine {
  readonly host: string
  /** What the system was given when it was installed; empty where it tells none. */
  readonly id: string
  /** Another one after each start of the system; empty where it tells none. */
  readonly boot: string
  /** Within which numbers name processes: each container has its own. Empty where there is but one. */
  readonly pids: string
}

let own: Promise<Machine> | undefined

/** The machine that this process runs on, which is asked but once. */
export function thisMachine(): Promise<Machine> {
  return (own ??= ask())
}

async function ask(): Promise<Machine> {
  const host = hostname()
  switch (platform()) {
    case 'linux':
      return {
        host,
        id: textOf('/etc/machine-id'),
        boot: textOf('/proc/sys/kernel/random/boot_id'),
        pids: linkOf('/proc/self/ns/pid'),
      }
    case 'darwin': {
      const [registry, boot] = await Promise.all([
        askSystem('ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']),
        askSystem('sysctl', ['-n', 'kern.bootsessionuuid']),
      ])
      return { host, id: platformUuid(registry), boot: boot.trim(), pids: '' }
    }
    case 'win32': {
      const [id = '', boot = ''] = (await askWindows(MACHINE_AND_BOOT)).trim().split(/\s+/)
      return { host, id, boot, pids: '' }
    }
    default:
      return { host, id: '', boot: '', pids: '' }
  }
}

const MACHINE_AND_BOOT =
  "(Get-ItemProperty 'HKLM:\\SOFTWARE\\Microsoft\\Cryptography').MachineGuid; (Get-CimInstance Win32_OperatingSystem).LastBootUpTime.ToFileTimeUtc()"

/** What `ioreg -rd1 -c IOPlatformExpertDevice` says of the machine. */
export function platformUuid(registry: string): string {
  return /"IOPlatformUUID" = "([^"]+)"/.exec(registry)?.[1] ?? ''
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
