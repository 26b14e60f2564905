import { describe, expect, test } from 'vitest'
import { codex } from '../../../src/agents/providers/codex.ts'
import { hear, sample } from './sample.ts'

describe('what codex tells', () => {
  test('only the last message is the final one', () => {
    const said = (text: string) =>
      JSON.stringify({ type: 'item.completed', item: { type: 'agent_message', text } })
    const { end } = hear(codex, [said('<TASK_DONE>'), said('Wait.'), '{"type":"turn.completed","usage":{}}'])
    expect(end.finalMessage).toBe('Wait.')
  })

  test('what its approvals stop is denied', () => {
    const item = { id: 'a', type: 'mcp_tool_call', server: 'docs', tool: 'find', status: 'failed' }
    const error = { message: 'MCP tool call requires approval, but approval policy is never' }
    const { end } = hear(codex, [JSON.stringify({ type: 'item.completed', item: { ...item, error } })])
    expect(end.denied).toEqual(['docs.find'])
  })
})

describe('a turn of codex', () => {
  const item = (id: string, type: string, more: object = {}) =>
    JSON.stringify({ type, item: { id, type: 'command_execution', command: id, ...more } })
  const ran = (id: string) => [item(id, 'item.started'), item(id, 'item.completed', { status: 'completed' })]

  test('is not held open by a command that goes on in the background', () => {
    const lines = [item('server', 'item.started'), ...ran('a'), ...ran('b'), ...ran('c')]
    expect(hear(codex, lines).end.usage.turns).toBe(3)
  })
})

describe('how codex fails', () => {
  const failed = (message: string) => [JSON.stringify({ type: 'turn.failed', error: { message } })]

  test('trying to connect again is not the end', () => {
    const lines = sample('codex-429')
    const heard = hear(codex, [...lines.slice(0, 8), ...sample('codex-ok').slice(3)])
    expect(heard.end.end.kind).toBe('finished')
    expect(heard.events.filter((event) => event.type === 'retrying')).toHaveLength(5)
  })

  test('ended while it tries again, what it tried for is the reason', () => {
    const { end } = hear(codex, sample('codex-429').slice(0, 5), { exit: { code: null, signal: 'SIGTERM' } })
    expect(end.end).toEqual({
      kind: 'rate-limited',
      reason: 'exceeded retry limit, last status: 429 Too Many Requests',
      until: null,
    })
  })

  test('a usage limit ends at the time of day that it names', () => {
    const { end } = hear(
      codex,
      failed("You've hit your usage limit. Upgrade to Pro, or try again at 10:33 AM."),
    )
    expect(end.end).toMatchObject({ kind: 'rate-limited', until: new Date(2026, 10, 18, 10, 33) })
  })

  test('an overload, a model that is not there', () => {
    expect(hear(codex, failed('unexpected status 529 <unknown status code>: Overloaded')).end.end.kind).toBe(
      'overloaded',
    )
    expect(hear(codex, failed('unexpected status 404 Not Found: no such model')).end.end.kind).toBe('refused')
  })
})
