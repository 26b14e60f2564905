import { statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileNamesIn } from '../base/folder.ts'
import { openReadingGit } from '../git/door.ts'
import { refPlaces } from '../git/refs.ts'
import { findRepository, type Repository } from '../git/repository.ts'
import { DISCIPLINES, FEATURES } from '../prompt/library.ts'
import type { Place } from './project.ts'

/** A stored answer, and the state of the files that it was made from. */
interface Answer {
  readonly files: FileStates
  readonly at: number
  readonly text: string
}

/** Which files there are, and inode, size and times of each. They are compared with each call: numbers are fastest. */
interface FileStates {
  readonly paths: string
  readonly states: Float64Array
  readonly newest: number
}

/** A file may be written twice within this time without a visible difference. */
const RACY_MS = 2000
/** Changes that these files do not show, such as another target of a link, are noticed after this time. */
const LONGEST_MS = 60_000

/** Stores answers made from the backlog's files and from git, as long as none of these has changed. */
export class Answers {
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #known = new Map<string, Answer>()
  readonly #repositories = new Map<string, Repository>()

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env
  }

  /** The answer to a question; calls `make` only if it may have changed. */
  async to(
    question: string,
    { place, now }: { readonly place: Pick<Place, 'root' | 'folders'>; readonly now: Date },
    make: () => Promise<string>,
  ): Promise<string> {
    const repository = await this.#repositoryOf(place.root)
    // There may be a repository the next time.
    if (!repository) return make()
    const files = fileStates([...backlogFiles(place), ...repositoryFiles(repository)])
    const known = this.#known.get(question)
    const at = now.getTime()
    if (known && isSame(known.files, files) && at - known.at < LONGEST_MS) return known.text
    const text = await make()
    if (files.newest < at - RACY_MS) this.#known.set(question, { files, at, text })
    else this.#known.delete(question)
    return text
  }

  async #repositoryOf(root: string): Promise<Repository | null> {
    const known = this.#repositories.get(root)
    if (known) return known
    const found = await findRepository(openReadingGit({ cwd: root, env: this.#env }))
    if (found) this.#repositories.set(root, found)
    return found
  }
}

/** The files that the overviews read. */
function backlogFiles({ root, folders }: Pick<Place, 'root' | 'folders'>): readonly string[] {
  const looked = new Set([...folders.names, '.', 'docs', DISCIPLINES, FEATURES])
  return [...looked].flatMap((folder) => {
    const path = join(root, folder)
    return fileNamesIn(path).map((name) => path + sep + name)
  })
}

/** Files that change with every commit, every ref that ralph reads, and every fetch. */
function repositoryFiles({ gitDir, commonDir }: Repository): readonly string[] {
  return [join(gitDir, 'HEAD'), join(gitDir, 'FETCH_HEAD'), ...refPlaces(commonDir)]
}

function fileStates(paths: readonly string[]): FileStates {
  const states = new Float64Array(paths.length * 4)
  let [at, newest] = [0, 0]
  for (const path of paths) {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path, { throwIfNoEntry: false }) ?? NO_FILE
    states[at++] = ino
    states[at++] = size
    states[at++] = mtimeMs
    states[at++] = ctimeMs
    newest = Math.max(newest, mtimeMs, ctimeMs)
  }
  return { paths: paths.join('\n'), states, newest }
}

const NO_FILE = { ino: 0, size: 0, mtimeMs: 0, ctimeMs: 0 }

function isSame(one: FileStates, other: FileStates): boolean {
  return one.paths === other.paths && Buffer.compare(bytesOf(one), bytesOf(other)) === 0
}

function bytesOf({ states }: FileStates): Uint8Array {
  return new Uint8Array(states.buffer)
}
