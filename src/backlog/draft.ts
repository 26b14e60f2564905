import { withoutControls } from '../base/text.ts'
import type { TaskIds } from './ids.ts'
import { withEndings } from './markdown/splice.ts'
import {
  fieldOf,
  type FieldName,
  type FieldValues,
  type SectionName,
  type Status,
  STATUSES,
  type Task,
} from './model.ts'
import { safeNotes, titleMarkdown } from './notes.ts'
import { type Origin, originText } from './origin.ts'
import { DESCRIPTION_HINT } from './template.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/** A task that is not a file yet. Its texts are plain, except those in Markdown. */
export interface Draft extends Pick<
  FieldValues,
  | 'milestone'
  | 'touches'
  | 'context'
  | 'tags'
  | 'priority'
  | 'discipline'
  | 'feature'
  | 'turns'
  | 'provenance'
> {
  readonly title: string
  readonly status: Status
  /** Why it is blocked, in Markdown; empty if no reason is known. */
  readonly blockedReason: string
  /** The ids of the tasks that it depends on. */
  readonly depends: readonly string[]
  /** In Markdown; null for an author to fill in. */
  readonly description: string | null
  /** Context, below the description: a heading, and Markdown. */
  readonly background: readonly (readonly [heading: string, text: string])[]
  readonly criteria: readonly Criterion[]
  /** In Markdown. */
  readonly hints: string
  readonly produces: readonly string[]
  readonly comments: readonly Comment[]
  /** The failed attempts of another tool. */
  readonly attempts: readonly Comment[]
  readonly prdReference?: readonly string[]
  readonly complexity?: string | undefined
  readonly origin?: Origin | undefined
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

/** A draft with these values and defaults for the rest. */
export function draftOf<D extends Pick<Draft, 'title'> & Partial<Draft>>(known: D): Draft & D {
  return { ...EMPTY, ...known }
}

const EMPTY: Omit<Draft, 'title'> = {
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
  attempts: [],
}

/** Criteria that are not met yet. */
export function openCriteria(texts: readonly string[]): readonly Criterion[] {
  return texts.map((text) => ({ text, met: false }))
}

/** Makes the text of a new task file from a draft and its id, in the style of its neighbours. */
export function draftWriter(
  neighbours: readonly Task[],
  vocabulary: TaskVocabulary,
): (id: string, draft: Draft) => string {
  const write = taskWriter(neighbours, vocabulary)
  // Several drafts may share a text.
  const block = remembered(blockText)
  return (id, draft) => {
    const { description } = draft
    const sections = description === null ? undefined : sectionsOf({ ...draft, description }, block)
    const title = titleMarkdown(oneLine(draft.title))
    return write({ id, title, fields: fieldsOf(draft), ...(sections && { sections }) })
  }
}

function fieldsOf(draft: Draft): NewTask['fields'] {
  return [
    ['Status', draft.status],
    ['Milestone', valueText(draft.milestone ?? '')],
    ['Depends', draft.depends.join(', ') || 'none'],
    ['PRD Reference', draft.prdReference?.join(', ') ?? ''],
    ['Touches', draft.touches.map(asCode).join(', ')],
    ['Complexity', draft.complexity ?? ''],
    ['Discipline', valueText(draft.discipline ?? '')],
    ['Feature', valueText(draft.feature ?? '')],
    ['Context', draft.context.map(asCode).join(', ')],
    ['Turns', draft.turns === null ? '' : String(draft.turns)],
    ['Priority', valueText(draft.priority ?? '')],
    ['Tags', draft.tags.map((tag) => valueText(tag.replaceAll(/[,，、]/g, ' '))).join(', ')],
    ['Provenance', valueText(draft.provenance ?? '')],
    ['Origin', draft.origin ? originText(draft.origin) : ''],
  ]
}

function sectionsOf(
  draft: Draft & { readonly description: string },
  block: (text: string) => string,
): NewTaskSections {
  const background = draft.background.map(
    ([heading, text]) => `### ${titleMarkdown(oneLine(heading))}\n\n${block(text)}`,
  )
  const reason = draft.blockedReason.trim() || 'It is blocked in the imported backlog.'
  const products = draft.produces.map((item) => `- ${isPath(item) ? asCode(item) : inlineText(item)}`)
  const sections: NewTaskSections = [
    ['Description', [block(draft.description), ...background].filter(Boolean).join('\n\n')],
    ['Acceptance Criteria', criteriaText(draft.criteria)],
    ['Hints', block(draft.hints)],
    ['Produces', products.join('\n')],
    ['Comments', draft.comments.map(commentText).join('\n')],
    ['Previous Attempts', draft.attempts.map(commentText).join('\n')],
    ['Blocked', draft.status === 'BLOCKED' ? block(reason) : ''],
  ]
  return sections.filter(([, body]) => body !== '')
}

/** The sections of a new task, in Markdown. */
type NewTaskSections = readonly (readonly [SectionName, string])[]

/** The content of a new task. */
export interface NewTask {
  readonly id: string
  /** In Markdown. */
  readonly title: string
  /** In the order of the format; empty values are left out. */
  readonly fields: readonly (readonly [FieldName, string])[]
  /** Without these the file gets the usual sections, for the author to fill in. */
  readonly sections?: NewTaskSections
}

const TO_WRITE: NewTaskSections = [
  ['Description', DESCRIPTION_HINT],
  ['Acceptance Criteria', '- [ ] <!-- What can be checked when it is done. -->'],
]

/** Writes new task files in the style of their neighbours: vocabulary, bullets, heading and line endings. */
export function taskWriter(
  neighbours: readonly Task[],
  vocabulary: TaskVocabulary,
): (task: NewTask) => string {
  const nearest = neighbours.at(-1)
  const ending = nearest?.source.includes('\r\n') ? '\r\n' : '\n'
  const headOf = remembered((name: FieldName) => fieldHead(name, neighbours, vocabulary))
  const wordOf = remembered((name: SectionName) => sectionWord(name, neighbours, vocabulary))
  const statusOf = remembered((status: string) => statusWord(status, neighbours, vocabulary))
  return ({ id, title, fields, sections = TO_WRITE }) => {
    const lines = fields
      .filter(([, value]) => value !== '')
      .map(([name, value]) => headOf(name) + (name === 'Status' ? statusOf(value) : value))
    const bodies = sections.flatMap(([name, body]) => [`## ${wordOf(name)}`, '', body, ''])
    const text = [headingLike(nearest, { id, title, ids: vocabulary.ids }), '', ...lines, '', ...bodies].join(
      '\n',
    )
    return ending === '\n' ? text : withEndings(text, ending)
  }
}

function remembered<K, V>(find: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return (key) => {
    const value = known.has(key) ? known.get(key)! : find(key)
    known.set(key, value)
    return value
  }
}

function headingLike(
  neighbour: Task | undefined,
  { id, title, ids }: { id: string; title: string; ids: TaskIds },
): string {
  const heading = ids.regex(HEADING, 'm').exec(neighbour?.source ?? '')
  const [, before = '', between = ': '] = heading ?? []
  return `# ${before}${id}${between}${title}`
}

const HEADING = String.raw`^#[ \t]+((?:(?!<id>)[^\s#]+[ \t]+)?)<id>([ \t]*[:：—–·-]?[ \t]*)\S`

/** `- **Status**: ` as the nearest neighbour has it; if its fields are no list, only the word is taken. */
function fieldHead(name: FieldName, neighbours: readonly Task[], { own }: TaskVocabulary): string {
  const used = neighbours.map((task) => fieldOf(task, name)?.key).findLast((key) => key !== undefined)
  const key = used ?? own.fields.get(name) ?? name
  const model = neighbours.findLast((task) => fieldOf(task, 'Status')?.form === 'item')
  const status = model && fieldOf(model, 'Status')
  if (!model || !status) return `- **${key}**: `
  const head = model.source.slice(status.span.start, status.valueSpan.start)
  const at = head.indexOf(status.key)
  // A marked value (`code`) begins after its mark: the text before it cannot be copied.
  const isPlain = at >= 0 && /^[\s*_:：]*$/.test(head.slice(at + status.key.length))
  return isPlain ? head.slice(0, at) + key + head.slice(at + status.key.length) : `- **${key}**: `
}

function statusWord(named: string, neighbours: readonly Task[], { own }: TaskVocabulary): string {
  const status = STATUSES.find((known) => known === named) ?? 'TODO'
  const neighbour = neighbours.findLast((task) => task.status === status)
  return (neighbour && fieldOf(neighbour, 'Status')?.value) ?? own.statuses.get(status) ?? status
}

function sectionWord(name: SectionName, neighbours: readonly Task[], { own }: TaskVocabulary): string {
  const used = neighbours.flatMap((task) =>
    task.sections
      .filter((section) => section.name === name && section.form === 'heading')
      .map(({ title }) => title),
  )
  return used.at(-1) ?? own.sections.get(name) ?? name
}

/** Whether it is a path that must exist, not something that only a person can check. */
function isPath(item: string): boolean {
  return !/\s/.test(item) && /\/|\.\w{1,8}$/.test(item)
}

function oneLine(text: string): string {
  return withoutControls(text).replace(/\s+/g, ' ').trim()
}

/** A row may have several fields, so a separator is escaped where a key could follow it. */
function valueText(text: string): string {
  const plain = oneLine(text).replaceAll(/\s*[·•|;；]\s*(?=[^:：]{0,40}[:：])/g, ', ')
  return plain === '' ? '' : titleMarkdown(plain.replaceAll('`', "'"))
}

function asCode(path: string): string {
  return `\`${oneLine(path).replaceAll('`', '')}\``
}

/** Possible headings, fences, HTML or underlines; most texts have none. */
const SIGNS = /^[ \t]*(?:#|<|>|=+[ \t]*$|-+[ \t]*$|\[[^\]\n]*\]:)|```|~~~|<!--/m

/** A text of several lines as Markdown that stays inside its section. */
function blockText(text: string): string {
  const plain = withoutControls(text).trim()
  return SIGNS.test(plain) || plain.length > LONG ? safeNotes(plain) : plain
}

const LONG = 60_000

/** A text as one list item, without HTML. */
function inlineText(text: string): string {
  const parts = oneLine(text).split(/(`[^`]*`)/)
  return parts
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/<(?=[A-Za-z!/?])/g, '\\<')))
    .join('')
}

/** The line above criteria that belong to the whole milestone. */
export const OF_ALL = 'Of the whole milestone:'

function criteriaText(criteria: readonly Criterion[]): string {
  const lines = (wanted: boolean): string =>
    criteria
      .filter(({ ofAll = false, text }) => ofAll === wanted && text.trim() !== '')
      .map(({ text, met }) => `- [${met ? 'x' : ' '}] ${inlineText(text)}`)
      .join('\n')
  const [own, all] = [lines(false), lines(true)]
  return [own, all === '' ? '' : `${OF_ALL}\n\n${all}`].filter(Boolean).join('\n\n')
}

function commentText({ author, created, task, body }: Comment): string {
  const facts = task === '' ? [created] : [created || NO_DATE, task]
  const head = [`**${inlineText(author)}**`, ...facts.map(inlineText).filter(Boolean)].join(' · ')
  const lines = blockText(body)
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
  return `- ${head}\n${lines.join('\n')}`
}

/** The date of a comment that has none. */
export const NO_DATE = '—'
