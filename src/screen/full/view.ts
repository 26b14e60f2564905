import { basename } from 'node:path'
import { clockText, formatDuration, waitText } from '../../base/time.ts'
import { costSoFar, type JobStatus, type RunStatus } from '../run-status.ts'
import { formatCost } from '../../base/usage.ts'
import {
  accent,
  bad,
  dim,
  good,
  line,
  paragraph,
  strong,
  type Block,
  type Line,
  type Piece,
} from '../block.ts'
import { fit, widthOf } from '../fit.ts'
import { linesOfBlocks } from '../layout.ts'
import { spentText, stopText } from '../run-text.ts'
import type { Measure } from '../width.ts'
import type { BoardTask, TreeRow } from './board.ts'
import type { Frame, FrameRow, Segment, ScreenSize } from './frame.ts'
import { keysHelp, keysLine } from './key-texts.ts'
import type { PaneShown } from './keys.ts'
import type { RunModel } from './model.ts'
import { gatesLine, growing, whole, type PaneRows } from './pane.ts'
import { TABS, type Liveness, type Prompt, type ScreenState } from './state.ts'

/** Everything that a frame depends on. */
export interface ViewInput extends Liveness {
  readonly size: ScreenSize
  readonly state: ScreenState
  readonly model: RunModel
  readonly rows: readonly TreeRow[]
  /** The selected task; null for the run. */
  readonly task: BoardTask | null
  /** The first visible row of the list. */
  readonly top: number
  /** The content of the tab, unless that is the activity; null while it is loading. */
  readonly material: readonly Block[] | null
  /** The name of the project, used until a run names it. */
  readonly project: string
  readonly now: Date
  readonly measure: Measure
}

/** A frame, and what keys need to know of it. */
export interface Viewed {
  readonly frame: Frame
  readonly listHeight: number
  readonly pane: PaneShown
}

/** In fewer columns the list and the pane are not side by side. */
const WIDE = 100

/** The content of the screen: a line about the run, the tasks beside the selected one, and the keys. */
export function view(input: ViewInput): Viewed {
  const { size, state } = input
  const foot = footOf(input)
  const isWide = size.columns >= WIDE
  const head: FrameRow = [{ at: 0, width: size.columns, line: headLine(input, size.columns) }]
  const frameRows = isWide ? 2 : 1
  const height = Math.max(0, size.rows - 1 - frameRows - foot.lines.length)
  const body = isWide ? wideBody(input, height) : narrowBody(input, height)
  const footRows = foot.lines.map((text): FrameRow => [{ at: 0, width: size.columns, line: text }])
  const rows = [head, ...body.rows, ...footRows].slice(0, size.rows)
  const cursor =
    foot.cursor === null
      ? null
      : {
          row: rows.length - foot.lines.length + foot.cursor.line,
          column: Math.min(size.columns - 1, foot.cursor.column),
        }
  const listHeight = isWide || state.focus === 'tasks' ? height : 1
  return { frame: { columns: size.columns, rows, cursor }, listHeight, pane: body.pane }
}

interface Body {
  readonly rows: readonly FrameRow[]
  readonly pane: PaneShown
}

