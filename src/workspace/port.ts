import type { Interference } from '../events/interference.ts'
import type { CommitResult } from '../git/commit.ts'
import type { Operation } from '../git/repository.ts'
import type { Base } from '../git/head.ts'
import type { Merged } from '../git/merge.ts'
import type { AttemptFacts, KeptAttempt } from '../git/record.ts'
import type { TreeStatus, StatusEntry } from '../git/status.ts'

/**
 * Where an attempt is made: the person's checkout, or a repository of ralph's own. Paths are relative to the repository,
 * unless they are called the project's.
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

/** Reads, and changes nothing that anybody else can see. */
export interface Inspect {
  /** What keeps a run from working here at all, besides uncommitted changes. `dir` is the project's task folder. */
  obstacles(dir: string): Promise<readonly Obstacle[]>
  /** HEAD, and what differs from it and from the last inspection, without what is set aside. */
  status(): Promise<TreeStatus>
  /** All work since the base; the `leaving` paths stay as they were last added. */
  work(base: Base, leaving?: readonly string[]): Promise<Work>
  /** The text of a project's file; null if there is none. */
  text(path: string): string | null
  /** The text of the same file in the base. */
  baseText(base: Base, path: string): Promise<string | null>
  /** The text that the base has at a path of the repository; null if it has none. */
  textIn(base: Base, path: string): Promise<string | null>
  /** Those of the project's paths that a tree does not have, or that lead out of the project. */
  missingFrom(tree: string, paths: readonly string[]): Promise<readonly string[]>
  /** Those of the project's paths that git ignores, or that are in a nested repository. */
  leftOut(work: Work, paths: readonly string[]): Promise<readonly string[]>
  /** The tree of a commit. */
  treeOf(commit: string): Promise<string>
  /** The changes between two trees or commits. */
  changes(from: string, to: string): Promise<readonly Change[]>
  /** Only the paths of these changes. */
  differing(from: string, to: string): Promise<readonly string[]>
  /** Whether git, with the present attributes, would store a project's file of the base with the base's bytes. */
  isStoredAsBefore(base: Base, path: string): Promise<boolean>
  isAncestor(ancestor: string, of: string): Promise<boolean>
  /** Merges a candidate onto a base that may have moved since the attempt began. */
  merge(base: Base, candidate: KeptAttempt): Promise<Merged>
  /** The parent of a commit; null for the first commit. */
  parentOf(commit: string): Promise<string | null>
  /** The newest commit of a range that names that task, and that no attempt made; null if there is none. */
  commitOf(task: string, range: string): Promise<string | null>
  /** The folder of git's hooks if it is in the tree, with a slash; else null. */
  hooksFolder(): string | null
  /** When HEAD last moved, according to its reflog. */
  headMovedAt(): Promise<Date | null>
}

/** Makes commits: of failed attempts, of candidates, and on the branch. */
export interface Recorder {
  /** Keeps an attempt as a record; `replaces` is an earlier record of the same attempt, which stays its parent. */
  keep(attempt: ToKeep): Promise<KeptAttempt>
  /** Keeps work that passed, on a ref that is only ever created. */
  candidate(candidate: ToKeep & { readonly token: string }): Promise<KeptAttempt>
  /** Forgets a candidate that has landed, or is a record now: `removeDropped` removes its ref. */
  dropCandidate(candidate: KeptAttempt): void
  removeDropped(): Promise<void>
  /** A kept attempt, by its number. */
  kept(task: string, number: number): Promise<KeptAttempt | null>
  /** The kept candidates. */
  candidates(): Promise<readonly KeptAttempt[]>
  /** Commits the tree with these texts of the project's files, and inspects the result. */
  land(commit: ToLand): Promise<Landing>
  /** Commits these texts of the project's files and nothing else. If git refuses, the files are as before. */
  commitTexts(commit: TextsToCommit): Promise<CommitResult & { readonly head: string | null }>
  /** Commits these paths as they are, and nothing else. */
  commitFiles(commit: FilesToCommit): Promise<CommitResult & { readonly head: string | null }>
}

