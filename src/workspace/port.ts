import type { Interference } from '../events/interference.ts'
import type { CommitResult } from '../git/commit.ts'
import type { Operation } from '../git/repository.ts'
import type { Base } from '../git/head.ts'
import type { Merged } from '../git/merge.ts'
import type { AttemptFacts, KeptAttempt } from '../git/record.ts'
import type { TreeStatus, StatusEntry } from '../git/status.ts'

/**
 * Where an attempt is made: the person's checkout, or a repository of ralph's own. Paths are those of the repository,
 * unless they are said to be the project's.
 */
export interface Workspace {
  /** The project's root, in which the agent and the gates run. */
  readonly root: string
  /** The project's root inside the repository: empty, or ending with a slash. */
  readonly prefix: string
  readonly inspect: Inspect
  readonly record: Recorder
  readonly restore: Restore
}

/** Looks, and changes nothing that anybody else can see. */
export interface Inspect {
  /** What keeps a run from working here at all, besides what is not committed. `dir` is the project's task folder. */
  obstacles(dir: string): Promise<readonly Obstacle[]>
  /** HEAD, and what differs from it and from what was inspected last, but for what is set aside. */
  status(): Promise<TreeStatus>
  /** All that was done since the base; these paths are left as they were last taken in. */
  work(base: Base, leaving?: readonly string[]): Promise<Work>
  /** The text of a project's file; null where there is none. */
  text(path: string): string | null
  /** The same as the base has it. */
  baseText(base: Base, path: string): Promise<string | null>
  /** The text that the base has at a path of the repository; null where it has none. */
  textIn(base: Base, path: string): Promise<string | null>
  /** Of the project's paths those at which a tree holds nothing, or that lead out of the project. */
  missingFrom(tree: string, paths: readonly string[]): Promise<readonly string[]>
  /** Of the project's paths those that git ignores, or that stand in a repository of their own. */
  leftOut(work: Work, paths: readonly string[]): Promise<readonly string[]>
  /** The tree of a commit. */
  treeOf(commit: string): Promise<string>
  /** What differs between two trees or commits. */
  changes(from: string, to: string): Promise<readonly Change[]>
  /** The paths that do. */
  differing(from: string, to: string): Promise<readonly string[]>
  /** Whether git, by the attributes that there are now, would store a project's file of the base as the base has it. */
  isStoredAsBefore(base: Base, path: string): Promise<boolean>
  isAncestor(ancestor: string, of: string): Promise<boolean>
  /** What comes of a candidate put onto a base that may have moved on since it began. */
  merge(base: Base, candidate: KeptAttempt): Promise<Merged>
  /** What a commit stands on; null of the first. */
  parentOf(commit: string): Promise<string | null>
  /** The newest commit of a range that says it is that task's, and that no attempt has made; null where none is. */
  commitOf(task: string, range: string): Promise<string | null>
  /** The folder of git's hooks, where that is in the tree, with a slash; else null. */
  hooksFolder(): string | null
  /** When HEAD was last moved, as its reflog says. */
  headMovedAt(): Promise<Date | null>
}

/** Makes commits: of what failed, of what passed, and the one on the branch. */
export interface Recorder {
  /** Keeps an attempt as a record; `replaces` is an earlier record of the same attempt, which stays its parent. */
  keep(attempt: ToKeep): Promise<KeptAttempt>
  /** Keeps work that passed, on a ref that is only ever created. */
  candidate(candidate: ToKeep & { readonly token: string }): Promise<KeptAttempt>
  /** The candidate has landed, or is a record now: its ref goes with `removeDropped`. */
  dropCandidate(candidate: KeptAttempt): void
  removeDropped(): Promise<void>
  /** An attempt that is kept, by its number. */
  kept(task: string, number: number): Promise<KeptAttempt | null>
  /** The candidates that are kept. */
  candidates(): Promise<readonly KeptAttempt[]>
  /** Commits what is in the tree with these texts of the project's files, and checks what became of it. */
  land(commit: ToLand): Promise<Landing>
  /** Commits these texts of the project's files and nothing else. A refused commit leaves the files as they were. */
  commitTexts(commit: TextsToCommit): Promise<CommitResult & { readonly head: string | null }>
  /** Commits these paths as they are, and nothing else. */
  commitFiles(commit: FilesToCommit): Promise<CommitResult & { readonly head: string | null }>
}

/** Brings things back to where they were; nothing is taken away that is not recorded. */
export interface Restore {
  /** A run begins: notes what is here and is none of its business. `ignored` comes from a run that died. */
  adopt(person: Person | null): Promise<Person>
  /** An agent begins: notes what it may not change. */
  guard(): Promise<Guard>
  /** A run died while an agent was at work: does what the guard would have done. Before anything else is asked of git. */
  afterKill: AfterKill
  /** Files that are nobody's work: from now on they are neither shown, nor recorded, committed or moved. */
  setAside(paths: readonly string[]): void
  /** Undoes what was done to HEAD, the branch, and operations under way; files stay. False where somebody was quicker. */
  head(base: Base, work: Work): Promise<boolean>
  /** What somebody took out of the tree by going back behind the base: paths that are as HEAD has them, not as the base. */
  lostByGoingBack(base: Base, work: Work): Promise<readonly string[]>
  /** Takes a commit that ralph made off the branch, which goes back to its parent; files stay. */
  commit(made: { readonly commit: string; readonly branch: string | null }): Promise<void>
  /** What recovery had to see by ralph's own index is in order: from now on it is seen by the person's again. */
  leave(): void
  /** Gives single files the base's content; only what was recorded before. */
  files(base: Base, paths: readonly string[]): Promise<void>
  /** Notes what the person has staged; gives what brings that back. */
  staged(): { readonly restore: () => void }
  /** Gives the files that differ between two trees the content of the second, after keeping what is there in a folder; null where none do. */
  difference(move: {
    readonly from: string
    readonly to: string
    /** Left as they are. */
    readonly except: readonly string[]
  }): Promise<Displaced | null>
  /**
   * Takes the whole tree from a recorded one to another commit's, and gives what it had to move out of the way; null
   * where somebody wrote after the recording, and nothing moved.
   */
  tree(move: { readonly recorded: string; readonly to: string }): Promise<readonly Displaced[] | null>
  /**
   * Moves locks that a git of a dead run or agent has left; gives what was moved. In a checkout that was a person's all the
   * time only those of refs: that of the index they may hold for as long as they write a message.
   */
  locks(since: Date, keepIn: string, which: 'all' | 'refs'): Promise<readonly string[]>
}

