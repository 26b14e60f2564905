import { accessSync, constants, statSync } from 'node:fs'
import { platform } from 'node:os'
import { delimiter, join } from 'node:path'
import { startProcess } from '../base/process.ts'
import { Tail } from '../base/tail.ts'
import type { AgentRequest, Provider } from './port.ts'

type Environment = AgentRequest['env']

/** An agent's program on this machine. */
export interface Installation {
  readonly path: string
  /** As its `--version` says; null where it says none in time. */
  readonly version: string | null
  /** Whether it is the oldest version that is known to work, or a later one; null where that cannot be told. */
  readonly isNewEnough: boolean | null
}

/** Where the program of that name is on PATH; null where it is not. */
export function findOnPath(binary: string, env: Environment): string | null {
  const extensions = platform() === 'win32' ? (env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';') : ['']
  for (const folder of (env['PATH'] ?? env['Path'] ?? '').split(delimiter)) {
    if (folder === '') continue
    for (const extension of extensions) {
      const path = join(folder, binary + extension)
      if (isExecutable(path)) return path
    }
  }
  return null
}

/** The first of these whose program is there; null where none is. One that needs no program is never found. */
export function firstInstalled(providers: readonly Provider[], env: Environment): Provider | null {
  return providers.find(({ binary }) => binary !== null && findOnPath(binary, env) !== null) ?? null
}

/** What is installed of a provider; null where its program is not there, or it needs none. */
export async function installationOf(
  provider: Provider,
  context: { readonly cwd: string; readonly env: Environment; readonly timeoutSeconds?: number },
): Promise<Installation | null> {
  const path = provider.binary === null ? null : findOnPath(provider.binary, context.env)
  if (path === null) return null
  const version = await versionOf(path, context)
  return { path, version, isNewEnough: isNewEnough(version, provider.minimumVersion) }
}

async function versionOf(
  path: string,
  { cwd, env, timeoutSeconds = 10 }: Parameters<typeof installationOf>[1],
): Promise<string | null> {
  const output = new Tail(4096)
  const running = startProcess(
    { program: path, args: ['--version'] },
    { cwd, env, onOutput: (chunk) => output.push(chunk), killAfterSeconds: 1 },
  )
  const timer = setTimeout(() => running.end('now'), timeoutSeconds * 1000)
  await running.finished
  clearTimeout(timer)
  return /\d+(?:\.\d+)+/.exec(output.text())?.[0] ?? null
}

function isNewEnough(version: string | null, minimum: string | null): boolean | null {
  if (minimum === null) return true
  if (version === null) return null
  const [have, need] = [version, minimum].map((text) => text.split('.').map(Number)) as [number[], number[]]
  const place = need.findIndex((part, index) => part !== (have[index] ?? 0))
  return place === -1 || (have[place] ?? 0) > need[place]!
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
