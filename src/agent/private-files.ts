import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { isAlive } from '../process/table.ts'
import { FOLDER, type AgentRequest, type Invocation } from './port.ts'

/** An invocation whose files are written, and how to take them away again. */
export interface PreparedFiles {
  readonly args: readonly string[]
  readonly env: Invocation['env']
  /** Where what goes to its standard input stands; undefined where nothing does. */
  readonly stdinFile: string | undefined
  readonly remove: () => void
}

/** Writes an invocation's input and files into a folder that only this user can read, and puts its path where it is asked for. */
export function writePrivateFiles(invocation: Invocation, home: AgentRequest['env']): PreparedFiles {
  const { args, env, files, stdin } = invocation
  if (stdin === '' && Object.keys(files).length === 0) {
    return { args, env, stdinFile: undefined, remove: () => undefined }
  }
  const folder = makePrivateFolder(home)
  const remove = (): void => removeOrLeave(folder)
  const write = (name: string, content: string): string => {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }
  const place = (text: string): string => text.replaceAll(FOLDER, () => folder)
  try {
    for (const [name, content] of Object.entries(files)) write(name, content)
    return {
      args: args.map(place),
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value && place(value)])),
      stdinFile: stdin === '' ? undefined : write('stdin', stdin),
      remove,
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** What cannot be removed, as where somebody still has it open, is left to a later sweep: it says nothing of the work. */
function removeOrLeave(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    return
  }
}

/** An empty folder that only this user can open, in the cache folder of the home: no settings below a folder that others can write to, as `/tmp`, are read by Gemini. */
export function makePrivateFolder(home: AgentRequest['env']): string {
  const cache = cacheFolder(home)
  if (cache !== null) {
    try {
      const parent = join(cache, 'ralph')
      mkdirSync(parent, { recursive: true, mode: 0o700 })
      sweep(parent)
      return mkdtempSync(join(parent, `${ownPrefix()}${process.pid}-`))
    } catch {
      // A home that cannot be written to, as in a container.
    }
  }
  return mkdtempSync(join(tmpdir(), 'ralph-agent-'))
}

function cacheFolder(env: AgentRequest['env']): string | null {
  const told = env['XDG_CACHE_HOME']
  if (told !== undefined && isAbsolute(told)) return told
  const home = env['HOME'] ?? env['USERPROFILE']
  return home !== undefined && isAbsolute(home) ? join(home, '.cache') : null
}

/** A home may be shared by machines, whose processes cannot be asked for. */
function ownPrefix(): string {
  return `agent-${hostname()}-`
}

/** Removes what a ralph that died has left. */
function sweep(parent: string): void {
  const prefix = ownPrefix()
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(prefix) ? /^(\d+)-/.exec(name.slice(prefix.length))?.[1] : undefined
    if (pid !== undefined && !isAlive(Number(pid))) removeOrLeave(join(parent, name))
  }
}