/** The list and the pane side by side, each with a frame. */
function wideBody(input: ViewInput, height: number): Body {
  const { size, measure, state } = input
  const left = Math.max(34, Math.min(52, Math.floor(size.columns / 3)))
  const right = size.columns - left - 3
  const list = listLines(input, { width: left - 2, height })
  const pane = paneRows(input, { columns: right - 2, rows: height })
  const title = paneTitle(input)
  const [tasks, chosen] = state.focus === 'tasks' ? [accent('Tasks'), null] : [dim('Tasks'), accent]
  const top: FrameRow = [
    {
      at: 0,
      width: left + 2,
      line: ruled([dim('┌ '), tasks, ' '], [dim('┬')], { width: left + 2, measure }),
    },
    {
      at: left + 2,
      width: right + 1,
      line: ruled(
        [' ', ...title.left(chosen), ' '],
        title.right === '' ? [dim('─┐')] : [' ', dim(title.right), dim(' ┐')],
        {
          width: right + 1,
          measure,
        },
      ),
    },
  ]
  const bottom: FrameRow = [
    { at: 0, width: size.columns, line: [dim(`└${'─'.repeat(left)}┴${'─'.repeat(right)}┘`)] },
  ]
  const border = (at: number): Segment => ({ at, width: 1, line: [dim('│')] })
  const rows = Array.from({ length: height }, (_, index): FrameRow => [
    border(0),
    { at: 1, width: left, line: [' ', ...(list[index] ?? [])] },
    border(left + 1),
    { at: left + 2, width: right, line: [' ', ...(pane.lines[index] ?? [])] },
    border(size.columns - 1),
  ])
  return { rows: [top, ...rows, bottom], pane: pane.shown }
}

/** Either the list or the pane, below its title. */
function narrowBody(input: ViewInput, height: number): Body {
  const { size, state, measure } = input
  const width = size.columns
  const pane = paneRows(input, { columns: width - 1, rows: height })
  const title = paneTitle(input)
  const isList = state.focus === 'tasks'
  const list = isList ? listLines(input, { width: width - 2, height }) : []
  const head = isList
    ? ruled([accent('Tasks'), ' '], [], { width, measure })
    : ruled([...title.left(accent), ' '], title.right === '' ? [] : [' ', dim(title.right)], {
        width,
        measure,
      })
  const lines = isList ? list.map((one): Line => [' ', ...one]) : pane.lines
  const rows = Array.from({ length: height }, (_, index): FrameRow => [
    { at: 0, width, line: lines[index] ?? [] },
  ])
  return { rows: [[{ at: 0, width, line: head }], ...rows], pane: pane.shown }
}

interface Ruled {
  readonly width: number
  readonly measure: Measure
}

/** A text, a rule, and a text at the right edge; the left text is cut if both do not fit. */
function ruled(left: Line, right: Line, { width, measure }: Ruled): Line {
  const shown = fit(left, Math.max(0, width - widthOf(right, measure)), measure)
  const room = Math.max(0, width - widthOf(shown, measure) - widthOf(right, measure))
  return [...shown, dim('─'.repeat(room)), ...right]
}

/** A text, and a text at the right edge, which is dropped if both do not fit. */
function spread(left: Line, right: Line, { width, measure }: Ruled): Line {
  const rightWidth = widthOf(right, measure)
  if (rightWidth === 0 || rightWidth + 12 > width) return fit(left, width, measure)
  const shown = fit(left, width - rightWidth - 1, measure)
  return [...shown, ' '.repeat(width - widthOf(shown, measure) - rightWidth), ...right]
}

/** `shop · main @ 91c2d07 · claude · 2 jobs`, and the progress. */
function headLine({ model: { status, isDead }, project, now, measure }: ViewInput, width: number): Line {
  if (!status) return [strong(project), dim('  no run has begun')]
  const { root, branch, head, agent, atOnce, progress, budget } = status
  const place = `${branch ?? 'detached HEAD'} @ ${head.slice(0, 7)}`
  const facts = [place, ...(agent === '' ? [] : [agent]), ...(atOnce > 1 ? [`${atOnce} jobs`] : [])]
  const { done, tasks, blocked } = progress
  const cost = costSoFar(status)
  const spent =
    cost === null ? [] : [`${formatCost(cost)}${budget === null ? '' : ` of ${formatCost(budget)}`}`]
  const seconds = (Date.parse(status.ended?.at ?? now.toISOString()) - Date.parse(status.since)) / 1000
  const all = [
    `${done} of ${tasks} done`,
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(isDead ? [] : [formatDuration(seconds)]),
    ...spent,
  ]
  const word = stateWord(status, isDead)
  const joined = (facts: readonly string[]): Line => [
    ...(word === null ? [] : [word, ' · ']),
    facts.join(' · '),
  ]
  // In a narrow terminal the progress is more useful than the branch.
  let right = all
  while (right.length > 1 && widthOf(joined(right), measure) > (width * 2) / 3) right = right.slice(0, -1)
  const left: Line = [strong(basename(root)), ` · ${facts.join(' · ')}`]
  return spread(left, joined(right), { width, measure })
}

