import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileNamesIn } from '../base/folder.ts'
import { openReadingGit } from '../git/door.ts'
import { refPlaces } from '../git/refs.ts'
import { findRepository, type Repository } from '../git/repository.ts'
import { DISCIPLINES, FEATURES } from '../prompt/library.ts'
import type { Place } from './project.ts'

/** A stored answer, and the state of the files that it was made from. */
interface Answer {
  readonly stamp: string
  readonly at: number
  readonly text: string
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
    { place, now }: { readonly place: Pick<Place, 'root' | 'dir'>; readonly now: Date },
    make: () => Promise<string>,
  ): Promise<string> {
    const repository = await this.#repositoryOf(place.root)
    // There may be a repository the next time.
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

/** Files that change with every commit, every ref that ralph reads, and every fetch. */
function repositoryFiles({ gitDir, commonDir }: Repository): readonly string[] {
  return [join(gitDir, 'HEAD'), join(gitDir, 'FETCH_HEAD'), ...refPlaces(commonDir)]
}

/** Name, size and time of each file, and the latest time. */
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
