import { mkdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtFile } from '../../base/built-file.ts'
import { Tail } from '../../base/stream.ts'
import type { CagedAction } from '../../base/nouns.ts'
import type { MoreStream, ProcessCommand } from '../launch.ts'
import type { Environment } from '../mark.ts'
import { makePrivateFolder } from '../private-folder.ts'
import { resolveProgram } from '../program.ts'
import { notStarted, startCage, type ProcessEnd, type StartProcess } from '../start.ts'
import { HostList } from './hosts.ts'
import { carryFiles, layOutHomes, type CarriedFile } from './homes.ts'
import { cageFolder, mountArguments, type CageFolder, type CagePolicy } from './mounts.ts'
import { RefusalReader } from './refusals.ts'
import { seccompFilter } from './seccomp.ts'
import { serveWayOut } from './way-out.ts'
import { messageOf } from '../../base/errors.ts'
import { removeOrLeave } from '../../base/remove.ts'

/** The part of a start that a policy may depend on. */
export interface CageRequest {
  /** The program itself. */
  readonly program: string
  readonly readable: string | undefined
  readonly writable: readonly string[]
}

/** Separate namespaces for everything, and an end together with ralph. */
export const NAMESPACES = [
  '--unshare-user',
  '--unshare-ipc',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--die-with-parent',
  // Root keeps capabilities in the namespaces, which could remove the restrictions from inside.
  '--cap-drop',
  'ALL',
]

/** More than any build needs, threads among them, and few enough for the machine to go on. Root has no such limit. */
const MOST_PROCESSES = 4096

/** Becomes the program that follows, with a limit to what it can start: each shell has one of the two options. */
const LIMITED = [
  '/bin/sh',
  '-c',
  `{ ulimit -u ${MOST_PROCESSES} || ulimit -p ${MOST_PROCESSES}; } 2>/dev/null; exec "$@"`,
  'sh',
]

/**
 * Starts the way out, sets the usual proxy variables and then becomes the program. Arguments: Node, the script of the
 * way out, the host's own ports; then the program with its own.
 */
const WITH_NETWORK = `
port=$(NODE_OPTIONS= NODE_EXTRA_CA_CERTS= "$1" "$2" "$3" </dev/null 2>/dev/null &)
exec 5<&- 6<&-
shift 3
HTTP_PROXY=http://127.0.0.1:$port HTTPS_PROXY=http://127.0.0.1:$port NO_PROXY=localhost,127.0.0.1,::1
http_proxy=$HTTP_PROXY https_proxy=$HTTP_PROXY no_proxy=$NO_PROXY NODE_USE_ENV_PROXY=1
YARN_HTTP_PROXY=$HTTP_PROXY YARN_HTTPS_PROXY=$HTTP_PROXY
export HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy NODE_USE_ENV_PROXY
export YARN_HTTP_PROXY YARN_HTTPS_PROXY
exec "$@"
`

/** Makes the function that starts processes in cages, each with its own policy, by bubblewrap. */
export function cagedStart(
  bubblewrap: string,
  policyFor: (request: CageRequest) => CagePolicy,
): StartProcess {
  return (command, options) => {
    const { env, cwd, readable, writable = [], terminal } = options
    const [name, args] = 'shell' in command ? ['sh', ['-c', command.shell]] : [command.program, command.args]
    const program = resolveProgram(name, args, env)
    // If the program is missing now, a later start must not find it without a cage.
    if ('reason' in program) return notStarted(program)
    const folder = makeFolder(env)
    try {
      const policy = policyFor({ program: program.program, readable, writable })
      const hosts = new HostList(policy.hosts)
      const refusals = new RefusalReader(policy, { cwd, home: env['HOME'] }, (action) =>
        options.onCaged?.(action),
      )
      const complaint = new Tail(COMPLAINT_BYTES)
      const refusedHosts = new Set<string>()
      let hasNetwork = false
      const onRequest = (host: string, port: number, isAllowed: boolean): void => {
        if (isAllowed) hasNetwork = true
        else {
          refusedHosts.add(host)
          refusals.refused(refusedHost(policy, host, port))
        }
      }
      const carried = writeFiles(policy, folder, cwd)
      const inside = [...LIMITED, ...wayOutBefore(hosts), program.program, ...program.args]
      const running = startCage(
        terminal ? besideTerminal(bubblewrap, inside) : { program: bubblewrap, args: [...FILES, ...inside] },
        {
          ...options,
          env: environmentIn(env, policy),
          more: streamsOf(folder, { hosts, env, onRequest }),
          isCage: true,
          onOutput(chunk, stream) {
            refusals.push(chunk, stream)
            // A terminal has one stream for both.
            if (stream === 'stderr' || terminal) complaint.push(chunk)
            return options.onOutput(chunk, stream)
          },
        },
      )
      const endCarrying = carryFiles(carried)
      const finish = async (): Promise<ProcessEnd> => {
        try {
          const end = endOf(await running.finished, complaint.text())
          if (end.kind !== 'exited' || hasNetwork || refusedHosts.size === 0) return end
          return { ...end, refusedHosts: [...refusedHosts] }
        } finally {
          refusals.end()
          endCarrying()
          await rm(folder.path, { recursive: true, force: true, maxRetries: 2 }).catch(() => undefined)
        }
      }
      return { finished: finish(), pid: running.pid, end: (mode) => running.end(mode) }
    } catch (error) {
      removeOrLeave(folder.path)
      return notStarted({ reason: `${NOT_MADE}: ${messageOf(error)}`, missing: false })
    }
  }
}

