import type { Status } from '../../backlog/model.ts'
import { type ForeignDraft } from './draft.ts'

/** A task that an earlier import added. */
export interface ImportedTask {
  readonly id: string
  readonly key: string
  readonly file: string
  readonly status: Status | null
  /** Whether somebody has edited its file since. */
  readonly isChangedHere: boolean
}

/** What another import has to do. */
export interface ImportPlan {
  readonly added: readonly ForeignDraft[]
  /** Open tasks whose origin alone has changed. */
  readonly changed: readonly { readonly task: ImportedTask; readonly draft: ForeignDraft }[]
  /** Tasks whose file and origin have both changed: a person has to decide. */
  readonly both: readonly {
    readonly task: ImportedTask
    readonly draft: ForeignDraft
    readonly parts: readonly string[]
  }[]
  /** Tasks that are no longer in the origin. */
  readonly gone: readonly ImportedTask[]
}

/** Compares the backlog with its state at the last import; null if that state is unknown. */
export function planImport(
  drafts: readonly ForeignDraft[],
  imported: readonly ImportedTask[],
  before: readonly ForeignDraft[] | null,
): ImportPlan {
  const known = new Map(imported.map((task) => [task.key, task]))
  const earlier = new Map(before?.map((draft) => [draft.key, draft]))
  const now = new Set(drafts.map(({ key }) => key))
  const moved = drafts.flatMap((draft) => {
    const [task, old] = [known.get(draft.key), earlier.get(draft.key)]
    if (!task || !old || task.status === 'DONE') return []
    const parts = differing(old, draft)
    return parts.length === 0
      ? []
      : [{ task, draft, parts, isBoth: task.isChangedHere || task.status !== 'TODO' }]
  })
  return {
    added: drafts.filter(({ key }) => !known.has(key)),
    changed: moved.flatMap(({ isBoth, task, draft }) => (isBoth ? [] : [{ task, draft }])),
    both: moved.flatMap(({ isBoth, ...one }) => (isBoth ? [one] : [])),
    gone: imported.filter(({ key, status }) => !now.has(key) && status !== 'DONE'),
  }
}

/** The parts in which two drafts differ, except their place in the file. */
function differing(before: ForeignDraft, after: ForeignDraft): readonly string[] {
  const parts = Object.keys(after) as (keyof ForeignDraft)[]
  return parts.filter(
    (part) => part !== 'place' && JSON.stringify(before[part]) !== JSON.stringify(after[part]),
  )
}
