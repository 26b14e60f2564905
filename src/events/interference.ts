/** Something that an agent may not do to ralph's or the person's things, and how it was handled. */
export type Interference =
  /** It committed: the commits are kept with the attempt, their content becomes part of the task's commit. */
  | { readonly kind: 'commits'; readonly commits: readonly string[] }
  /** It switched to another branch, detached HEAD, or moved the branch back behind its start. */
  | { readonly kind: 'branch' }
  /** It left an unfinished merge, rebase or similar operation. */
  | { readonly kind: 'operation'; readonly operation: string }
  /** It changed or deleted task files, or added one whose number is taken: restored. */
  | { readonly kind: 'task-files'; readonly paths: readonly string[] }
  /** It changed or deleted a synced file of another tool's backlog: restored. */
  | { readonly kind: 'origins'; readonly paths: readonly string[] }
  /** It changed files though it may only read: restored, its versions are kept in a folder. */
  | { readonly kind: 'written'; readonly paths: readonly string[]; readonly keptIn: string }
  /** It went back behind its start: what that removed from the tree was restored. */
  | { readonly kind: 'went-back'; readonly paths: readonly string[] }
  /** It deleted branches, tags, stashes or records: restored. */
  | { readonly kind: 'refs-deleted'; readonly refs: readonly string[] }
  /** It moved or created refs: left, except records, which are ralph's. */
  | { readonly kind: 'refs-moved' | 'refs-made'; readonly refs: readonly string[] }
  /** It changed git's configuration or hooks: restored, its version is kept beside the log. */
  | { readonly kind: 'git-settings'; readonly paths: readonly string[]; readonly keptIn: string }
  /** It changed files that decide the gates; left, named in the commit. */
  | { readonly kind: 'gates-changed'; readonly paths: readonly string[] }
  /** It changed what an agent, an editor or git runs later; left, named in the commit. */
  | { readonly kind: 'runs-later'; readonly paths: readonly string[] }
  /** It made git see files that were ignored, the person's or ralph's own: left in place, not committed. */
  | { readonly kind: 'exposed'; readonly paths: readonly string[] }
  /** It created a repository inside this one; left in place, not committed. */
  | { readonly kind: 'nested-repository'; readonly paths: readonly string[] }