function stateWord(status: RunStatus, isDead: boolean): Piece | null {
  if (isDead) return bad('died')
  if (status.ended) return strong(`ended ${clockText(new Date(status.ended.at))}`)
  if (status.stopping) return accent(`is ending${stopText(status.stop)}`)
  return status.paused ? accent('paused') : null
}

interface ListRoom {
  readonly width: number
  readonly height: number
}

function listLines(input: ViewInput, { width, height }: ListRoom): readonly Line[] {
  const { rows, top, measure } = input
  if (rows.length === 0) return [[dim('no task matches')]]
  return rows.slice(top, top + height).map((row) => {
    if (row.kind === 'milestone') return milestoneLine(row, { width, measure })
    return taskLine(row.kind === 'task' ? row.task : null, input, width)
  })
}

const BAR = 8

function milestoneLine({ name, done, all }: Extract<TreeRow, { kind: 'milestone' }>, ruled: Ruled): Line {
  const full = Math.floor((done / all) * BAR)
  const bar: Line = ['█'.repeat(full), dim('░'.repeat(BAR - full)), ` ${done}/${all}`]
  return spread([strong(name)], bar, ruled)
}

/** A task, or the run as a whole, with its sign and a few words. */
function taskLine(task: BoardTask | null, input: ViewInput, width: number): Line {
  const { state, measure } = input
  const isChosen = state.selected === (task?.id ?? '')
  const mark = isChosen ? accent('▸ ') : '  '
  const [sign, remark] = task ? standing(task, input) : runStanding(input)
  const name: Line = task
    ? [isChosen ? strong(`${task.id} ${task.title}`) : `${task.id} ${task.title}`]
    : [isChosen ? strong('The run') : 'The run']
  return spread([mark, sign, ' ', ...name], remark === '' ? [] : [dim(remark)], { width, measure })
}

function runStanding({ model: { status, isDead } }: ViewInput): readonly [Piece, string] {
  if (!status) return [dim('·'), '']
  if (isDead) return [bad('■'), 'died']
  if (status.ended) return [status.ended.end === 'done' ? good('✓') : strong('■'), '']
  return [accent('●'), '']
}

/** The sign of a task, and a word or two: the run's knowledge comes before the file's. */
function standing(task: BoardTask, { model, now, isAlive }: ViewInput): readonly [Piece, string] {
  const { status } = model
  const { id } = task
  if (status) {
    if (isAlive && status.questions.some((one) => one.id === id)) return [bad('■'), 'a question']
    const job = isAlive ? status.jobs.find((one) => one.id === id) : undefined
    if (job) return jobStanding(job, now)
    if (status.held.some((one) => one.id === id)) return [accent('◐'), 'held']
    if (status.completed.includes(id)) return [good('✓'), '']
    if (task.status !== 'DONE' && status.blocked.includes(id)) return [bad('■'), 'blocked']
    if (model.isDead && status.jobs.some((one) => one.id === id)) return [accent('◐'), 'cut off']
  }
  if (task.status === 'DONE') return [good('✓'), '']
  if (task.status === 'BLOCKED') return [bad('■'), 'blocked']
  if (status?.failed.includes(id)) return [strong('■'), 'left']
  if (task.status === null) return [bad('?'), task.waits]
  return [dim('·'), task.waits]
}