/** What a run found here, and is none of its business. */
export interface Person {
  /** What git ignored: files, and folders, which end with a slash, that hold nothing else. */
  readonly ignored: readonly string[]
  /** When that was, by the file system's own clock: what is younger in such a folder is the agent's. */
  readonly since: number
  /** Files that had another spelling on disk than in git's index, where the file system takes both for one. */
  readonly misspelled?: readonly string[]
}

/** What was noted when an agent began. */
export interface Guard {
  /** Puts git's settings, hooks and refs back, and says what the agent had done to them. */
  release(attempt: {
    readonly task: string
    readonly branch: string | null
    /** Where what it put in their place is kept. */
    readonly keepIn: string
  }): Promise<readonly Interference[]>
}

/** What becomes of what an agent had done to git's settings, hooks and refs when its run was killed. */
export type AfterKill = (dead: {
  readonly task: string
  readonly branch: string | null
  readonly keepIn: string
  /** What was changed after that is a person's, and stays; null where only an agent can have been here. */
  readonly until: Date | null
}) => Promise<{ readonly found: readonly Interference[]; readonly left: readonly string[] }>

/** What somebody has done since the base. */
export interface Work {
  /** Where the work begins: the base, or a commit that a person has put on top of it meanwhile. */
  readonly base: Base
  /** The commits of a person among those. */
  readonly persons: readonly string[]
  /** What commits of the attempt, that a person's now stand on, have changed: it is in the base, and was never looked at. */
  readonly below: readonly string[]
  /** The tree of all files, but for those that are set aside. */
  readonly tree: string
  readonly changes: readonly Change[]
  readonly head: HeadMove | null
  readonly operations: readonly Operation[]
  /** Repositories that were made inside this one: git cannot take them in, so they are left where they are. */
  readonly nested: readonly string[]
  /** Submodules in which tracked files have changed, and are committed nowhere. */
  readonly changedInside: readonly string[]
  /** Files of the person, which git ignored and somebody has made it see: no work, and in no commit. */
  readonly exposed: readonly string[]
  /** What git itself refuses to commit (line ends), in its words; null where nothing is. */
  readonly refused: string | null
}

/** What an attempt did to HEAD and the branch; the commits are those that the base does not hold. */
export interface HeadMove {
  readonly switched: boolean
  /** Where HEAD is now; null where it is on a branch without a commit. */
  readonly at: string | null
  /** Where the branch of the base points now; null where it is gone. */
  readonly tip: string | null
  /** Where HEAD, and the branch that the attempt began on, point now, where that is not the base. */
  readonly commits: readonly string[]
}

/** Files that no tree holds, and that stood where one is restored: ignored ones, and those of submodules. */
export interface Displaced {
  /** Where they are now, relative to the project's root. */
  readonly folder: string
  readonly paths: readonly string[]
}

export interface Obstacle {
  readonly message: string
  readonly fix: string
}

export interface Change {
  readonly path: string
  readonly kind: 'new' | 'changed' | 'gone'
}

/** An attempt that is to be kept. */
export interface ToKeep {
  readonly facts: AttemptFacts
  readonly work: Work
  readonly at: Date
  readonly replaces?: KeptAttempt | null
  /** More commits that are to stay with it. */
  readonly commits?: readonly string[]
}

/** The commit of a task. */
export interface ToLand {
  readonly base: Base
  /** The tree that the gates passed on. */
  readonly tree: string
  /** By path, relative to the project's root. */
  readonly texts: ReadonlyMap<string, string>
  readonly message: string
  readonly signal: AbortSignal
}

/** How that commit went. */
export type Landing =
  | Extract<CommitResult, { readonly kind: 'refused' | 'failed' }>
  /** Somebody had moved the branch: nothing was committed, and the files are as they were. */
  | { readonly kind: 'moved' }
  | {
      readonly kind: 'committed'
      readonly commit: string
      /** Whether nothing has come on top of it. */
      readonly isTop: boolean
      readonly branch: string | null
      readonly files: number
      readonly added: number
      readonly removed: number
      /** The paths that a hook made other than they were checked; nothing where the commit holds what was. */
      readonly changedByHook: readonly string[]
      /** What is in the tree now and not in the commit. */
      readonly left: readonly StatusEntry[]
    }

interface TextsToCommit {
  readonly texts: ReadonlyMap<string, string>
  readonly message: string
  readonly signal: AbortSignal
}

export interface FilesToCommit {
  readonly paths: readonly string[]
  readonly message: string
  readonly signal: AbortSignal
}