/** Restores earlier states; removes nothing that is not recorded. */
export interface Restore {
  /** Notes, when a run begins, what is here and not its business. `ignored` comes from a run that died. */
  adopt(person: Person | null): Promise<Person>
  /** Notes, when an agent begins, what it may not change. */
  guard(): Promise<Guard>
  /** Does what the guard would have done, if a run died while an agent was at work; must come before any other use of git. */
  afterKill: AfterKill
  /** Leaves files out as nobody's work: from now on they are not shown, recorded, committed or moved. */
  setAside(paths: readonly string[]): void
  /** Undoes changes to HEAD, the branch, and operations under way; files stay. False if somebody moved the branch first. */
  head(base: Base, work: Work): Promise<boolean>
  /** The paths that are as HEAD has them, not as the base has them, because somebody went back behind the base. */
  lostByGoingBack(base: Base, work: Work): Promise<readonly string[]>
  /** Takes a commit that ralph made off the branch, which returns to the commit's parent; files stay. */
  commit(made: { readonly commit: string; readonly branch: string | null }): Promise<void>
  /** Ends what recovery had to do with ralph's own index: from now on the person's index is used again. */
  leave(): void
  /** Restores single files to the base's content; only what was recorded before. */
  files(base: Base, paths: readonly string[]): Promise<void>
  /** Notes what the person has staged; returns what restores it. */
  staged(): { readonly restore: () => void }
  /**
   * Writes the second tree's content of the files that differ between two trees, after copying the present files to a
   * folder; null if none differ.
   */
  difference(move: {
    readonly from: string
    readonly to: string
    /** Paths that stay as they are. */
    readonly except: readonly string[]
  }): Promise<Displaced | null>
  /**
   * Moves the whole tree from a recorded tree to another commit's, and returns what it had to move aside; null
   * if somebody wrote after the recording: then nothing moved.
   */
  tree(move: { readonly recorded: string; readonly to: string }): Promise<readonly Displaced[] | null>
  /**
   * Moves locks that a git of a dead run or agent has left; returns their paths. In a checkout that a person could use all
   * the time, only locks of refs: git may hold the index's for as long as the person writes a message.
   */
  locks(since: Date, keepIn: string, which: 'all' | 'refs'): Promise<readonly string[]>
}

/** What a run found here, and is not its business. */
export interface Person {
  /** What git ignored: files, and folders that hold nothing else, which end with a slash. */
  readonly ignored: readonly string[]
  /** The file system's time at that moment: what is younger in such a folder is the agent's. */
  readonly since: number
  /** Files whose spelling on disk differed from git's index, on a file system that takes both for one file. */
  readonly misspelled?: readonly string[]
}

/** What was noted when an agent began. */
export interface Guard {
  /** Restores git's settings, hooks and refs, and reports what the agent had done to them. */
  release(attempt: {
    readonly task: string
    readonly branch: string | null
    /** The folder that keeps the agent's versions. */
    readonly keepIn: string
  }): Promise<readonly Interference[]>
}

/** Undoes what an agent had done to git's settings, hooks and refs when its run was killed. */
export type AfterKill = (dead: {
  readonly task: string
  readonly branch: string | null
  readonly keepIn: string
  /** Later changes are a person's, and stay; null if only an agent can have been here. */
  readonly until: Date | null
}) => Promise<{ readonly found: readonly Interference[]; readonly left: readonly string[] }>

/** The work since the base. */
export interface Work {
  /** Where the work begins: the base, or a commit that a person has made on top of it since. */
  readonly base: Base
  /** A person's commits among those. */
  readonly persons: readonly string[]
  /** The paths changed by commits of the attempt that a person has since built on: they are part of the base, and unchecked. */
  readonly below: readonly string[]
  /** The tree of all files, without those that are set aside. */
  readonly tree: string
  readonly changes: readonly Change[]
  readonly head: HeadMove | null
  readonly operations: readonly Operation[]
  /** Repositories made inside this one: git cannot add them, so they stay where they are. */
  readonly nested: readonly string[]
  /** Submodules with changed tracked files that are committed nowhere. */
  readonly changedInside: readonly string[]
  /** The person's files that git ignored and does not ignore any more: no work, and in no commit. */
  readonly noLongerIgnored: readonly string[]
  /** Why git itself refuses to commit (line ends), in its words; null if it does not. */
  readonly refused: string | null
}

/** What an attempt did to HEAD and the branch; the commits are those that the base does not have. */
export interface HeadMove {
  readonly switched: boolean
  /** HEAD's commit now; null if its branch has no commit. */
  readonly at: string | null
  /** The commit of the base's branch now; null if the branch is gone. */
  readonly tip: string | null
  /** The commits of HEAD and of the attempt's branch now, if they differ from the base. */
  readonly commits: readonly string[]
}

/** Files in no tree that were at a path to be restored: ignored ones, and those of submodules. */
export interface Displaced {
  /** The folder that they are in now, relative to the project's root. */
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

/** An attempt to keep. */
export interface ToKeep {
  readonly facts: AttemptFacts
  readonly work: Work
  readonly at: Date
  readonly replaces?: KeptAttempt | null
  /** More commits to keep with it. */
  readonly commits?: readonly string[]
}

/** What a task's commit is made from. */
export interface ToLand {
  readonly base: Base
  /** The tree that the gates passed on. */
  readonly tree: string
  /** The texts by path, relative to the project's root. */
  readonly texts: ReadonlyMap<string, string>
  readonly message: string
  readonly signal: AbortSignal
}

/** The result of that commit. */
export type Landing =
  | Extract<CommitResult, { readonly kind: 'refused' | 'failed' }>
  /** Somebody had moved the branch: nothing was committed, and the files are as before. */
  | { readonly kind: 'moved' }
  | {
      readonly kind: 'committed'
      readonly commit: string
      /** Whether nothing is on top of it. */
      readonly isTop: boolean
      readonly branch: string | null
      readonly files: number
      readonly added: number
      readonly removed: number
      /** The paths that a hook changed after the check; empty if the commit holds what was checked. */
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