function jobStanding({ doing, attempt, since, until }: JobStatus, now: Date): readonly [Piece, string] {
  const from = doing === 'gates' ? since : (attempt?.since ?? since)
  const seconds = Math.max(0, (now.getTime() - Date.parse(from)) / 1000)
  const short = formatDuration(seconds < 60 ? seconds : Math.floor(seconds / 60) * 60)
  if (doing === 'waiting' && until !== null) return [accent('◌'), waitText(new Date(until), now)]
  return [accent('●'), doing === 'gates' ? `gates ${short}` : doing === 'landing' ? 'lands' : short]
}

/** The title of the pane: the task, and what its attempt has taken so far. */
function paneTitle({ task, model, state, now }: ViewInput): {
  readonly left: (tone: ((text: string) => Piece) | null) => Line
  readonly right: string
} {
  if (!task) {
    const name = state.selected === '' ? 'The run' : state.selected
    return { left: (tone) => [tone ? tone(name) : strong(name)], right: '' }
  }
  const job = model.status?.jobs.find(({ id }) => id === task.id)
  const left = (tone: ((text: string) => Piece) | null): Line => [
    tone ? tone(task.id) : strong(task.id),
    '  ',
    strong(task.title),
  ]
  return { left, right: job && !model.isDead ? attemptFacts(job, now) : '' }
}

function attemptFacts({ attempt, usage, limits, agent }: JobStatus, now: Date): string {
  if (!attempt) return agent
  const seconds = Math.max(0, (now.getTime() - Date.parse(attempt.since)) / 1000)
  const spent = spentText(seconds, { turns: null, costUsd: null })
  const facts = [
    ...(attempt.counted > 0 ? [`attempt ${attempt.counted}`] : []),
    `${spent} of ${formatDuration(limits.seconds)}`,
    ...(usage.costUsd === null ? [] : [formatCost(usage.costUsd)]),
  ]
  return facts.join(' · ')
}

interface PaneSize {
  readonly columns: number
  readonly rows: number
}

/** The tabs, the content of the selected one, and below the activity the gates' results. */
function paneRows(input: ViewInput, { columns, rows }: PaneSize): PaneRows {
  const { state, model, task, measure, now } = input
  if (state.prompt?.kind === 'keys')
    return whole(linesOfBlocks(keysHelp(input), columns, measure), state.at, { columns, rows, measure })
  if (!task) return growing(model.story, state.at, { columns, rows, measure })
  const tabs = tabsLine(state, columns)
  const rest = Math.max(0, rows - 2)
  if (state.tab !== 'activity') {
    const blocks = input.material ?? [line(dim('…'))]
    const shown = whole(linesOfBlocks(blocks, columns, measure), state.at, { columns, rows: rest, measure })
    return { ...shown, lines: [tabs, [], ...shown.lines] }
  }
  const seen = model.seen(task.id)
  const job = model.status?.jobs.find(({ id }) => id === task.id)
  const gates = gatesLine(seen, input.isAlive ? job : undefined, now)
  const room = { columns, rows: Math.max(0, rest - (gates ? 2 : 0)), measure }
  if (!seen || seen.lines.end === seen.lines.first) {
    const quiet = whole(linesOfBlocks(quietBlocks(task), columns, measure), null, room)
    return { ...quiet, lines: [tabs, [], ...quiet.lines] }
  }
  const shown = growing(seen.lines, state.at, room)
  const filled = Array.from({ length: room.rows }, (_, index): Line => shown.lines[index] ?? [])
  return { ...shown, lines: [tabs, [], ...(gates ? [...filled, [], gates] : shown.lines)] }
}

function tabsLine({ tab, at }: ScreenState, columns: number): Line {
  const gap = columns < TABS.join('    ').length ? '' : ' '
  const names = TABS.map((name): Piece => (name === tab ? accent(`[${name}]`) : dim(`${gap}${name}${gap}`)))
  const line = names.flatMap((name, index): Line => (index === 0 ? [name] : [' ', name]))
  return at === null ? line : [...line, dim('   scrolled: End goes back')]
}

