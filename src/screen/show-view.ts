import { dependantsOf, unblocks, type Selection, type TaskState } from '../backlog/select/selection.ts'
import type { UnderWay } from '../backlog/json.ts'
import type { TierChoice } from '../backlog/select/tier.ts'
import type { FieldName, Section, Task, TaskHead } from '../backlog/model.ts'
import type { KeptAttempt } from '../git/record.ts'
import type { CompletionRecord } from '../history/completions.ts'
import type { Discipline } from '../prompt/discipline.ts'
import { tellingLines } from '../base/failure-lines.ts'
import { blankComments } from '../backlog/markdown/inline.ts'
import { itemIn, linesOf, withoutBullet } from '../backlog/markdown/lines.ts'
import {
  strong,
  dim,
  dotted,
  good,
  line,
  paragraph,
  section,
  spread,
  table,
  BLANK,
  coloured,
  facts,
  type Block,
  type Row,
  type View,
} from './block.ts'
import {
  dependenciesOf,
  explain,
  label,
  limitsText,
  named,
  signOf,
  thenLines,
  titleLine,
  underWayText,
} from './task-lines.ts'
import { counted, withoutEscapes } from '../base/text.ts'
import { minuteText } from '../base/time.ts'
import { spentText } from './tell.ts'

/** One task: its state, its needs and dependants, its fields, and its text in brief; the discipline if it has a file. */
export function showView(
  {
    state,
    selection,
    choice,
    attempts,
    completion,
    underWay,
  }: {
    state: TaskState
    selection: Selection<TaskHead>
    choice: TierChoice
    attempts: readonly KeptAttempt[]
    /** The commit that completed it, an undone one only if there is no other; null if there is none. */
    completion: CompletionRecord | null
    /** What a run works on now. */
    underWay: ReadonlyMap<string, UnderWay>
  },
  discipline: ShownDiscipline | null,
): View {
  const { task } = state
  const own = task.fields.filter(({ name }) => name === null).map(({ key, value }) => [dim(key), value])
  const dependants = dependantsOf(selection, task.number).map((one) => [one.task.id, ' ', signOf(one)])
  const sections = task.sections.map((each) => sectionRow(each, task))
  return [
    titleLine(task),
    facts(['       '], factsOf(state, choice, underWay.get(task.id)), 'dim'),
    ...named('after', dependenciesOf(task, selection), '  '),
    ...named('before', dependants, '  '),
    ...waitsLines(state, attempts),
    ...thenLines(unblocks(selection, task.id)),
    ...fieldLines(task),
    ...(discipline ? [disciplineLine(discipline)] : []),
    ...(completion ? [paragraph(label('by'), completionText(completion))] : []),
    ...(attempts.length > 0 ? [paragraph(label('tried'), attemptsText(task, attempts))] : []),
    ...named('file', [[task.file]], ' '),
    ...section('', table(own, { wrap: 1 })),
    ...section('', table(sections, { shrink: [1] })),
  ]
}

type ShownDiscipline = Pick<Discipline, 'title' | 'icon' | 'acronym' | 'color'>

/** `🎨 FE · Frontend engineer`, below the discipline's name. */
function disciplineLine({ title, icon, acronym, color }: ShownDiscipline): Block {
  const mark = [icon, acronym].filter(Boolean).join(' ')
  const words = mark === '' ? [] : [coloured(mark, color), dim(' · ')]
  return line(...label(''), ...words, title)
}

function factsOf(
  { task, eligible }: TaskState,
  { tier, why, maxTurns, timeoutSeconds }: TierChoice,
  where: UnderWay | undefined,
): string[] {
  const status = task.status ?? 'no clear status'
  const limits = `up to ${limitsText(maxTurns, timeoutSeconds)}`
  const now = where ? underWayText(where) : eligible && 'eligible'
  return [now ? `${status}, ${now}` : status, tier, why, limits]
}

function completionText({ commit, agent, seconds, usage, reverted }: CompletionRecord): string {
  const spent = seconds !== null && spentText(seconds, usage)
  return dotted(commit.slice(0, 10), agent, spent, reverted && 'reverted since')
}

function attemptsText(task: Task, attempts: readonly KeptAttempt[]): string {
  const last = attempts.at(-1)?.outcome ?? ''
  return `${counted(attempts.length, 'attempt')} kept, the last: ${last} (ralph attempts ${task.id})`
}

function waitsLines(state: TaskState, attempts: readonly KeptAttempt[]): View {
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

function fieldLines(task: Task): View {
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
  if (!lines[0]) return 'empty'
  const { kind, text: first } = lines[0]
  return /^(?:code|fenced)$/.test(kind) ? first : withoutEscapes(withoutBullet(first))
}

/** The attempts at a task: how each ended, its usage, and where it is kept. */
export function attemptsView(task: Task, attempts: readonly KeptAttempt[]): View {
  if (attempts.length === 0) return [titleLine(task), line('       no attempt is kept')]
  return [titleLine(task), ...attemptList(attempts)]
}

/** The attempts alone, each below an empty line. */
export function attemptList(attempts: readonly KeptAttempt[]): View {
  return attempts.flatMap(attemptBlocks)
}

const MOST_LINES = 6

function attemptBlocks(record: KeptAttempt): View {
  const { number, outcome, reason, detail, changed, caged, ref, keptAt, agent, usage, seconds } = record
  const how = outcome === 'done' ? good(outcome) : strong(outcome)
  const spent = dim(`  ${agent} · ${spentText(seconds, usage)}`)
  const more = (name: string, items: readonly string[]): View =>
    items.length === 0 ? [] : [paragraph(['     ', dim(`${name} `), ' '], items.join(', '))]
  return [
    BLANK,
    spread([`  ${number}  `, how, spent], [dim(minuteText(keptAt))]),
    paragraph(['     '], reason),
    ...tellingLines(detail, MOST_LINES).map((text) => line(dim(`       ${text}`))),
    ...more('the sandbox refused', caged),
    ...more('changed', changed),
    line('     ', dim(`git show ${ref}`)),
  ]
}
