import { shortened } from '../../base/text.ts'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { type Draft, draftOf } from '../../backlog/draft.ts'
import type { Status } from '../../backlog/model.ts'

/** A task of another tool's backlog; or a task of this backlog, to be written in another format. */
export interface ForeignDraft extends Draft {
  /** Its key there, which its references to other tasks use. */
  readonly key: string
  readonly description: string
  readonly place: OriginPlace
  /** Whether it is not to be done: no task waits for it. */
  readonly isDropped: boolean
}

/** A place in another tool's files. */
export type OriginPlace = Pick<Diagnostic, 'file' | 'line' | 'column'>

/** A draft with these values and defaults for the rest. */
export function foreignDraft(
  known: Pick<ForeignDraft, 'key' | 'title' | 'place'> &
    Partial<Omit<ForeignDraft, 'status'>> & { readonly status?: ForeignStatus },
): ForeignDraft {
  const { status = 'TODO' } = known
  const isDropped = status === 'dropped'
  const draft = draftOf({ ...known, isDropped, status: isDropped ? 'TODO' : status })
  return { ...draft, description: draft.description ?? '' }
}

/** The status of a task in another tool; `dropped` if it is not to be done. */
export type ForeignStatus = Status | 'dropped'

const WORDS: readonly (readonly [ForeignStatus, string])[] = [
  [
    'TODO',
    'pending todo to_do open new in_progress doing started active review in_review testing ready not_started planned backlog draft failed',
  ],
  ['DONE', 'done completed complete closed passed finished merged resolved'],
  ['BLOCKED', 'blocked deferred on_hold waiting paused'],
  ['dropped', 'cancelled canceled wont_do wontfix skipped obsolete duplicate archived'],
]
const STATUS_WORDS = new Map(
  WORDS.flatMap(([status, words]) => words.split(' ').map((word) => [word, status])),
)

/** The status for a word, in any case and with any separators; undefined for an unknown word. */
export function foreignStatus(word: string): ForeignStatus | undefined {
  const key = word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
    .replaceAll("'", '')
  return key === '' ? 'TODO' : STATUS_WORDS.get(key)
}

const LONGEST_TITLE = 100

/** The first line or sentence of a text, shortened to a title. */
export function titleOf(text: string): string {
  const [line = ''] = text.trim().split(/\r\n|\r|\n/, 1)
  const plain = line.replace(/\s+/g, ' ').replace(/^(?:[-*+]|#{1,6}|>)\s+/, '')
  const sentence =
    /^.{10,100}?[.!?。！？](?=\s)/u.exec(plain)?.[0].replace(/[.。]$/, '') ?? plain.replace(/[.:]$/, '')
  return shortened(sentence, LONGEST_TITLE)
}

/** The status of a whole in another tool, from those of its parts. */
export function wholeStatus(parts: readonly ForeignStatus[]): 'completed' | 'in_progress' | 'pending' {
  if (parts.every((status) => status === 'DONE' || status === 'dropped')) return 'completed'
  return parts.includes('DONE') ? 'in_progress' : 'pending'
}
