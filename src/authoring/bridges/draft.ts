import { shortened } from '../../base/text.ts'
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { Status } from '../../backlog/model.ts'

/** A task of another tool's backlog, before it has a task file; or a task of this backlog, to be written in another format. */
export interface Draft {
  /** Its key there, which references between tasks use. */
  readonly key: string
  readonly title: string
  readonly status: Status
  /** Why it is blocked; empty if no reason is known. */
  readonly blockedReason: string
  readonly milestone: string | null
  /** The keys of the tasks that it depends on. */
  readonly depends: readonly string[]
  /** In Markdown. */
  readonly description: string
  /** Context, below the description: a heading, and Markdown. */
  readonly background: readonly (readonly [heading: string, text: string])[]
  readonly criteria: readonly Criterion[]
  /** In Markdown. */
  readonly hints: string
  readonly touches: readonly string[]
  readonly produces: readonly string[]
  readonly context: readonly string[]
  readonly tags: readonly string[]
  readonly priority: string | null
  readonly discipline: string | null
  readonly feature: string | null
  readonly turns: number | null
  readonly provenance: string | null
  readonly comments: readonly Comment[]
  readonly place: OriginPlace
}

export interface Criterion {
  readonly text: string
  readonly met: boolean
  /** Whether it belongs to the whole milestone, whose last task has to meet it. */
  readonly ofAll?: boolean
}

/** A comment on a task. */
export interface Comment {
  readonly author: string
  /** When, as written there. */
  readonly created: string
  /** The task whose agent wrote it. */
  readonly task: string
  readonly body: string
}

/** A place in another tool's files. */
export type OriginPlace = Pick<Diagnostic, 'file' | 'line' | 'column'>

/** A draft with these values and defaults for the rest. */
export function draftOf(known: Pick<Draft, 'key' | 'title' | 'place'> & Partial<Draft>): Draft {
  return { ...EMPTY, ...known }
}

const EMPTY: Omit<Draft, 'key' | 'title' | 'place'> = {
  status: 'TODO',
  blockedReason: '',
  milestone: null,
  depends: [],
  description: '',
  background: [],
  criteria: [],
  hints: '',
  touches: [],
  produces: [],
  context: [],
  tags: [],
  priority: null,
  discipline: null,
  feature: null,
  turns: null,
  provenance: null,
  comments: [],
}

/** Criteria that are not met yet. */
export function openCriteria(texts: readonly string[]): readonly Criterion[] {
  return texts.map((text) => ({ text, met: false }))
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
