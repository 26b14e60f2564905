import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Refs } from '../git/refs.ts'
import type { Interference } from '../events/interference.ts'
import type { Run } from '../run/run.ts'

const OURS = 'refs/ralph/'
const STRAY = 'refs/ralph/stray/'

/**
 * What an agent did to branches, tags, stashes and kept attempts. What it deleted is made again, since its commits
 * could be lost; what it put among the attempts is moved out of their way; the rest is only told. Where the repository
 * has more worktrees, attempts at other tasks may be those of a run there, and are left.
 */
export async function guardRefs(
  run: Run,
  { task, branch, stamp }: { readonly task: string; readonly branch: string | null; readonly stamp: string },
): Promise<readonly Interference[]> {
  const { workspace } = run.ports
  if (workspace.refsStamp() === stamp) return []
  const now = new Map(await workspace.refs())
  const before = new Map(run.refs)
  // What became of the branch that the task is worked on is seen, and undone, with HEAD.
  for (const refs of [now, before]) refs.delete(`refs/heads/${branch ?? ''}`)
  if (existsSync(join(run.ports.repository.commonDir, 'worktrees'))) {
    for (const [ref, hash] of now) if (!before.has(ref) && isAtAnother(ref, task)) before.set(ref, hash)
  }
  const change = changeOf(before, now)
  if (change.make.size + change.take.size > 0) {
    await workspace.changeRefs(change)
    run.ports.checkpoint('refs-restored')
  }
  run.refs = new Map([...now].filter(([ref]) => !change.take.has(ref)).concat([...change.make]))
  const deleted = [...before.keys()].filter((ref) => !now.has(ref))
  const moved = [...before].filter(([ref, hash]) => now.has(ref) && now.get(ref) !== hash)
  const made = [...now.keys()].filter((ref) => !before.has(ref))
  return [
    ...(deleted.length > 0 ? [{ kind: 'refs-deleted', refs: deleted } as const] : []),
    ...(moved.length > 0
      ? [
          {
            kind: 'refs-moved',
            refs: moved.map(([ref, hash]) => `${ref} (was ${hash.slice(0, 10)})`),
          } as const,
        ]
      : []),
    ...(made.length > 0 ? [{ kind: 'refs-made', refs: made } as const] : []),
  ]
}

function isAtAnother(ref: string, task: string): boolean {
  return ref.startsWith(OURS) && !ref.startsWith(`${OURS}attempts/${task}/`)
}

function changeOf(before: Refs, now: Refs): { readonly make: Refs; readonly take: Refs } {
  const make = new Map([...before].filter(([ref]) => !now.has(ref)))
  const take = new Map<string, string>()
  for (const [ref, hash] of now) {
    if (!ref.startsWith(OURS) || ref.startsWith(STRAY) || before.get(ref) === hash) continue
    take.set(ref, hash)
    make.set(`${STRAY}${hash.slice(0, 10)}/${ref.slice(OURS.length)}`, hash)
    const own = before.get(ref)
    if (own !== undefined) make.set(ref, own)
  }
  return { make, take }
}
