import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { contentsOf } from '../git/contents.ts'
import type { Git } from '../git/git.ts'
import type { Range } from '../git/range.ts'
import { filesIn, type TreeEntry } from '../git/tree.ts'
import { ownText } from '../backlog/plain-words.ts'
import type { TaskIds, TaskNumber } from '../backlog/ids.ts'
import type { TaskFolders } from '../backlog/task-folders.ts'
import type { FactName, Facts, Task, TaskName } from '../backlog/model.ts'
import { inOrder } from '../backlog/order.ts'
import { parseTask, unreadableTask } from '../backlog/parse.ts'
import { factsScanner } from '../backlog/head-reader.ts'
import { factsOf, taskNames } from '../backlog/read.ts'
import { readTaskBytes, type Unreadable } from '../backlog/task-files.ts'
import type { TaskVocabulary } from '../backlog/vocabulary.ts'

/** A task file at one time: its content is identified by git's hash of it. */
interface TaskVersion extends TaskName {
  readonly blob: string
}

/** Where task files are, and their vocabulary. */
export interface BacklogPlace {
  readonly root: string
  readonly folders: TaskFolders
  readonly vocabulary: TaskVocabulary
}

type Versions = readonly TaskVersion[]
type Contents = Map<string, string | Unreadable>

/** The task files at both ends of a range, and their contents. */
export type BacklogVersions = Awaited<ReturnType<typeof readVersions>>

/** Reads the task files at both ends of a range from git's objects, each content once, without a checkout. */
export async function readVersions(git: Git, range: Range, place: BacklogPlace) {
  const { from, to } = range
  const { folders, vocabulary } = place
  const onDisk: Contents = new Map()
  const [old, recent] = await Promise.all([
    versionsAt(git, from, folders),
    to === null ? versionsOnDisk(place, from.length, onDisk) : versionsAt(git, to, folders),
  ])
  const before = await withMoved(git, range, { folders, old, recent })
  const names = [...before, ...recent].map(({ blob }) => blob).filter((blob) => !onDisk.has(blob))
  // Strings would fill the engine's heap; these bytes are outside of it.
  const blobs = await contentsOf(git, names)
  const bytesOf = ({ blob }: TaskVersion): string | Unreadable => {
    const bytes = blobs.get(blob)
    if (!bytes) return onDisk.get(blob) ?? { problem: 'is not in this clone' }
    return isUtf8(bytes) ? bytes.toString('latin1') : { problem: 'is not UTF-8 text' }
  }
  const read = async (version: TaskVersion): Promise<Task> => {
    const bytes = bytesOf(version)
    if (typeof bytes !== 'string') return unreadableTask(version.file, bytes.problem, vocabulary)
    return parseTask({ file: version.file, text: ownText(bytes) }, vocabulary)
  }
  /** Makes the reader of some facts; for a version in the plainest style, it gives the bytes as well. */
  const reader = <K extends FactName>(names: readonly K[]) => {
    const scan = factsScanner(vocabulary, { facts: names })
    return async (version: TaskVersion): Promise<{ facts: Facts<K>; plain: string | null }> => {
      const bytes = bytesOf(version)
      const plain = typeof bytes === 'string' ? bytes : null
      const facts = plain === null ? null : scan({ ...version, bytes: plain })
      return facts ? { facts, plain } : { facts: factsOf(await read(version)), plain: null }
    }
  }
  return { after: recent, pairs: pairsOf(before, recent), read, reader }
}

async function versionsAt(
  git: Git,
  commit: string,
  { names, includes, ids }: TaskFolders,
): Promise<Versions> {
  const files = await Promise.all(names.map((folder) => filesIn(git, commit, folder)))
  return versionsIn(
    files.flat().filter(({ path }) => includes(path)),
    ids,
  )
}

function versionsIn(files: readonly TreeEntry[], ids: TaskIds): Versions {
  const versions = files.flatMap(({ path, hash: blob }) => {
    const id = ids.inFileName(path.slice(path.lastIndexOf('/') + 1))
    return id === null ? [] : [{ file: path, id, number: ids.numberOf(id), blob }]
  })
  return inOrder(versions)
}

/** The files on disk with the hashes that git would give them, so unchanged files need no git. */
function versionsOnDisk(place: BacklogPlace, nameLength: number, contents: Contents): Versions {
  return taskNames(place).map((name) => {
    const bytes = readTaskBytes(join(place.root, name.file), place.root)
    const blob = typeof bytes === 'string' ? blobName(bytes, nameLength) : `unreadable ${name.file}`
    contents.set(blob, bytes)
    return { ...name, blob }
  })
}

function blobName(bytes: string, length: number): string {
  const hash = createHash(length === 64 ? 'sha256' : 'sha1').update(`blob ${bytes.length}\0`)
  return hash.update(bytes, 'latin1').digest('hex')
}

/** Adds files that were moved into the folder: for a task that seems new, the file of its number that is gone elsewhere. */
async function withMoved(
  git: Git,
  { from, to }: Range,
  { folders, old, recent }: { folders: TaskFolders; old: Versions; recent: Versions },
): Promise<Versions> {
  const known = new Set(old.map(({ number }) => number))
  const news = new Set(recent.map(({ number }) => number).filter((number) => !known.has(number)))
  if (news.size === 0) return old
  const [were, are] = await Promise.all([
    filesIn(git, from, null),
    to === null ? null : filesIn(git, to, null),
  ])
  const left = are && new Set(are.map(({ path }) => path))
  const isGone = ({ file }: TaskVersion): boolean =>
    !(left ? left.has(file) : existsSync(join(git.cwd, file)))
  const moved = versionsIn(were, folders.ids).filter(
    (version) => news.has(version.number) && !folders.includes(version.file) && isGone(version),
  )
  const isOnly = ({ number }: TaskVersion): boolean =>
    moved.filter((one) => one.number === number).length === 1
  return inOrder([...old, ...moved.filter(isOnly)])
}

/** The versions of each task, matched by file, else by number; null before for a new one, and after for a deleted one. */
function pairsOf(old: Versions, recent: Versions) {
  const byFile = new Map(old.map((version) => [version.file, version]))
  const stayed = new Set(recent.flatMap(({ file }) => byFile.get(file) ?? []))
  const left = new Map<TaskNumber, TaskVersion[]>()
  for (const version of old) {
    if (!stayed.has(version)) left.set(version.number, [...(left.get(version.number) ?? []), version])
  }
  const pairs = recent.map((after) => ({
    before: byFile.get(after.file) ?? left.get(after.number)?.shift() ?? null,
    after,
  }))
  const gone = [...left.values()].flat().map((before) => ({ before, after: null }))
  return [...pairs, ...gone]
}
