import { describe, expect, test } from 'vitest'
import { continueCli } from '../../../src/agents/providers/continue.ts'
import { copilot } from '../../../src/agents/providers/copilot.ts'
import { gemini } from '../../../src/agents/providers/gemini.ts'
import { opencode } from '../../../src/agents/providers/opencode.ts'
import { qwen } from '../../../src/agents/providers/qwen.ts'
import { after, hear, request, sample, stderrOf, tools } from './sample.ts'

describe('gemini', () => {
  test('one rule a tool allows just a command, whatever else the call says', () => {
    const policy = gemini.invocation(request({ gateCommands: ['test -f a.b'] })).files['policy.toml']!
    const field = (key: string) =>
      [...policy.matchAll(new RegExp(`^${key} = (.*)$`, 'gm'))].map(
        ([, value]) => JSON.parse(value!) as unknown,
      )
    // Beside a command a list of tools would have the whole file rejected.
    expect(field('toolName').every((tool) => typeof tool === 'string')).toBe(true)
    const patterns = field('argsPattern').map((pattern) => new RegExp(String(pattern)))
    const allows = (args: Readonly<Record<string, string>>) => {
      const pairs = Object.entries(args).map(
        (pair) => `\0${pair.map((part) => JSON.stringify(part)).join(':')}\0`,
      )
      return patterns.some((pattern) => pattern.test(`{${pairs.join(',')}}`))
    }
    expect(allows({ command: 'test -f a.b', description: 'x' })).toBe(true)
    expect(allows({ command: 'git status' })).toBe(true)
    for (const command of ['test -f a.b > /outside', 'test -f a.b c', 'test -f a-b', 'git log --output=/x']) {
      expect([command, allows({ command })]).toEqual([command, false])
    }
    expect(allows({ command: 'rm x', description: '"command":"git status"' })).toBe(false)
  })

  test('its message is all pieces since the last tool', () => {
    const piece = (content: string) =>
      JSON.stringify({ type: 'message', role: 'assistant', content, delta: true })
    const tool = '{"type":"tool_use","tool_id":"a","tool_name":"shell","parameters":{}}'
    const answer = '{"type":"tool_result","tool_id":"a","status":"success"}'
    const lines = [
      piece('<TASK_DONE>'),
      tool,
      answer,
      piece('All '),
      piece('done.'),
      '{"type":"result","status":"success"}',
    ]
    expect(hear(gemini, lines).end).toMatchObject({
      finalMessage: 'All done.',
      usage: { turns: 2, inputTokens: null },
    })
  })

  describe('counts as a turn', () => {
    const begun = (id: string) =>
      JSON.stringify({ type: 'tool_use', tool_id: id, tool_name: 'ls', parameters: {} })
    const ended = (id: string) => JSON.stringify({ type: 'tool_result', tool_id: id, status: 'success' })
    const turnsOf = (...lines: string[]) => hear(gemini, lines).end.usage.turns

    test('tools that are called together, and tools one after another as several', () => {
      const together = [begun('a'), begun('b'), ended('a'), ended('b')]
      expect(turnsOf(...together)).toBe(1)
      expect(turnsOf(...together, begun('c'), ended('c'))).toBe(2)
    })

    test('what comes after a tool that never answers', () => {
      expect(turnsOf(begun('a'), ...['b', 'c', 'd'].flatMap((id) => [begun(id), ended(id)]))).toBe(3)
    })
  })

  test('what stopped it counts also where its result says nothing of it, and only if nothing came after', () => {
    const error = (message: string, severity = 'error') =>
      JSON.stringify({ type: 'error', severity, message })
    const said = '{"type":"message","role":"assistant","content":"Done."}'
    const success = '{"type":"result","status":"success"}'
    const ending = (...lines: string[]) => hear(gemini, [...lines, success]).end.end
    expect(ending(error('Maximum session turns exceeded')).kind).toBe('max-turns')
    expect(ending(said, error('It broke.')).kind).toBe('crashed')
    expect(ending(error('It broke.'), said).kind).toBe('finished')
    expect(ending(said, error('Loop detected, stopping execution', 'warning')).kind).toBe('finished')
    expect(hear(gemini, [error('Loop detected', 'warning')]).events).toEqual([
      { type: 'warning', message: 'Loop detected' },
    ])
  })

  test('an empty answer is no success, though it exits with 0', () => {
    const lines = [
      '{"type":"result","status":"error","error":{"type":"x","message":"Model stream ended with empty response text."}}',
    ]
    expect(hear(gemini, lines, { exit: { code: 0 } }).end.end.kind).toBe('crashed')
  })

  test('without any login it says so before it starts', () => {
    const { end } = hear(gemini, [], { exit: { code: 41, stderr: 'Invalid auth method selected.\n' } })
    expect(end.end).toMatchObject({
      kind: 'auth',
      reason: expect.stringContaining('GEMINI_API_KEY') as string,
    })
  })
})

