import { unreachable } from '../base/errors.ts'
import type { RunEvent } from '../events/event.ts'
import { accent, dim, line, type Block, type Piece } from './block.ts'
import { RunStory, type Story, type Telling } from './run-story.ts'

/** Tells a run of several jobs at once: each task as in a run of its own, with its id before each line. */
export class TogetherStory implements Story {
  readonly #telling: Telling
  /** Tells what belongs to no task, and sums up. */
  readonly #whole: RunStory
  readonly #tasks = new Map<string, RunStory>()
  /** Those whose work waits to land, or lands. */
  readonly #landing = new Map<string, string>()

  constructor(telling: Telling) {
    this.#telling = telling
    this.#whole = new RunStory({ steps: false })
  }

  tell(event: RunEvent): readonly Block[] {
    if (!('id' in event)) {
      if (event.type === 'run-finished') this.#tasks.clear()
      return this.#whole.tell(event)
    }
    const { id } = event
    const story = this.#tasks.get(id) ?? new RunStory(this.#telling)
    this.#tasks.set(id, story)
    this.#follow(event, id)
    if (isEnd(event)) {
      this.#whole.tell(event)
      this.#tasks.delete(id)
    }
    const blocks = story.tell(event).filter((block) => block.kind !== 'line' || block.line.length > 0)
    return event.type === 'task-started' ? blocks : blocks.map((block) => named(block, id))
  }

  now(now: Date): readonly Block[] {
    const lines = [...this.#tasks].flatMap(([id, story]) => {
      const [first] = story.now(now)
      const landing = this.#landing.get(id)
      if (first) return [named(first, id)]
      return landing === undefined ? [] : [line(accent(id), '  ', accent('●'), ` ${landing}`)]
    })
    return [...this.#whole.now(now), ...lines]
  }

  #follow(event: RunEvent, id: string): void {
    if (event.type === 'candidate-ready') this.#landing.set(id, 'waits to land')
    if (event.type === 'landing-started') this.#landing.set(id, 'lands')
    if (event.type === 'landing-finished')
      if (event.result === 'held') this.#landing.set(id, 'is held')
      else this.#landing.delete(id)
  }
}

function isEnd({ type }: RunEvent): boolean {
  return type === 'task-completed' || type === 'task-blocked' || type === 'task-given-up'
}

/** The same with the task before it. */
function named(block: Block, id: string): Block {
  const head: Piece = dim(id)
  switch (block.kind) {
    case 'line':
      return { ...block, line: [head, ...block.line] }
    case 'spread':
      return { ...block, left: [head, ...block.left] }
    case 'hang':
    case 'prose':
      return { ...block, head: [head, ...block.head] }
    case 'table':
      return { ...block, indent: `${' '.repeat(id.length)}${block.indent}` }
    default:
      return unreachable(block)
  }
}
