import type { StreamEvent } from '../port.ts'
import type { Json } from './json-lines.ts'
import { toolSummary } from './tool-summary.ts'

/** What is told of a tool. */
export type ToolEvent = Extract<StreamEvent, { readonly type: 'tool' }>

/** The tools at work in a stream that names them only as they begin, and then goes by the id of the call. */
export class ToolCalls {
  readonly #cwd: string
  readonly #running = new Map<string, { readonly name: string; readonly summary: string }>()

  constructor(cwd: string) {
    this.#cwd = cwd
  }

  begin(id: string, name: string, input: Json): ToolEvent {
    const summary = toolSummary(name, input, this.#cwd)
    this.#running.set(id, { name, summary })
    return { type: 'tool', id, name, summary, status: 'running' }
  }

  /** One that nobody has seen begin is a tool all the same. */
  end(id: string, status: Exclude<ToolEvent['status'], 'running'>): ToolEvent {
    const { name, summary } = this.#running.get(id) ?? { name: 'tool', summary: 'tool' }
    this.#running.delete(id)
    return { type: 'tool', id, name, summary, status }
  }

  /** The one line of a tool at work; null where none of that id is. */
  summaryOf(id: string): string | null {
    return this.#running.get(id)?.summary ?? null
  }
}
