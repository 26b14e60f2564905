import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { isRalphIgnore, ralphIgnore } from '../base/ralph-folder.ts'

/** The places in `.ralph/` for what is not history. */
export interface RunFolder {
  /** The project's root. */
  readonly root: string
  readonly path: string
  readonly lock: string
  /** The socket of a running run, beside the lock. */
  readonly control: string
  /** The state for observers; in another folder if another tool keeps a `state.json` here. */
  readonly state: string
  /** What a run has under way. */
  readonly note: string
  /** What a planning has under way. */
  readonly plan: string
  readonly logs: string
  readonly results: string
  /** The repository's own list of ignored files, and the top of its checkout. */
  readonly exclude: { readonly file: string; readonly top: string } | null
}

/**
 * Names the places of `.ralph/` without making them. The lock is the checkout's, whose top may be above the project: two
 * packages of one repository cannot be worked on at once in one tree.
 */
export function runFolder(
  root: string,
  checkout: { readonly root: string; readonly commonDir: string } | null = null,
): RunFolder {
  const path = join(root, '.ralph')
  const inside = (name: string): string => join(path, name)
  const ofCheckout = join(checkout?.root ?? root, '.ralph')
  return {
    root,
    path,
    lock: join(ofCheckout, 'lock'),
    control: join(ofCheckout, 'control.sock'),
    state: inside(isStateOurs(path) ? 'state.json' : 'run-state.json'),
    note: inside('run.json'),
    plan: inside('plan.json'),
    logs: inside('logs'),
    results: inside('results'),
    exclude: checkout && { file: join(checkout.commonDir, 'info/exclude'), top: checkout.root },
  }
}

/** Whether there is no `state.json`, or one that ralph has made: another tool's file is never overwritten. */
function isStateOurs(folder: string): boolean {
  const file = join(folder, 'state.json')
  if (!existsSync(file)) return true
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof read !== 'object' || read === null) return false
    // The first version of ralph wrote a number there; other tools write a text.
    return ('written_by' in read && read.written_by === 'ralph') || ('version' in read && read.version === 1)
  } catch {
    return false
  }
}

/** Makes the folder, with a `.gitignore` for ralph's own files. */
export function makeRunFolder(folder: RunFolder): void {
  for (const path of [folder.logs, folder.results, dirname(folder.lock)]) mkdirSync(path, { recursive: true })
  for (const path of new Set([folder.path, dirname(folder.lock)])) ignoreOwn(path, folder.exclude)
}

/** If another tool has a `.gitignore` there, uses the repository's own list, which is in no commit. */
function ignoreOwn(path: string, exclude: RunFolder['exclude']): void {
  const file = join(path, '.gitignore')
  const wanted = ralphIgnore(isStateOurs(path))
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null
  if (before === wanted) return
  if (before === null || isRalphIgnore(before)) return writeFileSync(file, wanted)
  if (exclude === null) return
  const inTop = relative(exclude.top, path).split(sep).join('/')
  const lines = wanted.split('\n').filter((line) => line.startsWith('/') && line !== '/.gitignore')
  const list = existsSync(exclude.file) ? readFileSync(exclude.file, 'utf8') : ''
  const missing = lines.map((line) => `/${inTop}${line}`).filter((line) => !list.split('\n').includes(line))
  if (missing.length === 0) return
  mkdirSync(dirname(exclude.file), { recursive: true })
  appendFileSync(exclude.file, `${list === '' || list.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`)
}
