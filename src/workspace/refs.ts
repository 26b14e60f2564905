import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Interference } from '../events/interference.ts'
import { GitError, type Git } from '../git/git.ts'
import { changeRefs, listRefs, refsStamp, type Refs } from '../git/refs.ts'

const OURS = 'refs/ralph/'
const STRAY = 'refs/ralph/stray/'

/** Branches, tags, stashes, replacements and ralph's own refs, as they were when ralph last changed them. */
export class KnownRefs {
  readonly #git: Git
  readonly #commonDir: string
  #known: Refs = new Map()
  /** The commits that they named when an agent began. */
  #begun: readonly string[] = []

  constructor(git: Git, commonDir: string) {
    this.#git = git
    this.#commonDir = commonDir
  }

  /** Notes all refs that there are. */
  async note(): Promise<void> {
    this.#known = await listRefs(this.#git)
  }

  /** The refs as noted. */
  get known(): Refs {
    return this.#known
  }

  /** Takes the refs that a run noted, before it died, when an agent began. */
  adopt(refs: Refs): void {
    this.#known = refs
  }

  /** Keeps commits that no ref names any more, without restoring a branch that a person may have deleted. */
  async keepDeleted(): Promise<readonly Interference[]> {
    const now = await listRefs(this.#git)
    const deleted = [...this.#known].filter(([ref]) => !now.has(ref))
    const strays = deleted.map(([ref, hash]) => [strayOf(hash, ref.slice('refs/'.length)), hash] as const)
    const missing = new Map(strays.filter(([ref]) => !now.has(ref)))
    if (missing.size > 0) await changeRefs(this.#git, { make: missing, take: new Map() })
    this.#known = new Map([...now, ...missing])
    return missing.size === 0 ? [] : [{ kind: 'refs-deleted', refs: [...missing.keys()] }]
  }

  /** Notes that ralph itself made or removed a ref. */
  set(ref: string, hash: string | null): void {
    const known = new Map(this.#known)
    if (hash === null) known.delete(ref)
    else known.set(ref, hash)
    this.#known = known
  }

  /** Notes that an agent begins; returns a text that differs once any ref has changed. */
  begin(): string {
    this.#begun = [...new Set(this.#known.values())]
    return this.stamp()
  }

  /** The commits that the refs named when it began. */
  get begun(): readonly string[] {
    return this.#begun
  }

  stamp(): string {
    return refsStamp(this.#commonDir)
  }

  /**
   * Undoes what an agent did to refs. A deleted ref is made again, since its commits could be lost; a ref among ralph's
   * own is moved elsewhere, and a replacement of an object is removed; the rest is only reported. If the
   * repository has more worktrees, refs of attempts at other tasks may belong to a run there, and stay.
   */
  async putBack(attempt: {
    readonly task: string
    readonly branch: string | null
  }): Promise<readonly Interference[]> {
    const now = new Map(await listRefs(this.#git))
    const before = new Map(this.#known)
    // Changes to the branch of the task are seen, and undone, together with HEAD.
    for (const refs of [now, before]) refs.delete(`refs/heads/${attempt.branch ?? ''}`)
    if (existsSync(join(this.#commonDir, 'worktrees'))) {
      for (const [ref, hash] of now)
        if (!before.has(ref) && isAtAnother(ref, attempt.task)) before.set(ref, hash)
    }
    const change = changeOf(before, now)
    if (change.make.size + change.take.size > 0) await this.#apply(change)
    this.#known = new Map([...now].filter(([ref]) => !change.take.has(ref)).concat([...change.make]))
    return interferenceIn(before, now)
  }

  /** Applies all changes at once; if one fails, for example because a branch has the name of its folder, each by itself. */
  async #apply(change: { readonly make: Refs; readonly take: Refs }): Promise<void> {
    try {
      await changeRefs(this.#git, change)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      for (const [ref, hash] of change.make) {
        const take = new Map([...change.take].filter(([other]) => other === ref))
        await changeRefs(this.#git, { make: new Map([[ref, hash]]), take }).catch(() =>
          changeRefs(this.#git, {
            make: new Map([[strayOf(hash, ref.slice('refs/'.length)), hash]]),
            take: new Map(),
          }),
        )
      }
    }
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
    make.set(strayOf(hash, isOurs ? ref.slice(OURS.length) : ref.slice('refs/'.length)), hash)
    if (own !== undefined) make.set(ref, own)
  }
  return { make, take }
}

function strayOf(hash: string, name: string): string {
  return `${STRAY}${hash.slice(0, 10)}/${name}`
}
