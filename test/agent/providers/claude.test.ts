import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { claude } from '../../../src/agents/providers/claude.ts'
import { hear, request, sample } from './sample.ts'
import { makeFolder } from '../../repository.ts'

const result = (fields: object) =>
  JSON.stringify({
    subtype: 'success',
    is_error: false,
    result: 'Done. <TASK_DONE>',
    type: 'result',
    ...fields,
  })

test("claude reads the repository's CLAUDE.md, though nothing of its settings", () => {
  const cwd = makeFolder()
  const given = () => claude.invocation(request({ cwd })).args.filter((arg) => arg.includes('CLAUDE.md'))
  expect(given()).toEqual([])
  writeFileSync(path.join(cwd, 'CLAUDE.md'), 'Be kind.')
  expect(given()).toEqual([`--append-system-prompt-file=${path.join(cwd, 'CLAUDE.md')}`])
})

describe('what claude tells', () => {
  test('a run without a result keeps what its stream had told, and no output tokens, which it tells too early', () => {
    const { end } = hear(claude, sample('claude-ok').slice(0, -2), {
      exit: { code: null, signal: 'SIGKILL' },
    })
    expect(end.usage).toEqual({
      turns: 3,
      inputTokens: 18_600,
      cachedTokens: 15_000,
      outputTokens: null,
      costUsd: null,
    })
    expect(end.end).toEqual({ kind: 'crashed', reason: 'Claude Code was ended by SIGKILL' })
  })

  test('the last of several results decides', () => {
    const { end } = hear(claude, [result({ num_turns: 3 }), result({ result: 'Now done.', num_turns: 5 })])
    expect(end).toMatchObject({ finalMessage: 'Now done.', usage: { turns: 5 } })
  })

  test('a result with turns still queued is not the last', () => {
    expect(hear(claude, [result({ queued_turn_count: 1 })]).events).not.toContainEqual({ type: 'result' })
    expect(hear(claude, [result({ queued_turn_count: 0 })]).events).toContainEqual({ type: 'result' })
  })

  test('denied tools, also when it never came to a result', () => {
    expect(hear(claude, sample('claude-denied').slice(0, 4)).end.denied).toEqual([
      'Bash git commit --allow-empty -m x',
    ])
  })
})

describe('how claude fails', () => {
  test('at the second refused login it is not waited for: it would go on for three minutes', () => {
    const cut = hear(claude, sample('claude-401').slice(0, 3), { exit: { code: 143 } })
    expect(cut.events.at(-1)).toEqual({ type: 'result' })
    expect(cut.end.end.kind).toBe('auth')
  })

  test('a plan limit ends when its event says', () => {
    const info = { status: 'rejected', resetsAt: 1_795_010_400, rateLimitType: 'five_hour' }
    const limit = JSON.stringify({ rate_limit_info: info, type: 'rate_limit_event' })
    const until = new Date(1_795_010_400_000)
    const failed = result({ is_error: true, api_error_status: 429, result: "You've hit your limit" })
    expect(hear(claude, [limit, failed]).end.end).toEqual({
      kind: 'rate-limited',
      reason: "You've hit your limit",
      until,
    })
    // Killed while it waits: the same.
    expect(hear(claude, [limit], { exit: { code: 143 } }).end.end).toEqual({
      kind: 'rate-limited',
      reason: 'five hour limit',
      until,
    })
    // It went on, on other credit: then the limit is not how it ended.
    expect(hear(claude, [limit, result({})]).end.end.kind).toBe('finished')
  })

  test('a limit that is near is a warning', () => {
    const info = { status: 'allowed_warning', utilization: 0.92, rateLimitType: 'five_hour' }
    const { events } = hear(claude, [JSON.stringify({ type: 'rate_limit_event', rate_limit_info: info })])
    expect(events).toEqual([
      { type: 'warning', message: 'The five hour limit of Claude Code is used to 92 %.' },
    ])
  })

  test('a refusal of the model, and a request that the service refuses', () => {
    expect(hear(claude, [result({ stop_reason: 'refusal', result: 'I cannot.' })]).end.end).toEqual({
      kind: 'refused',
      reason: 'I cannot.',
      hopeless: 'task',
    })
    expect(
      hear(claude, [result({ is_error: true, api_error_status: 404, result: 'no model' })]).end.end.kind,
    ).toBe('refused')
  })
})
