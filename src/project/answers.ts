import { statSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../base/folder.ts'
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

/** Remembers answers that are made of the backlog's files alone, as long as none of these has changed. */
export class Answers {
  readonly #known = new Map<string, Answer>()

  /** The answer to a question; `make` is asked only where it may be another one than before. */
  async to(
    question: string,
    { place, now }: { readonly place: Pick<Place, 'root' | 'dir'>; readonly now: Date },
    make: () => Promise<string>,
  ): Promise<string> {
    const { stamp, newest } = stampOf(place)
    const known = this.#known.get(question)
    const at = now.getTime()
    if (known?.stamp === stamp && at - known.at < LONGEST_MS) return known.text
    const text = await make()
    if (newest < at - RACY_MS) this.#known.set(question, { stamp, at, text })
    else this.#known.delete(question)
    return text
  }
}

/** Name, size and time of each file that the overviews read. */
function stampOf({ root, dir }: Pick<Place, 'root' | 'dir'>): {
  readonly stamp: string
  readonly newest: number
} {
  const parts: string[] = []
  let newest = 0
  for (const folder of new Set([dir, '.', 'docs', DISCIPLINES, FEATURES])) {
    for (const name of namesIn(join(root, folder))) {
      const found = statSync(join(root, folder, name), { throwIfNoEntry: false })
      if (!found?.isFile()) continue
      parts.push(`${folder}/${name} ${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`)
      newest = Math.max(newest, found.mtimeMs, found.ctimeMs)
    }
  }
  return { stamp: parts.join('\n'), newest }
}