const NOT_MADE = 'the sandbox could not be made'
const COMPLAINT_BYTES = 2048

/** The file descriptors of bubblewrap's input: the numbers of `streamsOf`. */
const FILES = ['--args', '3', '--seccomp', '4', '--']

function streamsOf({ path }: CageFolder, way: Parameters<typeof serveWayOut>[1]): readonly MoreStream[] {
  const files = [{ file: join(path, 'arguments') }, { file: join(path, 'seccomp') }]
  if (way.hosts.isEmpty) return files
  return [...files, { take: (stream) => serveWayOut(stream, way) }, { file: join(path, 'way-out.sh') }]
}

/** If bubblewrap itself reports an error, the program has not started. */
function endOf(end: ProcessEnd, complaint: string): ProcessEnd {
  const error = /^bwrap: (.*)\s*$/.exec(complaint)?.[1]
  if (end.kind !== 'exited' || end.code !== 1 || error === undefined) return end
  return { kind: 'not-started', reason: `${NOT_MADE}: ${error}`, missing: false }
}

/**
 * At a terminal Ctrl-C also reaches bubblewrap, which would end with everything inside it: it ignores that, and the
 * program does not, if the system can undo the inherited setting. Programs that control the keys are not affected.
 */
function besideTerminal(bubblewrap: string, inside: readonly string[]): ProcessCommand {
  const args = [bubblewrap, ...FILES, '/bin/sh', '-c', HEARING, 'sh', ...inside]
  return { program: '/bin/sh', args: ['-c', 'trap \'\' INT QUIT; exec "$@"', 'sh', ...args] }
}

const HEARING = `
env --default-signal=INT true 2>/dev/null && exec env --default-signal=INT,QUIT "$@"
exec "$@"
`

/** The command before a program that may reach hosts. */
function wayOutBefore(hosts: HostList): readonly string[] {
  if (hosts.isEmpty) return []
  const script = fileURLToPath(builtFile('cage-inside.cjs'))
  // As a file, so that a list of processes shows the program and not the script.
  return ['/bin/sh', '/proc/self/fd/6', process.execPath, script, hosts.ownPorts.join(',')]
}

function refusedHost({ hostsKey }: CagePolicy, host: string, port: number): CagedAction {
  const target = `${host}:${port}`
  const entry = port === 443 || port === 80 ? host : target
  return { action: 'connect', target, allowedBy: `sandbox.${hostsKey}: ${JSON.stringify(entry)}` }
}

function makeFolder(env: Environment): CageFolder {
  const folder = cageFolder(makePrivateFolder('cage', env))
  for (const made of [folder.temp, folder.cache]) mkdirSync(made, { mode: 0o700 })
  writeFileSync(folder.empty, '', { mode: 0o444 })
  writeFileSync(folder.closed, '', { mode: 0o000 })
  return folder
}

function writeFiles(policy: CagePolicy, folder: CageFolder, cwd: string): readonly CarriedFile[] {
  const filter = seccompFilter()
  if (filter === null) throw new Error('this processor is not known to it')
  writeFileSync(join(folder.path, 'seccomp'), filter)
  writeFileSync(join(folder.path, 'way-out.sh'), WITH_NETWORK)
  const { rules, carried } = layOutHomes(policy, folder.path)
  const args = [...NAMESPACES, ...mountArguments([...policy.rules, ...rules], folder), '--chdir', cwd]
  writeFileSync(join(folder.path, 'arguments'), `${args.join('\0')}\0`, { mode: 0o600 })
  return carried
}

const PROXIES = /^(?:https?|all|no|ftp)_proxy$/i

function environmentIn(env: Environment, policy: CagePolicy): Environment {
  const kept = Object.entries(env).filter(([name]) => !PROXIES.test(name) && !policy.isHidden(name))
  return { ...Object.fromEntries(kept), TMPDIR: '/tmp', TMP: undefined, TEMP: undefined, ...policy.env }
}
