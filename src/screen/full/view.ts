import { formatDuration, secondsBetween, waitText, wholeMinutes } from '../../base/time.ts'
import type { JobStatus } from '../run-status.ts'
import { questionText } from '../../engine/questions.ts'
import {
  strong,
  dim,
  accent,
  good,
  bad,
  line,
  textOf,
  type Block,
  type View,
  type Line,
  type Piece,
} from '../block.ts'
import { linesOfBlocks, fit, lineWidth } from '../layout.ts'
import { questionView, crashText, jobLine, progressFacts, stateWord } from '../run-state.ts'
import { bar } from '../task-lines.ts'
import { placeFacts, spentText } from '../tell.ts'
import { textWidth } from '../printable.ts'
import type { BoardTask } from './board.ts'
import {
  keysHelp,
  keysLine,
  TABS,
  type PaneShown,
  type Prompt,
  type ScreenState,
  type Shown,
  type Situation,
  type Tab,
} from './keys.ts'
import type { RunModel, Ring } from './model.ts'
import type { Frame, FrameRow } from './painter.ts'

/** Everything that a frame depends on. */
interface ViewInput extends Situation {
  readonly size: { readonly columns: number; readonly rows: number }
  readonly state: ScreenState
  readonly model: RunModel
  /** The first visible row of the list. */
  readonly top: number
  /** The content of the tab, unless that is the activity; null while it is loading. */
  readonly material: View | null
  /** The name of the project, used until a run names it. */
  readonly project: string
  readonly now: Date
}

/** A frame, and what keys need to know of it. */
export interface Viewed extends Shown {
  readonly frame: Frame
}

/** In fewer columns the list and the pane are not side by side. */
const WIDE = 100

/** The content of the screen: a line about the run, the tasks beside the selected one, and the keys. */
export function view(input: ViewInput): Viewed {
  const { columns, rows } = input.size
  const foot = footOf(input)
  const height = Math.max(0, rows - 2 - foot.lines.length)
  const isWide = columns >= WIDE
  const hasList = isWide || input.state.focus === 'tasks'
  const listWidth = isWide ? Math.max(35, Math.min(53, Math.floor(columns / 3))) : columns
  const paneAt = isWide ? listWidth : 0
  const pane = paneRows(input, columns - paneAt - 2, height)
  const parts: readonly Part[] = [
    ...(hasList ? [{ at: 0, width: listWidth, ...listPart(input, listWidth - 2, height) }] : []),
    ...(isWide || !hasList
      ? [{ at: paneAt, width: columns - paneAt, ...paneTitle(input), lines: pane.lines }]
      : []),
  ]
  const across = (text: Line): FrameRow => [{ at: 0, width: columns, line: text }]
  const titles = parts.map(({ at, width, title, right }) => ({
    at,
    width,
    line: apart(
      [at === 0 ? '' : dim('┬ '), ...title, ' '],
      right === '' ? [] : [dim(` ${right}`)],
      width,
      '─',
    ),
  }))
  const body = Array.from({ length: height }, (_, index): FrameRow =>
    parts.flatMap(({ at, width, lines }) => [
      { at, width: 1, line: at === 0 ? [] : [dim('│')] },
      { at: at + 1, width: width - 1, line: [at === 0 ? '' : ' ', ...(lines[index] ?? [])] },
    ]),
  )
  const all = [across(headLine(input, columns)), titles, ...body, ...foot.lines.map(across)].slice(0, rows)
  const { cursor } = foot
  const place = cursor && {
    row: all.length - foot.lines.length + cursor.line,
    column: Math.min(columns - 1, cursor.column),
  }
  const frame = { columns, rows: all, cursor: place }
  return { frame, listHeight: hasList ? height : 1, pane: pane.shown }
}

/** One of the two parts beside each other, or the only one. */
interface Part {
  readonly at: number
  readonly width: number
  readonly title: Line
  readonly right: string
  readonly lines: readonly Line[]
}