describe('opencode', () => {
  test('is refused by its service, as its log tells, until it is heard again', () => {
    const [refused] = stderrOf('opencode-429').split('\n')
    const reader = opencode.reader(request(), () => after(0))
    const exit = { code: null, signal: 'SIGTERM', stderr: '' }
    reader.complaint?.(refused!)
    expect(reader.end(exit).end.kind).toBe('rate-limited')
    reader.line('{"type":"step_start","part":{}}')
    expect(reader.end(exit).end.kind).toBe('crashed')
  })

  test('does not take a price that it does not know for 0', () => {
    const free = sample('opencode-ok').map((line) => line.replace('"cost":0.0014', '"cost":0'))
    expect(hear(opencode, free).end.usage.costUsd).toBeNull()
  })

  test.each([
    ['{"permission":"ask"}', { '*': 'ask' }],
    ['{"permission":{"bash":"ask"}}', { bash: 'ask' }],
    ['', {}],
  ])('by hand is denied the commit, and asks as the person has set it: %s', (content, own) => {
    const { env } = opencode.interactive!(request({ env: { OPENCODE_CONFIG_CONTENT: content } }), 'new')
    const { permission } = JSON.parse(env['OPENCODE_CONFIG_CONTENT']!) as { permission: object }
    const reserved = { 'git commit*': 'deny', 'git push*': 'deny' }
    expect(permission).toEqual({ ...own, 'bash*': reserved })
    // The last rule that matches decides.
    expect(Object.keys(permission).at(-1)).toBe('bash*')
  })

  describe('when its prompt is too long', () => {
    const data = { message: 'prompt is too long: 215000 tokens > 200000 maximum' }
    const tooLong = JSON.stringify({ type: 'error', error: { name: 'ContextOverflowError', data } })
    const step = (reason: string) => JSON.stringify({ type: 'step_finish', part: { reason } })
    const said = '{"type":"text","part":{"text":"Done. <TASK_DONE>"}}'
    const refused = { kind: 'refused', reason: data.message, hopeless: 'task' }

    test('is ended where the shortened one is too long as well: it would go on without end', () => {
      const heard = hear(opencode, [tooLong, step('stop'), tooLong])
      expect(heard.events.at(-1)).toEqual({ type: 'result' })
      expect(heard.end.end).toEqual(refused)
      expect(hear(opencode, [tooLong]).events).not.toContainEqual({ type: 'result' })
    })

    test('goes on where the shortened one was answered', () => {
      expect(hear(opencode, [tooLong, step('stop'), said, step('stop')]).end.end.kind).toBe('finished')
      const tool = '{"type":"tool_use","part":{"callID":"a","tool":"bash","state":{"status":"completed"}}}'
      const again = hear(opencode, [tooLong, step('stop'), tool, tooLong])
      expect(again.events).not.toContainEqual({ type: 'result' })
    })
  })

  test('a limit lasts as long as its header says', () => {
    const data = { message: 'slow down', statusCode: 429, responseHeaders: { 'retry-after': '3600' } }
    const { end } = hear(opencode, [JSON.stringify({ type: 'error', error: { name: 'APIError', data } })])
    expect(end.end).toMatchObject({ kind: 'rate-limited', until: new Date(2026, 10, 18, 10, 0) })
  })
})

describe('an answer that does not come whole', () => {
  test.each([
    ['qwen', qwen],
    ['copilot', copilot],
  ])('shows in the stream of %s by how often it asks for the rest in vain', (name, provider) => {
    const lines = sample(`${name}-cut`)
    const isAsking = /"subtype":"retry"|"assistant\.turn_end"/
    const asked = lines.findIndex((line) => isAsking.test(line))
    const less = lines.filter((line, index) => index === asked || !isAsking.test(line))
    expect(hear(provider, less).end.cutOff).toBeUndefined()
  })
})

describe('copilot', () => {
  test('a command that ran is not yet one that went well', () => {
    const start = { toolCallId: 'a', toolName: 'bash', arguments: { command: 'npm test' } }
    const done = { toolCallId: 'a', success: true, shellExecution: { exitCode: 1 } }
    const lines = [
      JSON.stringify({ type: 'tool.execution_start', data: start }),
      JSON.stringify({ type: 'tool.execution_complete', data: done }),
    ]
    expect(tools(hear(copilot, lines))).toEqual(['running: bash npm test', 'failed: bash npm test'])
  })

  test('ended while it tries again it exits with 0, and is not finished', () => {
    const failure = { statusCode: 529, errorMessage: '{"message":"Overloaded"}' }
    const lines = [
      JSON.stringify({ type: 'model.call_failure', data: failure }),
      '{"type":"result","exitCode":0}',
    ]
    expect(hear(copilot, lines).end.end).toEqual({ kind: 'overloaded', reason: 'Overloaded' })
  })

  test('what a sub-agent says is not the final message', () => {
    const said = (content: string, parentToolCallId?: string) =>
      JSON.stringify({ type: 'assistant.message', data: { content, toolRequests: [], parentToolCallId } })
    const { end } = hear(copilot, [said('Mine.'), said('<TASK_DONE>', 'x'), '{"type":"result","exitCode":0}'])
    expect(end.finalMessage).toBe('Mine.')
  })
})

describe('continue', () => {
  test('a session that ends without a word, as at a denied tool, is not finished', () => {
    expect(hear(continueCli, []).end.end).toEqual({
      kind: 'crashed',
      reason: 'Continue ended without a final message',
    })
  })
})
