/** Something that an agent may not do to ralph's or the person's things, and how it was handled. */
export type Interference =
  /** It committed: its repository is kept for a while, and the content is part of its work. */
  | { readonly kind: 'commits'; readonly commits: readonly string[] }
  /** It worked on another commit than its base: what it changed there was brought onto the base. */
  | { readonly kind: 'other-base'; readonly commits: readonly string[] }
  /** It changed or deleted task files, or added one whose number is taken: in no tree. */
  | { readonly kind: 'task-files'; readonly paths: readonly string[] }
  /** It changed or deleted a synced file of another tool's backlog: in no tree. */
  | { readonly kind: 'origins'; readonly paths: readonly string[] }
  /** It created a repository inside this one: in no tree. */
  | { readonly kind: 'nested-repository'; readonly paths: readonly string[] }
  /** It changed files although it was only to read: thrown away. */
  | { readonly kind: 'written'; readonly paths: readonly string[] }
  /** It changed files that decide the gates; left, named in the commit. */
  | { readonly kind: 'gates-changed'; readonly paths: readonly string[] }
  /** It changed what an agent, an editor or git runs later; left, named in the commit. */
  | { readonly kind: 'runs-later'; readonly paths: readonly string[] }
