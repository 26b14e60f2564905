import { accent, BLANK, dim, line, strong, type Block, type Line } from '../block.ts'
import { widthOf } from '../fit.ts'
import { canRetry, canSkip, isAtWork } from './keys.ts'
import type { ViewInput } from './view.ts'

interface KeyText {
  readonly key: string
  /** Its text in the line of keys. */
  readonly word: string
  readonly about: string
  /** Keys with a higher number are dropped first if there is no room. */
  readonly rank: number
}

/** The keys that do something now, in the order of the line. */
function keysNow({ isAlive, isOwn, model: { status }, task }: ViewInput): readonly KeyText[] {
  const possible = { isAlive, status }
  const asks = isAlive && (status?.questions.length ?? 0) > 0
  const when = (
    is: boolean,
    ...[key, word, about, rank]: [string, string, string, number]
  ): readonly KeyText[] => (is ? [{ key, word, about, rank }] : [])
  const isPaused = status?.paused === true
  return [
    ...when(true, '↑↓', 'task', 'the task above or below; in a pane a line', 3),
    ...when(true, '⏎', 'open', 'into the pane of the task; esc goes back', 2),
    ...when(task !== null, 'tab', 'pane', 'activity, diff, log and gates, attempts, notes', 4),
    ...when(true, '/', 'filter', 'only tasks with these words in id, title, milestone or status', 6),
    ...when(asks, 'a', 'answer', 'answers what is asked, in your own words too', 0),
    ...when(isAlive && !isPaused, 'p', 'pause', 'no further attempt begins, until p again', 5),
    ...when(isAlive && isPaused, 'p', 'go on', 'lets the paused run go on', 1),
    ...when(
      task !== null && canSkip(task, possible),
      's',
      'skip',
      'leaves the task out of this run; its attempt is kept',
      7,
    ),
    ...when(task !== null && canRetry(task, possible), 'r', 'retry', 'has the task tried again', 8),
    ...when(
      isOwn && task !== null && isAtWork(task, possible),
      'i',
      'take over',
      'lets you drive its agent yourself',
      8,
    ),
    ...when(task !== null, 'd', 'diff', "the task's code so far, in your pager", 9),
    ...when(task !== null, 'l', 'log', 'all that its agent has said, in your pager', 10),
    ...when(task !== null, 'n', 'notes', 'what its file says: notes, comments, why it is blocked', 11),
    ...when(task !== null, 'e', 'edit', 'opens its file in $EDITOR', 12),
    ...when(isOwn, 'f', 'lines', 'back to the lines; the run goes on', 13),
    ...when(
      true,
      'q',
      'quit',
      isAlive ? 'asks first: leave the run going, or stop it' : 'leaves the screen',
      0,
    ),
    ...when(true, '?', 'keys', 'all keys', 1),
  ]
}

/** The line of keys: as many as there is room for. */
export function keysLine(input: ViewInput, columns: number): Line {
  const { prompt } = input.state
  const ofPrompt = prompt ? PROMPT_KEYS[prompt.kind](input) : null
  let shown = ofPrompt ?? keysNow(input)
  let text = lineOf(shown)
  while (widthOf(text, input.measure) > columns && shown.length > 1) {
    const least = Math.max(...shown.map(({ rank }) => rank))
    const gone = shown.findLastIndex(({ rank }) => rank === least)
    shown = shown.filter((_, index) => index !== gone)
    text = lineOf(shown)
  }
  return text
}

function lineOf(keys: readonly Pick<KeyText, 'key' | 'word'>[]): Line {
  return keys.flatMap(({ key, word }, index): Line => [
    index === 0 ? ' ' : '  ',
    accent(key),
    dim(` ${word}`),
  ])
}

const key = (name: string, word: string): KeyText => ({ key: name, word, about: '', rank: 0 })

const PROMPT_KEYS = {
  filter: () => [key('⏎', 'keep it'), key('esc', 'all tasks')],
  answer: () => [key('⏎', 'send'), key('esc', 'later')],
  keys: () => [key('any key', 'goes back')],
  quit: ({ isOwn }: ViewInput) => [
    key('1', isOwn ? 'back to the lines' : 'leave it running, and go'),
    key('2', 'stop after this attempt'),
    key('3', 'stop now'),
    key('esc', 'stay'),
  ],
} as const

/** All keys that do something now, and what they do. */
export function keysHelp(input: ViewInput): readonly Block[] {
  const rows = keysNow(input).map(({ key: name, about }) => [accent(name), about])
  const more = [
    ['PgUp PgDn', 'a page; Home and End: the first and the last'],
    ['esc', 'back: from the pane, from a filter, to the task at work'],
    ...(input.isOwn
      ? [['Ctrl-C', 'ends the run in order; twice: at once']]
      : [['Ctrl-C', 'leaves the screen']]),
    ['Ctrl-Z', 'puts it in the background; fg brings it back'],
  ].map(([name = '', about = '']) => [accent(name), about])
  return [line(strong('Keys')), BLANK, { kind: 'table', rows: [...rows, ...more], wrap: 1, indent: '  ' }]
}
