import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Git } from '../git/git.ts'
import { emptyTree } from '../git/range.ts'
import { listCandidates, listRecords } from '../git/record.ts'
import type { CompletionRecord } from './completions.ts'

/** Where the code of a task is to be found: in the commit that completed it, in work that goes on or waits, in an attempt. */
export interface TaskCode {
  readonly kind: 'commit' | 'work' | 'candidate' | 'attempt'
  /** What it stands on. */
  readonly from: string
  /** A commit; null is the checkout. */
  readonly to: string | null
}

/** What is known of a task besides git's records. */
interface TaskPast {
  readonly id: string
  /** The commit that a run under way began its attempt at it from; null where none is. */
  readonly workBase: string | null
  /** Newest first. */
  readonly completions: readonly CompletionRecord[]
}

/** The code of a task: of work under way, else of its commit, else of what waits to land or was tried last; null for none. */
export async function findTaskCode(
  git: Git,
  { id, workBase, completions }: TaskPast,
): Promise<TaskCode | null> {
  if (workBase !== null) return { kind: 'work', from: workBase, to: null }
  const done = completions.find((one) => one.id === id && !one.reverted)
  if (done) return { kind: 'commit', from: await parentOf(git, done.commit), to: done.commit }
  const waiting = (await listCandidates(git)).findLast(({ task }) => task === id)
  if (waiting) return { kind: 'candidate', from: waiting.base, to: waiting.commit }
  const tried = (await listRecords(git, id)).at(-1)
  return tried ? { kind: 'attempt', from: tried.base, to: tried.commit } : null
}

async function parentOf(git: Git, commit: string): Promise<string> {
  const args = ['rev-parse', '--verify', '--quiet', `${commit}^1`]
  const { code, stdout } = await git.run(args, { okCodes: [0, 1, 128] })
  return code === 0 ? stdout.toString().trim() : emptyTree(git)
}

const PATCH = ['diff', '--patch-with-stat', '--no-ext-diff', '--no-textconv']

/** The code as a patch, with how much of each file it changes. */
export async function patchOf(git: Git, { from, to }: TaskCode, colour: boolean): Promise<Buffer> {
  const args = [...PATCH, `--color=${colour ? 'always' : 'never'}`]
  if (to !== null) return (await git.run([...args, from, to])).stdout
  return withCheckoutIndex(git, async (door) => (await door.run([...args, '--cached', from])).stdout)
}

/** Looks at the checkout through an index and objects of our own: neither git's nor a run's is touched. */
async function withCheckoutIndex<T>(git: Git, look: (door: Git) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-diff-'))
  try {
    const { stdout } = await git.run(['rev-parse', '--git-path', 'objects'])
    const door = git.with({
      env: {
        GIT_INDEX_FILE: join(folder, 'index'),
        GIT_OBJECT_DIRECTORY: folder,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: resolve(git.cwd, stdout.toString().trim()),
      },
    })
    await door.run(['read-tree', 'HEAD'])
    await door.run(['add', '--all', '--', ':/'])
    return await look(door)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
