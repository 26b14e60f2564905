import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileNamesIn } from '../base/folder.ts'
import { openReadingGit } from '../git/door.ts'
import { refPlaces } from '../git/refs.ts'
import { findRepository, type Repository } from '../git/repository.ts'
import { DISCIPLINES, FEATURES } from '../prompt/library.ts'
import type { Place } from './project.ts'

/** What was answered, and what the files were like then. */
interface Answer {
  readonly stamp: string
  readonly at: number
  readonly text: string
}

/** A file that was written so shortly before may be written again without looking any different. */
const RACY_MS = 2000
/** What nobody sees by these files, a link elsewhere among it, is seen by then. */
const LONGEST_MS = 60_000

/** Remembers answers that are made of the backlog's files and of git, as long as none of these has changed. */
export class Answers {
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #known = new Map<string, Answer>()
  readonly #repositories = new Map<string, Repository>()

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env
  }

  /** The answer to a question; `make` is asked only where it may be another one than before. */
  async to(
    question: string,
    { place, now }: { readonly place: Pick<Place, 'root' | 'dir'>; readonly now: Date },
    make: () => Promise<string>,
  ): Promise<string> {
    const repository = await this.#repositoryOf(place.root)
    // Where there is none there may be one the next time.
    if (!repository) return make()
    const { stamp, newest } = stampOf([...backlogFiles(place), ...repositoryFiles(repository)])
    const known = this.#known.get(question)
    const at = now.getTime()
    if (known?.stamp === stamp && at - known.at < LONGEST_MS) return known.text
    const text = await make()
    if (newest < at - RACY_MS) this.#known.set(question, { stamp, at, text })
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
function backlogFiles({ root, dir }: Pick<Place, 'root' | 'dir'>): readonly string[] {
  const folders = [...new Set([dir, '.', 'docs', DISCIPLINES, FEATURES])]
  return folders.flatMap((folder) => fileNamesIn(join(root, folder)).map((name) => join(root, folder, name)))
}

/** What changes with every commit, with every ref that ralph reads, and with what is fetched. */
function repositoryFiles({ gitDir, commonDir }: Repository): readonly string[] {
  return [join(gitDir, 'HEAD'), join(gitDir, 'FETCH_HEAD'), ...refPlaces(commonDir)]
}

/** Name, size and time of each, and the last time of them all. */
function stampOf(paths: readonly string[]): { readonly stamp: string; readonly newest: number } {
  const parts: string[] = []
  let newest = 0
  for (const path of paths) {
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) continue
    parts.push(`${path} ${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`)
    newest = Math.max(newest, found.mtimeMs, found.ctimeMs)
  }
  return { stamp: parts.join('\n'), newest }
}
