import type { StreamEvent } from '../port.ts'
import type { Json } from './json-lines.ts'
import { toolSummary } from './tool-summary.ts'

/** The event of a tool. */
export type ToolEvent = Extract<StreamEvent, { readonly type: 'tool' }>

/** The running tools in a stream that names them only when they start, and later uses the id of the call. */
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

  /** A tool whose start was not seen is reported too. */
  end(id: string, status: Exclude<ToolEvent['status'], 'running'>): ToolEvent {
    const { name, summary } = this.#running.get(id) ?? { name: 'tool', summary: 'tool' }
    this.#running.delete(id)
    return { type: 'tool', id, name, summary, status }
  }

  /** The summary of a running tool; null if none has that id. */
  summaryOf(id: string): string | null {
    return this.#running.get(id)?.summary ?? null
  }
}
