import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtFile } from '../base/built-file.ts'
import type { MoreStream } from '../process/launch.ts'
import type { Environment } from '../process/mark.ts'
import { makePrivateFolder } from '../process/private-folder.ts'
import { resolveProgram } from '../process/program.ts'
import { startCage, type ProcessEnd, type Running, type StartProcess } from '../process/start.ts'
import { HostList } from './hosts.ts'
import { layOutHomes } from './homes.ts'
import { cageFolder, mountArguments, type CageFolder, type Rule } from './mounts.ts'
import type { CagePolicy } from './policy.ts'
import { RefusalReader } from './refusals.ts'
import { seccompFilter } from './seccomp.ts'
import { serveWayOut } from './way-out.ts'

/** What is asked of a start, as far as a policy may depend on it. */
export interface CageAsked {
  /** The program itself. */
  readonly program: string
  readonly handed: string | undefined
  readonly writable: readonly string[]
}

/** Namespaces of its own in everything, and an end with ralph's own. */
export const NAMESPACES = [
  '--unshare-user',
  '--unshare-ipc',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--die-with-parent',
  // Whoever is root keeps powers over the namespaces: with those the walls could be taken down from within.
  '--cap-drop',
  'ALL',
]

/**
 * Begins the way out, and says where it is to all that honours the usual variables; then becomes the program. Its
 * arguments: Node, the script of the way out, the ports that are the host's own; then the program with its own.
 */
const WITH_NETWORK = `
port=$(NODE_OPTIONS= NODE_EXTRA_CA_CERTS= "$1" "$2" "$3" </dev/null 2>/dev/null &)
exec 5<&-
shift 3
HTTP_PROXY=http://127.0.0.1:$port HTTPS_PROXY=http://127.0.0.1:$port NO_PROXY=localhost,127.0.0.1,::1
http_proxy=$HTTP_PROXY https_proxy=$HTTP_PROXY no_proxy=$NO_PROXY NODE_USE_ENV_PROXY=1
export HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy NODE_USE_ENV_PROXY
exec "$@"
`

/** Starts processes in cages of their own, each by the policy that it is given; by bubblewrap, which must be there. */
export function cagedStart(bubblewrap: string, policyFor: (asked: CageAsked) => CagePolicy): StartProcess {
  return (command, options) => {
    const { env, cwd, handed, writable = [] } = options
    const [name, args] = 'shell' in command ? ['sh', ['-c', command.shell]] : [command.program, command.args]
    const program = resolveProgram(name, args, { env })
    // What is not there now must not be found without a cage a moment later.
    if ('reason' in program) return notStarted(program)
    try {
      const policy = policyFor({ program: program.program, handed, writable })
      const hosts = new HostList(policy.hosts)
      const folder = makeFolder(env)
      const refusals = new RefusalReader(policy, { cwd, home: env['HOME'] }, (action) =>
        options.onCaged?.(action),
      )
      const more: MoreStream[] = [
        { file: join(folder.path, 'arguments') },
        { file: join(folder.path, 'seccomp') },
      ]
      if (!hosts.isEmpty)
        more.push({
          take: (stream) => serveWayOut(stream, { hosts, env, onRefused: refuse(policy, refusals) }),
        })
      writeArguments(policy, folder, cwd)
      const running = startCage(
        {
          program: bubblewrap,
          args: [
            '--args',
            '3',
            '--seccomp',
            '4',
            '--',
            ...wayOutBefore(hosts),
            program.program,
            ...program.args,
          ],
        },
        {
          ...options,
          env: environmentIn(env, policy),
          more,
          isCage: true,
          onOutput: (chunk, stream) => {
            refusals.push(chunk, stream)
            return options.onOutput(chunk, stream)
          },
        },
      )
      return ending(running, async () => {
        refusals.end()
        await rm(folder.path, { recursive: true, force: true, maxRetries: 2 }).catch(() => undefined)
      })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return notStarted({ reason: `the sandbox could not be made: ${reason}`, missing: false })
    }
  }
}

/** What stands before the program where it may reach hosts. */
function wayOutBefore(hosts: HostList): readonly string[] {
  if (hosts.isEmpty) return []
  const script = fileURLToPath(builtFile('cage-inside.cjs'))
  return ['/bin/sh', '-c', WITH_NETWORK, 'ralph', process.execPath, script, hosts.ownPorts.join(',')]
}

function refuse(policy: CagePolicy, refusals: RefusalReader): (host: string, port: number) => void {
  return (host, port) => {
    const entry = port === 443 || port === 80 ? host : `${host}:${port}`
    refusals.refused({
      action: 'connect',
      target: `${host}:${port}`,
      allowedBy: `sandbox.${policy.hostsKey}: ${JSON.stringify(entry)}`,
    })
  }
}

function makeFolder(env: Environment): CageFolder {
  const folder = cageFolder(makePrivateFolder('cage', env))
  mkdirSync(folder.temp, { mode: 0o700 })
  writeFileSync(folder.empty, '', { mode: 0o444 })
  closeSync(openSync(folder.closed, 'w', 0o000))
  return folder
}

function writeArguments(policy: CagePolicy, folder: CageFolder, cwd: string): void {
  const filter = seccompFilter()
  if (filter === null) throw new Error('this processor is not known to it')
  writeFileSync(join(folder.path, 'seccomp'), filter)
  const rules: readonly Rule[] = [...policy.rules, ...layOutHomes(policy, folder.path)]
  const args = [...NAMESPACES, ...mountArguments(rules, folder), '--chdir', cwd]
  const file = openSync(join(folder.path, 'arguments'), 'w', 0o600)
  writeSync(file, args.join('\0') + '\0')
  closeSync(file)
}

const PROXIES = /^(?:https?|all|no|ftp)_proxy$/i

function environmentIn(env: Environment, policy: CagePolicy): Environment {
  const kept = Object.entries(env).filter(([name]) => !PROXIES.test(name) && !policy.isHidden(name))
  return { ...Object.fromEntries(kept), TMPDIR: '/tmp', TMP: undefined, TEMP: undefined, ...policy.env }
}

function notStarted(failure: { readonly reason: string; readonly missing: boolean }): Running {
  return {
    finished: Promise.resolve<ProcessEnd>({ kind: 'not-started', ...failure }),
    pid: undefined,
    state: 'stopped',
    end: () => undefined,
  }
}

async function endOf(running: Running, after: () => Promise<void>): Promise<ProcessEnd> {
  try {
    return await running.finished
  } finally {
    await after()
  }
}

/** A process with something to be done once nothing of it is left. */
function ending(running: Running, after: () => Promise<void>): Running {
  const finished = endOf(running, after)
  return {
    finished,
    pid: running.pid,
    get state() {
      return running.state
    },
    end: (mode) => running.end(mode),
  }
}
