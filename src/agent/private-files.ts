import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Invocation } from './port.ts'

const PLACEHOLDER = '{folder}'

/** An invocation whose files are written, and how to take them away again. */
export interface Prepared {
  readonly args: readonly string[]
  readonly env: Invocation['env']
  readonly remove: () => void
}

/** Writes an invocation's files into a folder that only this user can read, and puts its path where it is asked for. */
export function writePrivateFiles({ args, env, files }: Invocation): Prepared {
  if (Object.keys(files).length === 0) return { args, env, remove: () => undefined }
  const folder = mkdtempSync(join(tmpdir(), 'ralph-agent-'))
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { mode: 0o600 })
  }
  const place = (text: string) => text.replaceAll(PLACEHOLDER, folder)
  return {
    args: args.map(place),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value && place(value)])),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
