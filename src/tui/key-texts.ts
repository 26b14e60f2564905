import { accent, BLANK, dim, line, strong, type Block, type Line } from '../ui/block.ts'
import { widthOf } from '../ui/fit.ts'
import type { ViewInput } from './view.ts'

interface KeyText {
  readonly key: string
  /** As it stands in the line of keys. */
  readonly word: string
  readonly about: string
  /** Those of the highest number go first where there is no room. */
  readonly rank: number
}

/** The keys that do something now, in the order in which they are shown. */
function keysNow({ isAlive, isOwn, model, task }: ViewInput): readonly KeyText[] {
  const { status } = model
  const isPaused = status?.paused === true
  const asks = isAlive && (status?.questions.length ?? 0) > 0
  return [
    { key: '↑↓', word: 'task', about: 'the task above or below; in a pane a line', rank: 3 },
    { key: '⏎', word: 'open', about: 'into the pane of the task; esc goes back', rank: 2 },
    { key: 'tab', word: 'pane', about: 'activity, diff, log and gates, attempts, notes', rank: 4 },
    {
      key: '/',
      word: 'filter',
      about: 'only tasks with these words in id, title, milestone or status',
      rank: 6,
    },
    ...(asks
      ? [{ key: 'a', word: 'answer', about: 'answers what is asked, in your own words too', rank: 0 }]
      : []),
    ...(isAlive
      ? [
          isPaused
            ? { key: 'p', word: 'go on', about: 'lets the paused run go on', rank: 1 }
            : { key: 'p', word: 'pause', about: 'no further attempt begins, until p again', rank: 5 },
          { key: 's', word: 'skip', about: 'leaves the task out of this run; its attempt is kept', rank: 7 },
        ]
      : []),
    ...(task
      ? [{ key: 'r', word: 'retry', about: 'has a failed or blocked task tried again', rank: 8 }]
      : []),
    { key: 'd', word: 'diff', about: "the task's code so far, in your pager", rank: 9 },
    { key: 'l', word: 'log', about: 'all that its agent has said, in your pager', rank: 10 },
    { key: 'n', word: 'notes', about: 'what its file says: notes, comments, why it is blocked', rank: 11 },
    { key: 'e', word: 'edit', about: 'opens its file in $EDITOR', rank: 12 },
    ...(isOwn ? [{ key: 'f', word: 'lines', about: 'back to the lines; the run goes on', rank: 13 }] : []),
    {
      key: 'q',
      word: 'quit',
      about: isAlive ? 'asks what is meant: go, or stop the run' : 'leaves the screen',
      rank: 0,
    },
    { key: '?', word: 'keys', about: 'all keys', rank: 1 },
  ]
}

/** The line of keys: as many as there is room for. */
export function keysLine(input: ViewInput, columns: number): Line {
  const { prompt } = input.state
  const asked = prompt ? PROMPT_KEYS[prompt.kind](input) : null
  let shown = asked ?? keysNow(input)
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

/** All keys that do something now, with what they do. */
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
