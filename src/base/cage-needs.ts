import { homedir } from 'node:os'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** A folder in which an agent keeps its state: in a cage it finds a copy, but for what it needs to keep. */
export interface AgentHome {
  readonly folder: string
  /** What is written for good: folders, which are made where they are missing, and files (with an ending) that are there. */
  readonly keeps: readonly string[]
}

/** What an agent's program needs of a machine to work in a cage. */
export interface CageNeeds {
  /** Its own service. */
  readonly hosts: readonly string[]
  readonly homes: readonly AgentHome[]
  /** Files of its own elsewhere, which it finds as copies too. */
  readonly files: readonly string[]
  /** Variables that hold its own keys; `all` for one that speaks to any service. */
  readonly variables: readonly string[] | 'all'
  /** Files with its own keys, which every other agent is kept from. */
  readonly keys: readonly string[]
}

/** What a program needs of which nothing is known. */
export const NO_NEEDS: CageNeeds = { hosts: [], homes: [], files: [], variables: [], keys: [] }

/** A folder of the home, or where a variable says instead. */
export function homeOf(env: Environment, folder: string, named?: string): string {
  return named ?? join(env['HOME'] ?? homedir(), folder)
}

/** The host of a service that a variable names, as an entry of a list of hosts; none where it names none. */
export function hostsNamedIn(...urls: readonly (string | undefined)[]): readonly string[] {
  return urls.flatMap((url) => {
    if (url === undefined || !URL.canParse(url)) return []
    const { hostname, port, protocol } = new URL(url)
    const usual = protocol === 'http:' ? '80' : '443'
    return [`${hostname}:${port === '' ? usual : port}`]
  })
}
