import { counted, fewOf, shortened } from '../base/text.ts'
import type { TaskJson } from '../backlog/json.ts'
import type { BacklogDiff, DiffItem } from '../history/backlog-diff.ts'
import type { FieldChange, TaskChange, TextChange } from '../history/task-change.ts'
import { strong, dim, accent, bad, line, paragraph, section, type View } from './block.ts'
import { partOf, mermaidOf } from './graph-text.ts'
import { groupAlike, lintLine } from './lint-view.ts'
import { markdownText, printable } from './printable.ts'

/** Tasks with the same change, each with its details. */
interface Group {
  readonly heading: string
  /** How they are counted: `2 done`. */
  readonly word: string
  readonly items: readonly (DiffItem & {
    readonly details: readonly string[]
    readonly texts?: readonly TextChange[]
  })[]
}

/** The changes of a range to the backlog, in words. */
export function diffView(diff: BacklogDiff): View {
  const groups = groupsOf(diff)
  const summary = summaryOf(diff, groups)
  if (summary === '') return [line(`Nothing in the backlog has changed in ${diff.range.text}.`)]
  return [
    line(strong(diff.range.text), '  ', summary),
    ...groups.flatMap(({ heading, items }) =>
      section(
        heading,
        items.flatMap(({ id, title, details }) => [
          line('  ', accent(id), '  ', title),
          ...details.map((text) => paragraph(['         '], text, 'dim')),
        ]),
      ),
    ),
    ...section(
      'In a cycle',
      diff.cycles.map((ids) => paragraph(['  ', bad('? ')], cycleText(ids))),
    ),
    ...section('Problems', groupAlike(diff.problems).map(lintLine)),
    ...(diff.unlinted === 0 ? [] : section('', [line(dim(UNLINTED))])),
    ...(diff.eligible.length === 0
      ? []
      : section('', [line(dim('ralph next --explain says what each other task waits for.'))])),
  ]
}

/** The note for more changes than lint checks. */
const UNLINTED =
  'In a backlog of this size, only problems that keep a task from being eligible were checked: ralph lint reports the rest.'

const cycleText = (ids: readonly string[]): string => `${fewOf(ids, MOST_ITEMS)} wait for each other`

/** The groups of a diff, in the order of interest, without empty ones. */
function groupsOf(diff: BacklogDiff): readonly Group[] {
  const turned = new Set([...diff.completed, ...diff.blocked, ...diff.reopened].map(({ id }) => id))
  const plain = (items: readonly DiffItem[]): Group['items'] =>
    items.map((item) => ({ ...item, details: [] }))
  const withTexts = (items: BacklogDiff['completed']): Group['items'] =>
    items.map((item) => ({ ...item, details: item.text === '' ? [] : [item.text] }))
  const changed = diff.changed.flatMap((change) => {
    const isShown = (name: string): boolean => !turned.has(change.id) || !OWN.has(name)
    const details = changeTexts(change, isShown)
    if (details.length === 0) return []
    const texts = change.texts.filter(({ section }) => isShown(section))
    return [{ ...change, details: isEdited(change) ? [DONE_EDITED, ...details] : details, texts }]
  })
  const added = diff.added.map((task) => ({ ...task, details: [addedText(task)] }))
  const groups: readonly Group[] = [
    { heading: 'Done', word: 'done', items: withTexts(diff.completed) },
    { heading: 'Blocked', word: 'blocked', items: withTexts(diff.blocked) },
    { heading: 'Open again', word: 'open again', items: plain(diff.reopened) },
    { heading: 'Added', word: 'added', items: added },
    { heading: 'Changed', word: 'changed', items: changed },
    { heading: 'Removed', word: 'removed', items: plain(diff.removed) },
    { heading: 'Can be done now', word: 'newly eligible', items: plain(diff.eligible) },
  ]
  return groups.filter(({ items }) => items.length > 0)
}

/** `2 done, 1 blocked, 3 added`; empty if nothing has changed. */
function summaryOf({ cycles, problems }: BacklogDiff, groups: readonly Group[]): string {
  return [
    ...groups.map(({ items, word }) => `${items.length} ${word}`),
    cycles.length > 0 && counted(cycles.length, 'new cycle'),
    problems.length > 0 && counted(problems.length, 'new problem'),
  ]
    .filter(Boolean)
    .join(', ')
}

function addedText({ status, depends, milestone, eligible }: TaskJson): string {
  const needs = depends.length === 0 ? '' : `needs ${depends.join(', ')}`
  const standing = eligible ? 'TODO, eligible' : (status ?? 'no clear status')
  return [standing, needs, milestone].filter(Boolean).join(' · ')
}

/** The fields and sections that ralph writes when it completes, blocks or opens a task. */
const OWN: ReadonlySet<string> = new Set([
  'Status',
  'Completed',
  'Commit',
  'Cost',
  'Completion Notes',
  'Blocked',
  'Previous Attempts',
])

const DONE_EDITED = 'It is DONE, so no agent will do what is new: reopen it, or write a new task'

