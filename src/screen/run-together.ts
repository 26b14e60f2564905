import { unreachable } from '../base/errors.ts'
import type { RunEvent } from '../engine/events/event.ts'
import type { Gate } from '../base/nouns.ts'
import { accent, dim, line, type Block, type Line, type Piece } from './block.ts'
import { heldLine, LIVE } from './run-blocks.ts'
import { RunStory, type LiveRoom, type Story, type StoryDetail } from './run-story.ts'
import { cut, type Measure } from './width.ts'

/** Shows a run of several jobs: each task as in a run of its own, with its id before each line. */
export class TogetherStory implements Story {
  readonly #detail: StoryDetail
  /** Shows what belongs to no task, and the summary. */
  readonly #whole: RunStory
  readonly #tasks = new Map<string, RunStory>()
  /** Tasks whose work waits to land, or lands. */
  readonly #landing = new Map<string, Line>()
  #gates: readonly Gate[] = []

  constructor(detail: StoryDetail) {
    this.#detail = detail
    this.#whole = new RunStory({ steps: false })
  }

  show(event: RunEvent): readonly Block[] {
    if (!('id' in event)) {
      if (event.type === 'run-started') this.#gates = event.gates
      if (event.type === 'run-finished') this.#tasks.clear()
      return this.#whole.show(event)
    }
    const { id } = event
    const story = this.#tasks.get(id) ?? new RunStory(this.#detail, this.#gates)
    this.#tasks.set(id, story)
    this.#follow(event, id)
    if (isEnd(event)) {
      this.#whole.show(event)
      this.#tasks.delete(id)
      this.#landing.delete(id)
    }
    const blocks = story.show(event).filter((block) => block.kind !== 'line' || block.line.length > 0)
    return event.type === 'task-started' ? blocks : blocks.map((block) => named(block, [dim(id)]))
  }

  /** A line for each task at work: its id, its title if there is room, and its state. */
  live(now: Date, room: LiveRoom): readonly Block[] {
    const titled = room.columns >= ROOM_FOR_TITLES
    const lines = [...this.#tasks].flatMap(([id, story]) => {
      const [doing] = story.live(now, { ...room, rows: 1 })
      const landing = this.#landing.get(id)
      const shown = doing ?? (landing === undefined ? null : line('  ', ...landing))
      const title = titled ? [`  ${padded(story.title, TITLE_COLUMNS, room.measure)}`] : []
      return shown ? [named(shown, ['  ', accent(id), ...title])] : []
    })
    const all = [...this.#whole.live(now, { ...room, rows: 1 }), ...lines]
    if (all.length <= room.rows) return all
    const shown = Math.max(0, room.rows - 1)
    return [...all.slice(0, shown), line(dim(`  … ${all.length - shown} more`))]
  }

  #follow(event: RunEvent, id: string): void {
    if (event.type === 'candidate-ready') this.#landing.set(id, [LIVE, ' waits to land'])
    if (event.type === 'landing-started') this.#landing.set(id, [LIVE, ' lands'])
    if (event.type === 'landing-finished')
      if (event.result === 'held') this.#landing.set(id, heldLine(event.paths))
      else this.#landing.delete(id)
  }
}

const TITLE_COLUMNS = 22
const ROOM_FOR_TITLES = 90

function padded(text: string, columns: number, measure: Measure): string {
  const shown = cut(text, columns, measure)
  return shown + ' '.repeat(Math.max(0, columns - measure(shown)))
}

function isEnd({ type }: RunEvent): boolean {
  return type === 'task-completed' || type === 'task-blocked' || type === 'task-given-up'
}

/** The block with the task's id before it. */
function named(block: Block, head: Line): Block {
  switch (block.kind) {
    case 'line':
      return { ...block, line: [...head, ...block.line] }
    case 'spread':
      return { ...block, left: [...head, ...block.left] }
    case 'hang':
    case 'prose':
      return { ...block, head: [...head, ...block.head] }
    case 'table':
      return { ...block, indent: `${' '.repeat(widthOfHead(head))}${block.indent}` }
    default:
      return unreachable(block)
  }
}

function widthOfHead(head: Line): number {
  return head.reduce((sum, piece: Piece) => sum + (typeof piece === 'string' ? piece : piece.text).length, 0)
}
