import { platform, release } from 'node:os'
import { findOnPath } from '../program.ts'
import type { Environment } from '../mark.ts'
import { runProgram } from '../run.ts'
import { SYSTEM } from './mounts.ts'
import { NAMESPACES } from './start.ts'
import { seccompFilter } from './seccomp.ts'
import { textAt } from '../../base/read-file.ts'

/** Whether processes can be caged on this machine: with what, or why not and what to do. */
export type Availability =
  | { readonly ok: true; readonly program: string }
  | { readonly ok: false; readonly reason: string; readonly fix: string }

/** Tests it with a real start: what a system allows shows only then. */
export async function cageAvailable(where: {
  readonly env: Environment
  readonly cwd: string
}): Promise<Availability> {
  if (platform() !== 'linux')
    return no(`there is none for ${systemName()}`, 'Run ralph in a container or in a Linux machine.')
  if (seccompFilter() === null) return no('there is none for this processor', 'Run ralph in a container.')
  const program = findOnPath('bwrap', where.env)
  if (program === null) return no('bubblewrap is not installed', installation(where.env))
  const args = [...NAMESPACES, ...SYSTEM, '--', '/bin/sh', '-c', ':']
  const { code, stderr } = await runProgram({ program, args, ...where })
  if (code === 0) return { ok: true, program }
  const message = stderr.toString().trim().split('\n').at(-1) ?? ''
  return no(`the system does not let bubblewrap work (${message || `exit code ${code}`})`, allowance())
}

function no(reason: string, fix: string): Availability {
  return { ok: false, reason, fix }
}

function systemName(): string {
  return platform() === 'darwin' ? 'macOS' : platform() === 'win32' ? 'Windows' : platform()
}

const MANAGERS = [
  ['apt-get', 'sudo apt-get install bubblewrap'],
  ['dnf', 'sudo dnf install bubblewrap'],
  ['pacman', 'sudo pacman -S bubblewrap'],
  ['zypper', 'sudo zypper install bubblewrap'],
  ['apk', 'sudo apk add bubblewrap'],
] as const

/** The command that installs bubblewrap. */
function installation(env: Environment): string {
  return MANAGERS.find(([manager]) => findOnPath(manager, env) !== null)?.[1] ?? 'Install bubblewrap.'
}

/** What to change for the usual causes: Ubuntu's rule for namespaces, an old kernel setting, containers. */
function allowance(): string {
  if (textAt('/proc/sys/kernel/apparmor_restrict_unprivileged_userns').trim() === '1')
    return 'sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0'
  if (textAt('/proc/sys/kernel/unprivileged_userns_clone').trim() === '0')
    return 'sudo sysctl kernel.unprivileged_userns_clone=1'
  const isWsl1 = /microsoft/i.test(release()) && !/wsl2/i.test(release())
  return isWsl1
    ? 'Use WSL 2.'
    : 'In a container: allow it namespaces of its own, or let the container be the wall.'
}