/** Whether a task that is DONE has changed, besides what ralph itself writes. */
function isEdited({ isDone, fields, sections }: BacklogDiff['changed'][number]): boolean {
  return isDone && [...fields.map(({ name }) => name), ...sections].some((name) => !OWN.has(name))
}

function changeTexts(
  { fields, sections }: TaskChange,
  isShown: (name: string) => boolean,
): readonly string[] {
  if (fields.length === 0 && sections.length === 0) return ['only the text around fields and sections']
  const texts = sections.filter(isShown)
  return [
    ...fields.filter(({ name }) => isShown(name)).map(fieldText),
    ...(texts.length === 0 ? [] : [`text of ${texts.map(cut).join(', ')}`]),
  ]
}

function fieldText({ name, before, after }: FieldChange): string {
  return `${cut(name)}: ${cut(before ?? '–')} → ${cut(after ?? '–')}`
}

const cut = (text: string): string => shortened(text, 80)

/** Longer lists are cut in a comment; the files have the rest. */
const MOST_ITEMS = 50
/** More tasks than these are folded; beyond the limit, a forge draws no graph. */
const MOST_UNFOLDED = 12
const MOST_DRAWN = 200
const MOST_ARROWS = 400

/** The address of a file, and of a line in it, on the forge. */
export type LinkTo = (file: string, line?: number) => string

/** The same as Markdown, for the comment of a pull request or a job's summary. */
export function diffMarkdown(diff: BacklogDiff, linkTo?: LinkTo): string {
  const groups = groupsOf(diff)
  const summary = summaryOf(diff, groups)
  const linked = (text: string, file: string, line?: number): string =>
    linkTo ? `[${text}](<${linkTo(file, line)}>)` : text
  const removed = new Set(diff.removed.map(({ id }) => id))
  const itemText = ({ id, title, file, details, texts = [] }: Group['items'][number]): string => {
    const name = removed.has(id) ? `**${id}**` : linked(`**${id}**`, file)
    const lines = [`${name} ${markdownText(title)}`, ...details.map((text) => `  ${markdownText(text)}`)]
    return [lines.join('  \n'), ...texts.map(textPart)].join('\n')
  }
  const problems = groupAlike(diff.problems).map(
    ({ file, line, severity, rule, message }) =>
      `${linked(`${markdownText(file)}:${line}`, file, line)} ${severity} ${rule}: ${markdownText(message)}`,
  )
  const parts = [
    `### Backlog: ${summary === '' ? 'nothing has changed' : summary}`,
    list('Problems', problems),
    list('In a cycle', diff.cycles.map(cycleText)),
    ...groups.map(({ heading, items }) => list(heading, items.map(itemText))),
    diff.unlinted > 0 && UNLINTED,
    graphPart(diff),
    `<sub>ralph diff ${markdownText(diff.range.text)}</sub>`,
  ]
  return `${parts.filter(Boolean).join('\n\n')}\n`
}

/** Longer changes of a text are cut. */
const MOST_LINES = 12

/** The changed lines of a section, below the item of a list. */
function textPart({ section, removed, added }: TextChange): string {
  const lines = [...removed.map((line) => `- ${line}`), ...added.map((line) => `+ ${line}`)]
  const more = lines.length - MOST_LINES
  const shown = [
    `@@ ${section} @@`,
    ...lines.slice(0, MOST_LINES).map((line) => shortened(line, 200)),
    ...(more > 0 ? [`… and ${counted(more, 'line')} more`] : []),
  ]
  const fenced = shown.map((line) => printable(line).replaceAll('```', "'''"))
  return ['```diff', ...fenced, '```'].map((line) => `  ${line}`).join('\n')
}

/** A list below its heading, cut if it is long; empty without items. */
function list(heading: string, items: readonly string[]): string {
  if (items.length === 0) return ''
  const more = items.length - MOST_ITEMS
  const shown = [...items.slice(0, MOST_ITEMS), ...(more > 0 ? [`… and ${more} more`] : [])]
  return [`**${heading}**`, '', ...shown.map((item) => `- ${item}`)].join('\n')
}

/** The tasks in the diff with their needs, drawn by the forge; empty if there are no needs, or too many. */
function graphPart({ added, changed, completed, blocked, eligible, cycles, selection }: BacklogDiff): string {
  const named = [added, changed, completed, blocked, eligible].flat()
  const ids = new Set([...named.map(({ id }) => id), ...cycles.flat()])
  const own = selection.states.filter(({ task }) => ids.has(task.id))
  const needed = new Set(own.flatMap(({ task }) => task.needs))
  const states = partOf(selection.states, ({ task }) => ids.has(task.id) || needed.has(task.number))
  const arrows = states.reduce((sum, { task }) => sum + task.needs.length, 0)
  if (arrows === 0 || states.length > MOST_DRAWN || arrows > MOST_ARROWS) return ''
  const graph = ['```mermaid', mermaidOf(states).trimEnd(), '```'].join('\n')
  if (states.length <= MOST_UNFOLDED) return graph
  return `<details>\n<summary>Graph of ${states.length} tasks</summary>\n\n${graph}\n\n</details>`
}