/** A text, and a text at the right edge: the left one is cut, or the right one dropped, if both do not fit. */
function apart(left: Line, right: Line, width: number, fill = ' '): Line {
  const rightWidth = lineWidth(right)
  if (rightWidth + 12 > width) return fit(left, width)
  const shown = fit(left, width - rightWidth - (rightWidth > 0 ? 1 : 0))
  if (rightWidth === 0 && fill === ' ') return shown
  return [...shown, dim(fill.repeat(width - lineWidth(shown) - rightWidth)), ...right]
}

/** `shop · main @ 91c2d07 · claude · 2 jobs`, and the progress. */
function headLine({ model: { isDead }, status, project, now }: ViewInput, width: number): Line {
  if (!status) return [strong(project), dim('  no run has begun')]
  const [name, ...facts] = placeFacts(status, status.atOnce)
  const word = isDead ? bad('died') : status.ended ? strong('ended') : accent(stateWord(status))
  let progress = progressFacts(status, isDead ? null : now)
  const right = (): Line => [word, textOf(word) === '' ? '' : ' · ', progress.join(' · ')]
  // In a narrow terminal the progress is more useful than the branch.
  while (progress.length > 1 && lineWidth(right()) > (width * 2) / 3) progress = progress.slice(0, -1)
  return apart([strong(name!), ` · ${facts.join(' · ')}`], right(), width)
}

function listPart(input: ViewInput, width: number, height: number): Pick<Part, 'title' | 'right' | 'lines'> {
  const { rows, top, state } = input
  const shown = rows.slice(top, top + height).map((row): Line => {
    if (row.kind !== 'milestone') return taskLine(row.kind === 'task' ? row.task : null, input, width)
    const { name, done, all } = row
    return apart([strong(name)], [...bar(done / all, 8), ` ${done}/${all}`], width)
  })
  const lines = rows.length === 0 ? [[dim('no task matches')]] : shown
  return { title: [state.focus === 'tasks' ? accent('Tasks') : dim('Tasks')], right: '', lines }
}

/** A task, or the run as a whole, with its sign and a few words. */
function taskLine(task: BoardTask | null, input: ViewInput, width: number): Line {
  const isChosen = input.state.selected === (task?.id ?? '')
  const [sign, remark] = task ? standing(task, input) : [runSign(input.model), '']
  const name = task ? `${task.id} ${task.title}` : 'The run'
  return apart(
    [isChosen ? accent('▸ ') : '  ', sign, ' ', isChosen ? strong(name) : name],
    remark === '' ? [] : [dim(remark)],
    width,
  )
}

function runSign({ status, isDead }: RunModel): Piece {
  if (!status) return dim('·')
  if (isDead) return bad('■')
  if (status.ended) return status.ended.end === 'done' ? good('✓') : strong('■')
  return accent('●')
}

/** The sign of a task, and a word or two: the run's knowledge comes before the file's. */
function standing(task: BoardTask, { model, status, now, isAlive }: ViewInput): readonly [Piece, string] {
  const { id } = task
  if (status) {
    if (isAlive && status.questions.some((one) => one.id === id)) return [bad('■'), 'a question']
    if (status.held.some((one) => one.id === id)) return [accent('◐'), 'held']
    const job = status.jobs.find((one) => one.id === id)
    if (job && isAlive) return jobStanding(job, now)
    if (status.completed.includes(id)) return [good('✓'), '']
    if (task.status !== 'DONE' && status.blocked.includes(id)) return [bad('■'), 'blocked']
    if (job && model.isDead) return [accent('◐'), 'cut off']
  }
  if (task.status === 'DONE') return [good('✓'), '']
  if (task.status === 'BLOCKED') return [bad('■'), 'blocked']
  if (status?.failed.includes(id)) return [strong('■'), 'left']
  return [task.status === null ? bad('?') : dim('·'), task.waits]
}

