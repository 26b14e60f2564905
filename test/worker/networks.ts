import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'

/** Machines with a network of their own, each with one link to this one. */
export interface Networks {
  /** The address of this machine that all of them reach. */
  readonly host: string
  /** What starts a program on the machine of that number, from 0. */
  readonly on: (machine: number) => readonly string[]
  /** Cuts the link of a machine: what is under way there hears nothing of it. */
  readonly cut: (machine: number) => void
  readonly join: (machine: number) => void
  readonly remove: () => void
}

/** Makes so many, as network namespaces; null where that is not allowed, or not to be had. */
export function makeNetworks(count: number): Networks | null {
  const [name, net] = [`ralph${process.pid}`, process.pid % 250]
  const address = (last: number): string => `10.213.${net}.${last}`
  const space = (machine: number): string => `${name}-${machine}`
  const link = (machine: number): string => `rl${process.pid}-${machine}`
  const bridge = `rl${process.pid}`
  const remove = (): void => {
    for (let machine = 0; machine < count; machine++) tryIp('netns', 'del', space(machine))
    tryIp('link', 'del', bridge)
  }
  try {
    ip('link', 'add', bridge, 'type', 'bridge')
    ip('addr', 'add', `${address(1)}/24`, 'dev', bridge)
    ip('link', 'set', bridge, 'up')
    for (let machine = 0; machine < count; machine++) {
      const inside = ['netns', 'exec', space(machine), 'ip']
      ip('netns', 'add', space(machine))
      ip('link', 'add', link(machine), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space(machine))
      ip('link', 'set', link(machine), 'master', bridge)
      ip('link', 'set', link(machine), 'up')
      ip(...inside, 'addr', 'add', `${address(machine + 2)}/24`, 'dev', 'eth0')
      ip(...inside, 'link', 'set', 'eth0', 'up')
      ip(...inside, 'link', 'set', 'lo', 'up')
    }
  } catch {
    remove()
    return null
  }
  return {
    host: address(1),
    on: (machine) => ['ip', 'netns', 'exec', space(machine)],
    cut: (machine) => ip('link', 'set', link(machine), 'down'),
    join: (machine) => ip('link', 'set', link(machine), 'up'),
    remove,
  }
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: 'ignore' })
}

function tryIp(...args: readonly string[]): void {
  try {
    ip(...args)
  } catch {
    // It was not made.
  }
}

/** Serves the repositories of a folder by git's own protocol, to be pushed to as well. */
export async function serveGit(
  folder: string,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<() => void> {
  const args = ['daemon', '--reuseaddr', '--export-all', '--enable=receive-pack']
  const child = spawn('git', [...args, `--listen=${host}`, `--port=${port}`, `--base-path=${folder}`], {
    stdio: 'ignore',
    detached: true,
  })
  for (;;) {
    const socket = connect({ host, port })
    const [how] = await Promise.race([
      once(socket, 'connect').then(() => ['open']),
      once(socket, 'close').then(() => ['closed']),
    ]).catch(() => ['closed'])
    socket.destroy()
    if (how === 'open') break
  }
  return () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }
}
