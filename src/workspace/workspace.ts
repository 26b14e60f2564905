import type { CommitResult } from '../git/commit.ts'
import type { Operation } from '../git/repository.ts'
import type { Refs } from '../git/refs.ts'
import type { Base, HeadMove } from '../git/restore.ts'
import type { Status } from '../git/status.ts'

/** What a run found and is none of its business. */
export interface Protected {
  /** As `ignoredNow` told it. */
  readonly ignored: readonly string[]
  /** When that was, by the file system's own clock: what is younger in such a folder is the agent's. */
  readonly since: number
}

/** Ignored files that stood where the base has others. */
export interface Displaced {
  /** Where they are now, relative to the project's root. */
  readonly folder: string
  readonly paths: readonly string[]
}

/** Where tasks are worked on. What is here now is the person's checkout; it need not be. */
export interface Workspace {
  /** The project's root, in which the agent and the gates run. */
  readonly root: string
  /** The project's root inside the repository: empty, or ending with a slash. */
  readonly prefix: string
  /** HEAD and what is not committed, but for what was left aside. */
  look(): Promise<Status>
  /** Untracked files that are nobody's work: from now on they are neither told, nor recorded, committed or moved. */
  leaveAside(paths: readonly string[]): void
  /** What git ignores now: files, and folders, which end with a slash, that hold nothing else. */
  ignoredNow(): Promise<readonly string[]>
  /** What git ignored when the run began is nobody's work, whatever becomes of that. */
  protect(person: Protected): void
  /** What keeps a run from working here at all, besides what is not committed: one sentence each, and what to do. */
  obstacles(dir: string): Promise<readonly Obstacle[]>
  /** Which of some paths git ignores, and does not track. */
  ignored(paths: readonly string[]): Promise<ReadonlySet<string>>
  /** What is different from the base: to be asked before anything is decided or undone. */
  inspect(base: Base): Promise<Work>
  /** The whole tree as it is now, as an object that nothing refers to yet. */
  snapshot(work: Work): Promise<string>
  /** Keeps a tree as an attempt. `replaces` is an earlier record of the same attempt, which stays its parent. */
  keep(attempt: Keeping): Promise<Kept>
  /** Takes back what was done to HEAD, the branch, and operations under way; files stay. */
  fold(base: Base, work: Work): Promise<void>
  /** What somebody took out of the tree by going back behind the base: paths that are as HEAD has them, not as the base. */
  lostByGoingBack(base: Base, work: Work, tree: string): Promise<readonly string[]>
  /** Gives single files the base's content; only what was recorded before. */
  restoreFiles(base: Base, paths: readonly string[]): Promise<void>
  /**
   * Takes the whole tree back to the base, and tells what it had to set aside; null where somebody wrote after the
   * recording, and nothing moved.
   */
  putBack(base: Base, recorded: string, work: Work): Promise<readonly Displaced[] | null>
  /** An attempt that is kept, by its number. */
  keptAttempt(task: string, number: number): Promise<Kept | null>
  /** The tasks whose commits a range holds, as their trailers say. */
  tasksOf(range: string): Promise<readonly string[]>
  /** When HEAD was last moved, as its reflog tells. */
  headMovedAt(): Promise<Date | null>
  /** Branches, tags, stashes, and what ralph keeps. */
  refs(): Promise<Refs>
  /** Another text after any of them has changed. */
  refsStamp(): string
  /** Makes refs, and takes others away. */
  changeRefs(change: { readonly make: Refs; readonly take: Refs }): Promise<void>
  /** The tree of a commit. */
  treeOf(commit: string): Promise<string>
  /** The text of a file in the base; null where it is not there. */
  baseText(base: Base, path: string): Promise<string | null>
  /** Which paths differ between a recorded tree and what is there now. */
  changedSince(recorded: string, now: string): Promise<readonly string[]>
  /** Whether one commit can be reached from another. */
  isAncestor(ancestor: string, of: string): Promise<boolean>
  commit(request: {
    readonly message: string
    readonly paths?: readonly string[]
    readonly except?: readonly string[]
    readonly signal: AbortSignal
  }): Promise<CommitResult>
}

/** What somebody has done since the base. Paths are the repository's. */
export interface Work {
  readonly changes: readonly Change[]
  readonly head: HeadMove | null
  readonly operations: readonly Operation[]
  /** Repositories that were made inside this one: git cannot take them in, so they are left where they are. */
  readonly nested: readonly string[]
  /** Files of the person, which git ignored and somebody has made it see: no work, and in no commit. */
  readonly exposed: readonly string[]
  /** All that is left where it is: those, and the files that were left aside. */
  readonly aside: readonly string[]
}

export interface Obstacle {
  readonly message: string
  readonly fix: string
}

export interface Change {
  readonly path: string
  readonly kind: 'new' | 'changed' | 'gone'
}

export interface Keeping {
  readonly task: string
  readonly number: number
  readonly tree: string
  readonly base: Base
  readonly work: Work
  readonly message: string
  readonly replaces?: Kept | null
}

/** Where an attempt is kept. */
export interface Kept {
  readonly ref: string
  readonly commit: string
  readonly tree: string
}
