import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Git } from '../git/git.ts'
import { emptyTree } from '../git/range.ts'
import { listCandidates, listRecords } from '../git/record.ts'
import type { CompletionRecord } from './completions.ts'

/** Where to find a task's code: in its commit, in work under way or waiting, or in an attempt. */
export interface TaskCode {
  readonly kind: 'commit' | 'work' | 'candidate' | 'attempt'
  /** The commit that it is based on. */
  readonly from: string
  /** A commit; null for the checkout. */
  readonly to: string | null
}

/** What the caller knows of the task besides git's records. */
interface TaskPast {
  readonly id: string
  /** The base of the attempt under way; null if there is none. */
  readonly workBase: string | null
  /** Newest first. */
  readonly completions: readonly CompletionRecord[]
}

/** The code of a task: of work under way, else its commit, else its candidate or last attempt; null if there is none. */
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

/** The code as a patch, with the changes to each file counted. */
export async function patchOf(git: Git, { from, to }: TaskCode, colour: boolean): Promise<Buffer> {
  const args = [...PATCH, `--color=${colour ? 'always' : 'never'}`]
  if (to !== null) return (await git.run([...args, from, to])).stdout
  return withCheckoutIndex(git, async (door) => (await door.run([...args, '--cached', from])).stdout)
}

/** Reads the checkout with a separate index and object folder, so that git's and a run's are not touched. */
async function withCheckoutIndex<T>(git: Git, read: (door: Git) => Promise<T>): Promise<T> {
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
    return await read(door)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
