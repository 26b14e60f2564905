import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where `.ralph/` keeps what is not history. */
export interface RunFolder {
  readonly path: string
  readonly lock: string
  readonly state: string
  readonly inFlight: string
  readonly logs: string
  readonly results: string
}

/** Names the places of `.ralph/` without making them. */
export function runFolder(root: string): RunFolder {
  const path = join(root, '.ralph')
  const inside = (name: string): string => join(path, name)
  return {
    path,
    lock: inside('lock'),
    state: inside('state.json'),
    inFlight: inside('run.json'),
    logs: inside('logs'),
    results: inside('results'),
  }
}

/** Makes the folder, which ignores itself, so that nobody need know of it. */
export function makeRunFolder(folder: RunFolder): void {
  for (const path of [folder.logs, folder.results]) mkdirSync(path, { recursive: true })
  const ignore = join(folder.path, '.gitignore')
  if (!existsSync(ignore)) writeFileSync(ignore, '*\n')
}