function jobStanding({ doing, attempt, since, until }: JobStatus, now: Date): readonly [Piece, string] {
  if (doing === 'waiting' && until !== null) return [accent('◌'), waitText(until, now)]
  const from = doing === 'gates' ? since : (attempt?.since ?? since)
  const time = wholeMinutes(secondsBetween(from, now))
  return [accent('●'), doing === 'gates' ? `gates ${time}` : doing === 'landing' ? 'lands' : time]
}

/** The title of the pane: the task, and what its attempt has taken so far. */
function paneTitle({ task, model, status, state, now }: ViewInput): Pick<Part, 'title' | 'right'> {
  const tone = state.focus === 'pane' ? accent : strong
  if (!task) return { title: [tone(state.selected === '' ? 'The run' : state.selected)], right: '' }
  const title = [tone(task.id), '  ', strong(task.title)]
  const job = model.isDead ? undefined : status?.jobs.find(({ id }) => id === task.id)
  if (!job?.attempt) return { title, right: job?.agent ?? '' }
  const { attempt, limits, usage } = job
  const time = formatDuration(secondsBetween(attempt.since, now))
  const spent = spentText(`${time} of ${formatDuration(limits.seconds)}`, { ...usage, turns: null })
  return { title, right: attempt.counted > 0 ? `attempt ${attempt.counted} · ${spent}` : spent }
}

/** The content of the pane. */
interface PaneRows {
  readonly lines: readonly Line[]
  readonly shown: PaneShown
}

/** The tabs, and the content of the selected one. */
function paneRows(input: ViewInput, columns: number, rows: number): PaneRows {
  const { state, model, task } = input
  if (state.prompt?.kind === 'keys') return fixed(keysHelp(input), state.at, { columns, rows })
  if (!task) return growing(model.lines, state.at, { columns, rows })
  const content = tabRows({ ...input, task }, { columns, rows: Math.max(0, rows - 2) })
  return { ...content, lines: [tabsLine(state.tab, content.shown.at, columns), [], ...content.lines] }
}

/** The content of the selected tab; below the activity what the task is doing, if that is not its agent's work. */
function tabRows(
  { state, material, model, status, task, isAlive, now }: ViewInput & { task: BoardTask },
  room: PaneRoom,
): PaneRows {
  if (state.tab !== 'activity') return fixed(material ?? [line(dim('…'))], state.at, room)
  const seen = model.seen(task.id)
  if (!seen || seen.end === seen.first) {
    const why = task.waits === '' ? [] : [line(dim(`it waits: ${task.waits}`))]
    return fixed([line(dim('nothing of it in this run')), ...why, line(dim(task.file))], null, room)
  }
  const job = isAlive ? status?.jobs.find(({ id }) => id === task.id) : undefined
  const doing = job && job.doing !== 'agent' ? jobLine(job, now) : []
  if (doing.length === 0) return growing(seen, state.at, room)
  const rows = Math.max(0, room.rows - 2)
  const shown = growing(seen, state.at, { ...room, rows })
  const filled = Array.from({ length: rows }, (_, index): Line => shown.lines[index] ?? [])
  return { ...shown, lines: [...filled, [], doing] }
}

function tabsLine(tab: Tab, at: number | null, columns: number): Line {
  const gap = columns < TABS.join('    ').length ? '' : ' '
  const names = TABS.map((name) => (name === tab ? accent(`[${name}]`) : dim(`${gap}${name}${gap}`)))
  return [...names.flatMap((name) => [name, ' ']), at === null ? '' : dim('  scrolled: End goes back')]
}

interface PaneRoom {
  readonly columns: number
  readonly rows: number
}

/**
 * The part of growing content that ends at a line, or the newest part. Lays out only what is visible, however much there is.
 */
