/** Something that an agent did to what is ralph's or the person's, and what became of it. */
export type Interference =
  /** It committed; the commits are kept with the attempt, their content goes into the task's one commit. */
  | { readonly kind: 'commits'; readonly commits: readonly string[] }
  /** HEAD was on another branch, or on none, or the branch went back behind where it was. */
  | { readonly kind: 'branch' }
  /** It left a merge, a rebase or the like unfinished. */
  | { readonly kind: 'operation'; readonly operation: string }
  /** It changed or removed task files, or added one whose number is taken: restored. */
  | { readonly kind: 'task-files'; readonly paths: readonly string[] }
  /** It changed or removed a file of another tool's backlog that is kept in step: restored. */
  | { readonly kind: 'origins'; readonly paths: readonly string[] }
  /** It changed files though it was only to read: restored, its versions kept in a folder. */
  | { readonly kind: 'written'; readonly paths: readonly string[]; readonly keptIn: string }
  /** It went back behind where it began: what that took out of the tree was restored. */
  | { readonly kind: 'went-back'; readonly paths: readonly string[] }
  /** It deleted branches, tags, stashes or kept attempts: restored. */
  | { readonly kind: 'refs-deleted'; readonly refs: readonly string[] }
  /** It moved or made some: left, but for those among the attempts, which are ralph's. */
  | { readonly kind: 'refs-moved' | 'refs-made'; readonly refs: readonly string[] }
  /** It changed git's configuration or hooks: restored, its version kept beside the log. */
  | { readonly kind: 'git-settings'; readonly paths: readonly string[]; readonly keptIn: string }
  /** It changed what decides whether a gate passes; left as it is, named in the commit. */
  | { readonly kind: 'gates-changed'; readonly paths: readonly string[] }
  /** It changed what a later start of an agent, an editor or git runs; left as it is, named in the commit. */
  | { readonly kind: 'runs-later'; readonly paths: readonly string[] }
  /** It made git see files that it had ignored, the person's or ralph's own: left where they are, not committed. */
  | { readonly kind: 'exposed'; readonly paths: readonly string[] }
  /** It made a repository inside this one; left where it is, not committed. */
  | { readonly kind: 'nested-repository'; readonly paths: readonly string[] }
