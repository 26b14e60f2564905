import { readFileSync } from 'node:fs'
import { eventIn, type Emitted, type RunEvent } from '../../src/engine/events/event.ts'
import type { Usage } from '../../src/base/nouns.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import { taskJson } from '../../src/backlog/select/task-json.ts'
import { tierOf } from '../../src/backlog/select/tier.ts'
import { buildTask } from '../task/build-task.ts'

/** When the recorded runs began. */
export const START = new Date(2025, 0, 15, 14, 30).getTime()

/** The journal of a recorded run, as if it had begun at that moment. */
export function recordedRun(name: string, began = START): readonly RunEvent[] {
  const text = readFileSync(new URL(`journals/${name}.ndjson`, import.meta.url), 'utf8')
  const [recorded = ''] = /(?<="at":")[^"]+/.exec(text) ?? []
  const moved = text.replaceAll(/(?<="(?:at|until)":")[^"]+/g, (time) =>
    new Date(Date.parse(time) - Date.parse(recorded) + began).toISOString(),
  )
  return moved
    .trimEnd()
    .split('\n')
    .map((line) => eventIn(line)!)
}

/** So many turns, and so many dollars. */
export const usage = (turns: number, costUsd: number): Usage => ({
  turns,
  costUsd,
  inputTokens: null,
  cachedTokens: null,
  outputTokens: null,
})

/** The end of an attempt of which nothing more is to say. */
export const ended = { id: 'T-004', detail: '', denied: [], ref: null } as const

/** A task that begins. */
export function taskStarted(id: string, title: string): Emitted {
  return {
    type: 'task-started',
    id,
    task: taskJson({ task: buildTask(id, { title }), eligible: true, waiting: [] }, (task) => tierOf(task)),
    tier: 'Standard',
    limits: { turns: 75, seconds: 900, attempts: 4 },
    agent: 'claude 2.1.326',
  }
}

/** An attempt that begins. */
export function attemptStarted(
  id: string,
  counted = 1,
  more: { model?: string; log?: string } = {},
): Emitted {
  const agent = 'claude 2.1.326'
  const event = { id, attempt: counted, counted, most: 4, agent, model: null, log: '', ...more }
  return { type: 'attempt-started', ...event }
}

/** A tool at work, or how it ended. */
export function tool(
  id: string,
  summary: string,
  status: 'running' | 'ok' | 'failed' | 'denied' = 'running',
): Emitted {
  return { type: 'agent-tool', id, name: summary.split(' ')[0]!, summary, status }
}

/** An attempt whose work passed. */
export function passed(id: string, usageOfIt: Usage = UNKNOWN_USAGE): Emitted {
  const of = { attempt: 1, counted: 1, reason: 'done', seconds: 60, usage: usageOfIt }
  return { ...ended, id, type: 'attempt-finished', outcome: 'done', ...of }
}

/** A task's commit. */
export function completed(id: string, title: string, duration = 492): Emitted {
  const of = { attempts: 1, turns: 39, cost: 0.53, usage: usage(39, 0.53), files: 3, added: 120, removed: 4 }
  return { type: 'task-completed', id, title, commit: 'a41f7c2bbbbbbb', duration, ...of }
}
