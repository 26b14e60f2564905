import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Where `.ralph/` keeps what is not history. */
export interface RunFolder {
  readonly path: string
  readonly lock: string
  readonly state: string
  readonly inFlight: string
  /** What git ignored when the run began, for the one that may have to go on. */
  readonly ignored: string
  readonly logs: string
  readonly results: string
}

/**
 * Names the places of `.ralph/` without making them. The lock is the checkout's, whose top may lie above the project: two
 * packages of one repository cannot be worked on at once in one tree.
 */
export function runFolder(root: string, checkout: string = root): RunFolder {
  const path = join(root, '.ralph')
  const inside = (name: string): string => join(path, name)
  return {
    path,
    lock: join(checkout, '.ralph', 'lock'),
    state: inside('state.json'),
    inFlight: inside('run.json'),
    ignored: inside('ignored'),
    logs: inside('logs'),
    results: inside('results'),
  }
}

/** Makes the folder, which ignores itself, so that nobody need know of it. */
export function makeRunFolder(folder: RunFolder): void {
  for (const path of [folder.logs, folder.results, dirname(folder.lock)]) mkdirSync(path, { recursive: true })
  for (const path of new Set([folder.path, dirname(folder.lock)])) {
    const ignore = join(path, '.gitignore')
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n')
  }
}
