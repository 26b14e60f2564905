import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import type { Interference } from '../events/interference.ts'
import { foldersBelow, refPlaces } from '../git/refs.ts'
import { sleep } from '../process/sleep.ts'
import type { AfterKill, Guard } from './port.ts'
import type { WorkspaceState } from './state.ts'
import {
  changedSettings,
  readSettings,
  restoreSettings,
  type Settings,
  type SettingsPlaces,
} from './settings.ts'

/** Notes what an agent may not change: in memory, and on disk for a run that resumes after this one. */
export function guard(state: WorkspaceState): Guard {
  const { own, places, refs } = state
  const settings = places && readSettings(places)
  const stamp = refs.begin()
  const index = own.remember()
  const held = new Set(locksIn(state))
  if (places && settings) writeNote(state, { places, settings, refs: refs.known })
  return {
    async release({ task, branch, keepIn }) {
      const changed = places && settings ? restoreSettings(settings, places, { keepIn }) : []
      // All processes that the agent started are dead by now.
      await moveLocks(
        locksIn(state).filter((lock) => !held.has(lock)),
        keepIn,
      )
      // Nobody but ralph writes its index.
      index.restore()
      const ofRefs = refs.stamp() === stamp ? [] : await refs.putBack({ task, branch })
      removeNote(state)
      return [...ofSettings(changed, keepIn), ...ofRefs]
    },
  }
}

function ofSettings(paths: readonly string[], keptIn: string): readonly Interference[] {
  return paths.length > 0 ? [{ kind: 'git-settings', paths, keptIn }] : []
}

/** Does what a release does, from the note of a run that died while an agent was at work. */
export async function afterKill(
  state: WorkspaceState,
  { task, branch, keepIn, until }: Parameters<AfterKill>[0],
): ReturnType<AfterKill> {
  const note = readNote(state)
  if (!note) return { found: [], left: [] }
  const { places, settings } = note
  const isLater = (path: string): boolean => until !== null && changedAt(path) > until.getTime()
  const changed = restoreSettings(settings, places, { keepIn, isAnothers: isLater })
  const left = changedSettings(settings, readSettings(places))
  state.own.takeFrom(indexOf(state))
  state.refs.adopt(note.refs)
  const areRefsLater = refPlaces(state.repository.commonDir).some(isLater)
  const ofRefs = areRefsLater ? await state.refs.keepDeleted() : await state.refs.putBack({ task, branch })
  removeNote(state)
  return { found: [...ofSettings(changed, keepIn), ...ofRefs], left }
}

/** When a file was last written or removed. */
function changedAt(path: string): number {
  const stats =
    lstatSync(path, { throwIfNoEntry: false }) ?? statSync(dirname(path), { throwIfNoEntry: false })
  return stats?.ctimeMs ?? 0
}

/** What is noted while an agent is at work. */
interface Note {
  readonly places: SettingsPlaces
  readonly settings: Settings
  readonly refs: ReadonlyMap<string, string>
}

const noteOf = ({ repository }: WorkspaceState): string => join(repository.gitDir, 'ralph-guard.json')
const indexOf = ({ repository }: WorkspaceState): string => join(repository.gitDir, 'ralph-guard-index')

function writeNote(state: WorkspaceState, { places, settings, refs }: Note): void {
  const files = [...settings.files].map(([path, { bytes, ...more }]) => [
    path,
    { ...more, bytes: bytes.toString('base64') },
  ])
  const text = JSON.stringify({
    version: 1,
    places: { ...places, trackedHooks: [...places.trackedHooks] },
    settings: { ...settings, files, folders: [...settings.folders] },
    refs: [...refs],
  })
  state.own.keepAs(indexOf(state))
  writeFileAtomic(noteOf(state), text)
}

function readNote(state: WorkspaceState): Note | null {
  try {
    const read: unknown = JSON.parse(readFileSync(noteOf(state), 'utf8'))
    if (!isNote(read)) return null
    const { places, settings, refs } = read
    const files = settings.files.map(([path, { bytes, ...more }]): [string, Filed] => [
      path,
      { ...more, bytes: Buffer.from(bytes, 'base64') },
    ])
    return {
      places: { ...places, trackedHooks: new Set(places.trackedHooks) },
      settings: { ...settings, files: new Map(files), folders: new Map(settings.folders) },
      refs: new Map(refs),
    }
  } catch {
    return null
  }
}

type Filed = Settings['files'] extends ReadonlyMap<string, infer File> ? File : never

interface WrittenNote {
  readonly places: Omit<SettingsPlaces, 'trackedHooks'> & { readonly trackedHooks: readonly string[] }
  readonly settings: Omit<Settings, 'files' | 'folders'> & {
    readonly files: readonly (readonly [string, Omit<Filed, 'bytes'> & { readonly bytes: string }])[]
    readonly folders: readonly (readonly [string, string | null])[]
  }
  readonly refs: readonly (readonly [string, string])[]
}

function isNote(read: unknown): read is WrittenNote {
  return typeof read === 'object' && read !== null && 'version' in read && read.version === 1
}

function removeNote(state: WorkspaceState): void {
  for (const path of [noteOf(state), indexOf(state)]) rmSync(path, { force: true })
}

/** How long the git that holds a lock may still need: it may have outlived the process that started it. */
const PATIENCE_MS = 2000

/** Moves locks of gits that are dead now, because they would stop every later git. Moves rather than removes them. */
export async function moveLocks(locks: readonly string[], keepIn: string): Promise<readonly string[]> {
  const moved: string[] = []
  for (const lock of locks) {
    for (let waited = 0; waited < PATIENCE_MS && existsSync(lock); waited += 100) await sleep(100)
    if (!existsSync(lock)) continue
    mkdirSync(keepIn, { recursive: true })
    renameSync(lock, join(keepIn, basename(lock)))
    moved.push(lock)
  }
  return moved
}

export function locksIn({ repository: { gitDir, commonDir } }: WorkspaceState): readonly string[] {
  const single = [
    join(gitDir, 'index.lock'),
    join(gitDir, 'ralph-index.lock'),
    join(gitDir, 'HEAD.lock'),
    join(commonDir, 'packed-refs.lock'),
  ]
  const refs = foldersBelow(join(commonDir, 'refs')).flatMap((folder) =>
    readdirSync(folder).flatMap((name) => (name.endsWith('.lock') ? [join(folder, name)] : [])),
  )
  return [...single.filter((path) => existsSync(path)), ...refs]
}
