import { dependantsOf, unblocks, type Selection, type TaskState } from '../backlog/select/selection.ts'
import type { TierChoice } from '../backlog/select/tier.ts'
import type { FieldName, Section, Task, TaskHead } from '../backlog/model.ts'
import type { KeptAttempt } from '../git/record.ts'
import type { CompletionRecord } from '../history/completions.ts'
import { blankComments } from '../backlog/markdown/inline.ts'
import { itemIn, linesOf, withoutBullet } from '../backlog/markdown/lines.ts'
import { dim, line, paragraph, table, BLANK, coloured, facts, type Block, type Row } from './block.ts'
import { dependenciesOf, label, limitsText, named, signOf, thenLines, titleLine } from './task-lines.ts'
import { explain } from './reason-text.ts'
import { counted } from '../base/text.ts'
import { spentText } from './told.ts'

/** What git knows of a task. */
export interface TaskPast {
  readonly attempts: readonly KeptAttempt[]
  /** The commit that completed it, an undone one only if there is no other; null if there is none. */
  readonly completion: CompletionRecord | null
}

/** The data of `ralph show`. */
export interface ShowScreen extends TaskPast {
  readonly state: TaskState
  readonly selection: Selection<TaskHead>
  readonly choice: TierChoice
  /** The task's discipline; null if it names none with a file. */
  readonly discipline: ShownDiscipline | null
}

/** The shown parts of a discipline. */
type ShownDiscipline = {
  readonly title: string
  readonly icon: string | null
  readonly acronym: string | null
  readonly color: string | null
}

/** One task: its state, its needs and dependants, its fields, and its text in brief. */
export function showView({
  state,
  selection,
  choice,
  discipline,
  attempts,
  completion,
}: ShowScreen): readonly Block[] {
  const { task } = state
  const own = task.fields.filter(({ name }) => name === null).map(({ key, value }) => [dim(key), value])
  const dependants = dependantsOf(selection, task.number).map((one) => [one.task.id, ' ', signOf(one)])
  const sections = task.sections.map((section) => sectionRow(section, task))
  return [
    titleLine(task),
    facts(['       '], factsOf(state, choice), 'dim'),
    ...named('after', dependenciesOf(task, selection), '  '),
    ...named('before', dependants, '  '),
    ...waitsLines(state, attempts),
    ...thenLines(unblocks(selection, task.id)),
    ...fieldLines(task),
    ...(discipline ? [disciplineLine(discipline)] : []),
    ...(completion ? [paragraph(label('by'), completionText(completion))] : []),
    ...(attempts.length > 0 ? [paragraph(label('tried'), attemptsText(task, attempts))] : []),
    ...named('file', [[task.file]], ' '),
    ...(own.length > 0 ? [BLANK, table(own, { wrap: 1 })] : []),
    ...(sections.length > 0 ? [BLANK, sectionTable(sections)] : []),
  ]
}

/** `🎨 FE · Frontend engineer`, below the discipline's name. */
function disciplineLine({ title, icon, acronym, color }: ShownDiscipline): Block {
  const mark = [icon, acronym].filter(Boolean).join(' ')
  const words = mark === '' ? [] : [coloured(mark, color), dim(' · ')]
  return line(...label(''), ...words, title)
}

function factsOf(
  { task, eligible }: TaskState,
  { tier, why, maxTurns, timeoutSeconds }: TierChoice,
): string[] {
  const status = task.status ?? 'no clear status'
  const limits = `up to ${limitsText(maxTurns, timeoutSeconds)}`
  return [eligible ? `${status}, eligible` : status, tier, why, limits]
}

function completionText({ commit, agent, seconds, usage, reverted }: CompletionRecord): string {
  const spent = seconds !== null && spentText(seconds, usage)
  return [commit.slice(0, 10), agent, spent, reverted && 'reverted since'].filter(Boolean).join(' · ')
}

function attemptsText(task: Task, attempts: readonly KeptAttempt[]): string {
  const last = attempts.at(-1)?.outcome ?? ''
  return `${counted(attempts.length, 'attempt')} kept, the last: ${last} (ralph attempts ${task.id})`
}

function waitsLines(state: TaskState, attempts: readonly KeptAttempt[]): readonly Block[] {
  const asks = state.task.status === 'BLOCKED' && attempts.at(-1)?.outcome === 'blocked'
  return explain(state).map(({ why, where }, index) => {
    const next = asks ? `ralph answer ${state.task.id} "…"` : where
    return paragraph(label(index === 0 ? 'waits' : ''), next === '' ? why : `${why} (${next})`)
  })
}

/** Fields with lines of their own, or not worth a line. */
const NOT_LISTED: ReadonlySet<FieldName> = new Set<FieldName>([
  'Status',
  'Milestone',
  'Depends',
  'Complexity',
  'Turns',
  'Timeout',
])

function fieldLines(task: Task): readonly Block[] {
  return task.fields.flatMap(({ name, value }) =>
    name === null || NOT_LISTED.has(name) || value === ''
      ? []
      : [paragraph(label(SHORT[name] ?? name.toLowerCase()), value)],
  )
}

const SHORT: Partial<Record<FieldName, string>> = {
  Completed: 'done',
  'PRD Reference': 'prd',
  Provenance: 'from',
  Discipline: 'how',
}

function sectionTable(rows: readonly Row[]): Block {
  return table(rows, { shrink: [1] })
}

function sectionRow(section: Section, task: Task): Row {
  const text = task.source.slice(section.bodySpan.start, section.bodySpan.end)
  return [section.title, dim(brief(blankComments(text)))]
}

/** The number of checked boxes if there are boxes, else the first line with content. */
function brief(text: string): string {
  const lines = [...linesOf(text)].filter(({ kind }) => kind !== 'blank' && kind !== 'fence')
  const boxes = lines.flatMap((line) => itemIn(line.text)?.box ?? [])
  const checked = boxes.filter((box) => box === 'x').length
  if (boxes.length > 0) return `${checked} of ${boxes.length} checked`
  return lines[0] ? withoutBullet(lines[0].text) : 'empty'
}
