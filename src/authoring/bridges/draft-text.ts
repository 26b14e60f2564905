import { withoutControls } from '../../base/controls.ts'
import { sectionBodies } from '../../backlog/edit-section.ts'
import type { FieldName, SectionName, Task } from '../../backlog/model.ts'
import { safeNotes, titleMarkdown } from '../../backlog/notes.ts'
import { originText, readOrigin } from '../../backlog/origin.ts'
import { isNone } from '../../backlog/values.ts'
import { draftOf, type Comment, type Criterion, type Draft } from './draft.ts'

/** What a draft is written with: its new id, the ids of the tasks that it refers to, and the path of its origin. */
interface DraftPlace {
  readonly id: string
  readonly idOf: (key: string) => string | undefined
  readonly path: string
}

interface WrittenDraft {
  readonly id: string
  readonly title: string
  readonly fields: readonly (readonly [FieldName, string])[]
  readonly sections: readonly (readonly [SectionName, string])[]
}

/** Converts drafts into parts of task files; a text that several share is converted once. */
export function draftWriter(): (draft: Draft, place: DraftPlace) => WrittenDraft {
  const known = new Map<string, string>()
  const block = (text: string): string => {
    const before = known.get(text) ?? blockText(text)
    known.set(text, before)
    return before
  }
  return (draft, place) => writtenDraft(draft, place, block)
}

function writtenDraft(
  draft: Draft,
  { id, idOf, path }: DraftPlace,
  block: (text: string) => string,
): WrittenDraft {
  const depends = draft.depends.flatMap((key) => idOf(key) ?? [])
  return {
    id,
    title: titleMarkdown(oneLine(draft.title)),
    fields: [
      ['Status', draft.status],
      ['Milestone', valueText(draft.milestone ?? '')],
      ['Depends', depends.join(', ') || 'none'],
      ['Touches', draft.touches.map(asCode).join(', ')],
      ['Discipline', valueText(draft.discipline ?? '')],
      ['Feature', valueText(draft.feature ?? '')],
      ['Context', draft.context.map(asCode).join(', ')],
      ['Turns', draft.turns === null ? '' : String(draft.turns)],
      ['Priority', valueText(draft.priority ?? '')],
      ['Tags', draft.tags.map((tag) => valueText(tag.replaceAll(/[,，、]/g, ' '))).join(', ')],
      ['Provenance', valueText(draft.provenance ?? '')],
      ['Origin', originText({ path, key: draft.key })],
    ],
    sections: sectionsOf(draft, block).filter(([, body]) => body !== ''),
  }
}

function sectionsOf(
  draft: Draft,
  block: (text: string) => string,
): readonly (readonly [SectionName, string])[] {
  const background = draft.background.map(
    ([heading, text]) => `### ${titleMarkdown(oneLine(heading))}\n\n${block(text)}`,
  )
  const reason = draft.blockedReason.trim() || 'It is blocked in the imported backlog.'
  return [
    ['Description', [block(draft.description), ...background].filter(Boolean).join('\n\n')],
    ['Acceptance Criteria', criteriaText(draft.criteria)],
    ['Hints', block(draft.hints)],
    [
      'Produces',
      draft.produces.map((item) => `- ${isPath(item) ? asCode(item) : inlineText(item)}`).join('\n'),
    ],
    ['Comments', draft.comments.map(commentText).join('\n')],
    ['Blocked', draft.status === 'BLOCKED' ? block(reason) : ''],
  ]
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

const OF_ALL = 'Of the whole milestone:'

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

const NO_DATE = '—'

/** Converts a task back into a draft, for another format. The key is that of its origin, or its id. */
export function draftOfTask(task: Task, keyOf: (id: string) => string): Draft {
  const body = (name: SectionName): string => sectionBodies(task, name).join('\n\n').replaceAll('\r\n', '\n')
  const [description = '', ...rest] = body('Description').split(/^### (?=About |When the whole |Part of: )/m)
  const turns = task.turns
  return draftOf({
    key: keyOf(task.id),
    title: task.title,
    status: task.status ?? 'TODO',
    blockedReason: body('Blocked'),
    milestone: task.milestone,
    depends: task.depends.map(({ id }) => keyOf(id)),
    description: description.trim(),
    background: rest.map((part) => {
      const [heading = '', ...lines] = part.split('\n')
      return [heading.trim(), lines.join('\n').trim()] as const
    }),
    criteria: readCriteria(body('Acceptance Criteria')),
    hints: body('Hints'),
    touches: task.touches,
    produces: (task.produces ?? []).map(({ text }) => text),
    context: task.context,
    tags: task.tags,
    priority: task.priority,
    discipline: task.discipline,
    feature: task.feature,
    turns,
    provenance: task.provenance,
    comments: readComments(body('Comments')),
    place: { file: task.file, line: 1, column: 1 },
  })
}

function readCriteria(text: string): readonly Criterion[] {
  const [own = '', all = ''] = text.split(`${OF_ALL}\n`)
  const items = (part: string): readonly Omit<Criterion, 'ofAll'>[] =>
    [...part.matchAll(/^[-*+] (?:\[([ xX])\] )?(.*(?:\n[ \t]+\S.*)*)/gm)].map(([, mark = ' ', item = '']) => {
      return {
        text: item
          .replace(/\s*\n\s*/g, ' ')
          .replaceAll('\\<', '<')
          .trim(),
        met: mark !== ' ',
      }
    })
  return [...items(own), ...items(all).map((one) => ({ ...one, ofAll: true }))].filter(
    ({ text: one }) => !isNone(one),
  )
}

function readComments(text: string): readonly Comment[] {
  return text.split(/^- (?=\*\*)/m).flatMap((part): readonly Comment[] => {
    const [head = '', ...lines] = part.split('\n')
    const [author, created = '', task = ''] = head.split(' · ')
    const named = /^\*\*(.*)\*\*$/.exec(author ?? '')?.[1]
    if (named === undefined) return []
    return [
      {
        author: named,
        created: created === NO_DATE ? '' : created,
        task,
        body: lines
          .map((line) => line.replace(/^ {2}/, ''))
          .join('\n')
          .trim(),
      },
    ]
  })
}

/** The key of each task: the one in its origin if that is such a file, otherwise its id. */
export function originKeys(tasks: readonly Task[], isFrom: RegExp): ReadonlyMap<string, string> {
  const keys = new Map<string, string>()
  const taken = new Set<string>()
  for (const task of tasks) {
    const origin = readOrigin(task.origin)
    const key = origin && isFrom.test(origin.path) && !taken.has(origin.key) ? origin.key : task.id
    keys.set(task.id, key)
    taken.add(key)
  }
  return keys
}
