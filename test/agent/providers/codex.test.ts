import type { Permission } from '../../../src/agents/port.ts'
import { describe, expect, test } from 'vitest'
import { codex } from '../../../src/agents/providers/codex.ts'
import { hear, request, sample, tools } from './sample.ts'

describe('how codex is called', () => {
  test('the prompt goes over stdin, in a sandbox that may write to the workspace', () => {
    const { args, stdin } = codex.invocation(request({ model: 'gpt-5.5' }))
    expect(args.join(' ')).toBe(
      'exec --json --skip-git-repo-check --disable=plugins --model=gpt-5.5 --sandbox workspace-write -',
    )
    expect(stdin).toBe('Do the task.')
  })

  test('full and custom', () => {
    const at = (permission: Parameters<typeof request>[0]) =>
      codex.invocation(request(permission)).args.slice(4)
    expect(at({ permission: { level: 'full' } })).toEqual(['--dangerously-bypass-approvals-and-sandbox', '-'])
    expect(at({ permission: { level: 'custom', args: ['-s', 'read-only'] } })).toEqual([
      '-s',
      'read-only',
      '-',
    ])
  })

  test('in a cage its own sandbox is off, which cannot be made in another', () => {
    const at = (permission: Permission) => codex.invocation(request({ permission })).args
    const off = '--dangerously-bypass-approvals-and-sandbox'
    for (const permission of [{ level: 'edit' }, { level: 'read', web: false }] as const) {
      expect(at(permission)).not.toContain(off)
      expect(at({ ...permission, isCaged: true })).toContain(off)
      expect(at({ ...permission, isCaged: true })).not.toContain('--sandbox')
    }
  })

  test('servers are approved beforehand, whatever stands in their names and values', () => {
    const mcpServers = { 'my.docs': { command: 'node', args: ['a "b"'], env: { 'A.B': 'x\ny' } } }
    const { args } = codex.invocation(request({ mcpServers }))
    const slow = { docs: { command: 'node', args: [], env: {}, toolSeconds: 3660 } }
    expect(codex.invocation(request({ mcpServers: slow })).args.join(' ')).toContain('tool_timeout_sec=3660}')
    expect(args[args.indexOf('-c') + 1]).toBe(
      'mcp_servers.my_docs={command="node",args=["a \\"b\\""],env={"A.B"="x\\ny"},default_tools_approval_mode="approve"}',
    )
  })
})

describe('what codex tells', () => {
  test('commands without the shell around them', () => {
    expect(tools(hear(codex, sample('codex-bashfail')))).toEqual([
      'running: shell echo oops >&2; exit 3',
      'failed: shell echo oops >&2; exit 3',
    ])
  })

  test('turns are counted, tokens are told, a cost is not', () => {
    expect(hear(codex, sample('codex-ok')).end.usage).toEqual({
      turns: 4,
      inputTokens: 24_800,
      cachedTokens: 20_000,
      outputTokens: 400,
      costUsd: null,
    })
  })

  test('only the last message is the final one', () => {
    const said = (text: string) =>
      JSON.stringify({ type: 'item.completed', item: { type: 'agent_message', text } })
    const { end } = hear(codex, [said('<TASK_DONE>'), said('Wait.'), '{"type":"turn.completed","usage":{}}'])
    expect(end.finalMessage).toBe('Wait.')
  })

  test('what its sandbox and its approvals stop is denied', () => {
    expect(hear(codex, sample('codex-denied')).end.denied).toEqual(['shell git commit --allow-empty -m x'])
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
  test('an answer that was cut off is shown as such', () => {
    expect(hear(codex, sample('codex-cut')).end.end).toEqual({
      kind: 'crashed',
      reason: 'The answer of the model was cut off: Incomplete response returned, reason: max_output_tokens',
    })
  })

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

  test('an overload, a model that is not there, a login', () => {
    expect(hear(codex, failed('unexpected status 529 <unknown status code>: Overloaded')).end.end.kind).toBe(
      'overloaded',
    )
    expect(hear(codex, failed('unexpected status 404 Not Found: no such model')).end.end.kind).toBe('refused')
    expect(hear(codex, sample('codex-401')).end.end).toHaveProperty(
      'reason',
      expect.stringContaining('codex login'),
    )
  })
})