function growing(blocks: Ring<Block | string>, at: number | null, { columns, rows }: PaneRoom): PaneRows {
  const { first, end } = blocks
  const to = Math.max(Math.min(first + 1, end), Math.min(end, at ?? end))
  const laid: Line[] = []
  const lay = (number: number): readonly Line[] => {
    const block = blocks.at(number) ?? ''
    return linesOfBlocks([typeof block === 'string' ? textBlock(block) : block], columns)
  }
  let from = to
  while (from > first && laid.length < rows) laid.unshift(...lay(--from))
  const lines = laid.slice(Math.max(0, laid.length - rows))
  // If there is too little above, what follows fills the rest.
  let until = to
  while (until < end && lines.length < rows) lines.push(...lay(until++).slice(0, rows - lines.length))
  return { lines, shown: { at: until < end ? until : null, position: until, rows } }
}

/** A text that keeps its own indent when it wraps, because it may be code. */
function textBlock(text: string): Block {
  const indent = /^ */.exec(text)?.[0] ?? ''
  return { kind: 'prose', head: [indent], text: text.slice(indent.length) }
}

/** The part of fixed content that begins at a line. */
function fixed(blocks: View, at: number | null, { columns, rows }: PaneRoom): PaneRows {
  const lines = linesOfBlocks(blocks, columns)
  const position = Math.max(0, Math.min(lines.length - rows, at ?? 0))
  const shown = { at: position === 0 ? null : position, position, rows }
  return { lines: lines.slice(position, position + rows), shown }
}

interface Foot {
  readonly lines: readonly Line[]
  /** The line and the column of the text cursor. */
  readonly cursor: { readonly line: number; readonly column: number } | null
}

/** What a person types, is asked or was answered, above the keys. */
function footOf(input: ViewInput): Foot {
  const { state, size } = input
  const { prompt, notice } = state
  const keys = keysLine(input, prompt, size.columns)
  const notices: readonly Line[] = notice === '' ? [] : [[accent('› '), notice]]
  switch (prompt?.kind) {
    case 'filter':
      return typing(accent('/ '), prompt.text, { above: [], keys, columns: size.columns })
    case 'answer': {
      const above = [...askedLines(prompt, size.columns), ...notices]
      return typing(accent('> '), prompt.text, { above, keys, columns: size.columns })
    }
    case 'quit':
      return { lines: [[strong('The run continues.')], keys], cursor: null }
    default:
      return { lines: [...notices, ...standingLines(input), keys], cursor: null }
  }
}

/** A question, or how the run ended. */
function standingLines({ model: { isDead }, status, isAlive }: ViewInput): readonly Line[] {
  const question = isAlive ? status?.questions[0] : undefined
  if (question) return [[bad('■ '), questionText(question), dim('   a answers')]]
  if (isDead) return [[bad('■ '), crashText('this run', status)]]
  return status?.ended ? [[dim('the run ended: '), status.ended.reason]] : []
}

const MOST_QUESTION_LINES = 4

function askedLines(
  { task: id, question: text, options }: Extract<Prompt, { kind: 'answer' }>,
  columns: number,
): readonly Line[] {
  const [question, choices] = questionView(questionText({ id, text }), options)
  return [
    ...linesOfBlocks([question], columns).slice(0, MOST_QUESTION_LINES),
    ...(options.length > 0 ? linesOfBlocks([choices], columns) : []),
  ]
}

/** A line in which a person types: the end of a long text is shown. */
function typing(
  head: Piece,
  text: string,
  {
    above,
    keys,
    columns,
  }: { readonly above: readonly Line[]; readonly keys: Line; readonly columns: number },
): Foot {
  const room = Math.max(1, columns - 4)
  let tail = text
  while (textWidth(tail) > room) tail = tail.slice(Math.ceil((textWidth(tail) - room) / 2))
  const cursor = { line: above.length, column: 2 + textWidth(tail) }
  return { lines: [...above, [head, tail], keys], cursor }
}
