import { homedir } from 'node:os'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** A folder with an agent's state: a cage has a copy of it, except for what it needs to keep. */
export interface AgentHome {
  readonly folder: string
  /** Entries whose changes stay: folders, which are created if missing, and existing small files (with an ending). */
  readonly keeps: readonly string[]
}

/** What an agent's program needs from a machine to work in a cage. */
export interface CageNeeds {
  /** Its own service. */
  readonly hosts: readonly string[]
  readonly homes: readonly AgentHome[]
  /** Its other files, which are copied too. */
  readonly files: readonly string[]
  /** Variables with its own keys; `all` for one that supports any service. */
  readonly variables: readonly string[] | 'all'
  /** Files with its own keys, which all other agents cannot read. */
  readonly keys: readonly string[]
}

/** The needs of an unknown program. */
export const NO_NEEDS: CageNeeds = { hosts: [], homes: [], files: [], variables: [], keys: [] }

/** A folder of the home, or the one that a variable names. */
export function homeOf(env: Environment, folder: string, named?: string): string {
  return named ?? join(env['HOME'] ?? homedir(), folder)
}

/** The hosts of services that variables name, as entries of a list of hosts. */
export function hostsNamedIn(...urls: readonly (string | undefined)[]): readonly string[] {
  return urls.flatMap((url) => {
    if (url === undefined || !URL.canParse(url)) return []
    const { hostname, port, protocol } = new URL(url)
    const usual = protocol === 'http:' ? '80' : '443'
    return [`${hostname}:${port === '' ? usual : port}`]
  })
}
