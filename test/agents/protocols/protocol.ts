import type { ServerResponse } from 'node:http'
import type { Reply } from '../model.ts'

/** One way in which agents talk to a model. */
export interface Protocol {
  readonly path: RegExp
  /** The tools that a request offers, and how many results of tools it holds. */
  read(body: Record<string, unknown>): { readonly tools: readonly string[]; readonly results: number }
  error(status: number, message: string, code?: string): object
  write(response: ServerResponse, reply: Extract<Reply, { kind: 'say' | 'call' }>, how: How): void
}

export interface How {
  readonly tools: readonly string[]
  readonly isStream: boolean
  readonly model: string
}

/** What every turn of a fake model is said to have used. */
export const USED = { fresh: 1200, cached: 5000, output: 100 } as const

let ids = 0
/** An id that no other has. */
export function newId(prefix: string): string {
  return `${prefix}${(++ids).toString().padStart(12, '0')}`
}

/** The value as a list of objects, however a request spells it. */
export function objects(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : []
}

/** Answers with one JSON document. */
export function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Answers with events; those with a type are named by it. */
export function sendEvents(
  response: ServerResponse,
  events: readonly Readonly<Record<string, unknown>>[],
  last = '',
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    if (typeof event['type'] === 'string') response.write(`event: ${event['type']}\n`)
    response.write(`data: ${JSON.stringify(event)}\n\n`)
  }
  response.end(last)
}
