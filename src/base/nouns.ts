import * as v from 'valibot'
import { type Read, about } from './schema.ts'

const known = v.nullable(v.number())

export const usage = v.object({
  turns: known,
  inputTokens: known,
  cachedTokens: known,
  outputTokens: known,
  costUsd: known,
})
/** Usage of an agent: a number that was not reported is null, never 0. The input includes cached tokens. */
export type Usage = Read<typeof usage>

export const gate = v.object({
  name: v.string(),
  command: v.string(),
  required: about('If false, its failure is only reported.', v.boolean()),
  ifGreen: v.exactOptional(
    about('Whether it becomes required by passing before the first task.', v.literal(true)),
  ),
  paths: v.exactOptional(
    about('It runs only where one of these patterns matches a change.', v.array(v.string())),
  ),
  timeoutSeconds: v.number(),
  rerun: v.exactOptional(
    about('How often it runs again on the same files if its tests fail; once if not said.', v.number()),
  ),
})
/** One of the project's own checks: a shell command that must exit with 0. */
export type Gate = Read<typeof gate>

export const testCounts = v.object({ run: v.number(), skipped: v.number(), failed: v.number() })
/** The tests that a gate ran, left out, and saw fail. */
export type TestCounts = Read<typeof testCounts>

export const gateResult = v.object({
  gate,
  verdict: v.picklist(['passed', 'failed', 'timed-out', 'not-runnable', 'interrupted']),
  seconds: v.number(),
  reason: about('One sentence: how it ended.', v.string()),
  tests: v.exactOptional(
    about('The tests that it ran; null if its output does not say.', v.nullable(testCounts)),
  ),
  flaky: v.exactOptional(about('Whether it failed, and then passed on the same files.', v.literal(true))),
  missing: v.exactOptional(
    about('The program that it could not start, if its output names one.', v.string()),
  ),
  excerpt: about('The part of its output that is worth reading; empty if it passed.', v.string()),
  fingerprint: about(
    'Equal for equal failures, ignoring times, line numbers and temporary folders; empty if it passed.',
    v.string(),
  ),
})
/** How one gate ended. */
export type GateResult = Read<typeof gateResult>

/** How a gate ended. */
export type Verdict = GateResult['verdict']

export const denial = v.object({ tool: v.string(), allowedBy: v.picklist(['full', 'custom']) })
/** A tool that an agent was denied, and the permission that would allow it. */
export type Denial = Read<typeof denial>

export const cagedAction = v.object({
  action: v.picklist(['read', 'write', 'connect']),
  target: about('A path, or a host with its port.', v.string()),
  allowedBy: about(
    '`sandbox.network: "example.com"`; null if no entry can allow it.',
    v.nullable(v.string()),
  ),
})
/** An action that the cage refused, and the configuration entry that would allow it. */
export type CagedAction = Read<typeof cagedAction>

/** A program that agents get as an MCP server. */
export interface McpServer {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The time limit for a call of its tools; if absent, the agent's own limit applies. */
  readonly toolSeconds?: number
}
