import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, platform } from 'node:os'
import { askSystem, askWindows } from './table.ts'

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

/** The machine's id in the output of `ioreg -rd1 -c IOPlatformExpertDevice`. */
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