/** The content for a task without events in this run. */
function quietBlocks(task: BoardTask): readonly Block[] {
  const why = task.waits === '' ? '' : `it waits: ${task.waits}`
  return [
    paragraph([], 'nothing of it in this run', 'dim'),
    ...(why === '' ? [] : [paragraph([], why, 'dim')]),
    line(dim(task.file)),
  ]
}

interface Foot {
  readonly lines: readonly Line[]
  /** The line and the column of the text cursor. */
  readonly cursor: { readonly line: number; readonly column: number } | null
}

/** The question, or the last answer, above the keys. */
function footOf(input: ViewInput): Foot {
  const { state, size, measure } = input
  const keys = keysLine(input, size.columns)
  if (state.prompt && state.prompt.kind !== 'keys') return promptFoot(state.prompt, input, keys)
  const notices = noticeLines(input).map((notice) => fit(notice, size.columns, measure))
  return { lines: [...notices, keys], cursor: null }
}

/** What a person should see now: the answer to a key, and what waits for them, even if that came later. */
function noticeLines(input: ViewInput): readonly Line[] {
  const { notice } = input.state
  const standing = standingLine(input)
  return [...(notice === '' ? [] : [[accent('› '), notice]]), ...(standing ? [standing] : [])]
}

/** A question, or how the run ended. */
function standingLine({ model: { status, isDead }, isAlive }: ViewInput): Line | null {
  const question = isAlive ? status?.questions[0] : undefined
  if (question) return [bad('■ '), questionText(question), dim('   a answers')]
  if (isDead) {
    const during =
      status && status.jobs.length > 0
        ? ` while it worked on ${status.jobs.map(({ id }) => id).join(', ')}`
        : ''
    return [bad('■ '), `this run crashed${during}: the next ralph run recovers it`]
  }
  if (status?.ended) return [dim('the run ended: '), status.ended.reason]
  return null
}

/** The run's own question about a failed task contains its id already. */
function questionText({ id, text }: Pick<RunStatus['questions'][number], 'id' | 'text'>): string {
  return text.startsWith(`${id} `) ? text : `${id} asks: ${text}`
}

const MOST_QUESTION_LINES = 4

function promptFoot(prompt: Exclude<Prompt, { kind: 'keys' }>, input: ViewInput, keys: Line): Foot {
  const { size, measure, state } = input
  const room = Math.max(1, size.columns - 4)
  const typing = (head: Piece, text: string): Line => [head, tailOf(text, room, measure)]
  const column = (text: string): number => 2 + measure(tailOf(text, room, measure))
  switch (prompt.kind) {
    case 'filter':
      return {
        lines: [typing(accent('/ '), prompt.text), keys],
        cursor: { line: 0, column: column(prompt.text) },
      }
    case 'quit':
      return { lines: [[strong('The run goes on.')], keys], cursor: null }
    case 'answer': {
      const { task, question, options, text } = prompt
      const questionLines = linesOfBlocks(
        [paragraph([bad('■ ')], questionText({ id: task, text: question }))],
        size.columns,
        measure,
      )
      const choices: Block = { kind: 'hang', head: ['  '], words: optionWords(options), gap: '   ' }
      const lines = [
        ...questionLines.slice(0, MOST_QUESTION_LINES),
        ...(options.length > 0 ? linesOfBlocks([choices], size.columns, measure) : []),
        ...(state.notice === '' ? [] : [[accent('› '), state.notice]]),
      ]
      return {
        lines: [...lines, typing(accent('> '), text), keys],
        cursor: { line: lines.length, column: column(text) },
      }
    }
  }
}

function optionWords(options: readonly string[]): readonly Line[] {
  return [
    ...options.map((option, index): Line => [accent(`${index + 1}`), ` ${option}`]),
    [dim('or your own words')],
  ]
}

/** The end of a typed text, as much as there is room for. */
function tailOf(text: string, columns: number, measure: Measure): string {
  let tail = text
  while (measure(tail) > columns) tail = tail.slice(Math.max(1, Math.ceil((measure(tail) - columns) / 2)))
  return tail
}
