import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Interference } from '../events/interference.ts'
import type { Git } from '../git/git.ts'
import { changeRefs, listRefs, refsStamp, type Refs } from '../git/refs.ts'

const OURS = 'refs/ralph/'
const STRAY = 'refs/ralph/stray/'

/** Branches, tags, stashes, replacements and what ralph keeps, as they were when ralph last had a hand in them. */
export class KnownRefs {
  readonly #git: Git
  readonly #commonDir: string
  #known: Refs = new Map()

  constructor(git: Git, commonDir: string) {
    this.#git = git
    this.#commonDir = commonDir
  }

  /** Notes all that there are. */
  async note(): Promise<void> {
    this.#known = await listRefs(this.#git)
  }

  /** ralph itself has made one, or taken it away. */
  set(ref: string, hash: string | null): void {
    const known = new Map(this.#known)
    if (hash === null) known.delete(ref)
    else known.set(ref, hash)
    this.#known = known
  }

  /** Another text after any of them has changed. */
  stamp(): string {
    return refsStamp(this.#commonDir)
  }

  /**
   * What an agent did to refs. What it deleted is made again, since its commits could be lost; what it put among ralph's
   * own is moved out of their way, and what replaces other objects is taken away; the rest is only reported. Where the
   * repository has more worktrees, attempts at other tasks may be those of a run there, and are left.
   */
  async putBack(attempt: {
    readonly task: string
    readonly branch: string | null
  }): Promise<readonly Interference[]> {
    const now = new Map(await listRefs(this.#git))
    const before = new Map(this.#known)
    // What became of the branch that the task is worked on is seen, and undone, with HEAD.
    for (const refs of [now, before]) refs.delete(`refs/heads/${attempt.branch ?? ''}`)
    if (existsSync(join(this.#commonDir, 'worktrees'))) {
      for (const [ref, hash] of now)
        if (!before.has(ref) && isAtAnother(ref, attempt.task)) before.set(ref, hash)
    }
    const change = changeOf(before, now)
    if (change.make.size + change.take.size > 0) await changeRefs(this.#git, change)
    this.#known = new Map([...now].filter(([ref]) => !change.take.has(ref)).concat([...change.make]))
    return interferenceIn(before, now)
  }
}

function interferenceIn(before: Refs, now: Refs): readonly Interference[] {
  const deleted = [...before.keys()].filter((ref) => !now.has(ref))
  const moved = [...before].filter(([ref, hash]) => now.has(ref) && now.get(ref) !== hash)
  const made = [...now.keys()].filter((ref) => !before.has(ref))
  const all: readonly Interference[] = [
    { kind: 'refs-deleted', refs: deleted },
    { kind: 'refs-moved', refs: moved.map(([ref, hash]) => `${ref} (was ${hash.slice(0, 10)})`) },
    { kind: 'refs-made', refs: made },
  ]
  return all.filter((one) => 'refs' in one && one.refs.length > 0)
}

function isAtAnother(ref: string, task: string): boolean {
  return ref.startsWith(OURS) && !ref.includes(`/${task}/`)
}

function changeOf(before: Refs, now: Refs): { readonly make: Refs; readonly take: Refs } {
  const make = new Map([...before].filter(([ref]) => !now.has(ref)))
  const take = new Map<string, string>()
  for (const [ref, hash] of now) {
    const own = before.get(ref)
    const isOurs = ref.startsWith(OURS) && !ref.startsWith(STRAY)
    if (own === hash || !(isOurs || ref.startsWith('refs/replace/'))) continue
    take.set(ref, hash)
    make.set(
      `${STRAY}${hash.slice(0, 10)}/${isOurs ? ref.slice(OURS.length) : ref.slice('refs/'.length)}`,
      hash,
    )
    if (own !== undefined) make.set(ref, own)
  }
  return { make, take }
}
