import { FOLDER } from '../../../src/agents/port.ts'
import { describe, expect, test } from 'vitest'
import { continueCli } from '../../../src/agents/providers/continue.ts'
import { copilot } from '../../../src/agents/providers/copilot.ts'
import { gemini } from '../../../src/agents/providers/gemini.ts'
import { opencode } from '../../../src/agents/providers/opencode.ts'
import { qwen } from '../../../src/agents/providers/qwen.ts'
import { after, hear, request, sample, stderrOf, tools } from './sample.ts'

const mcpServers = { docs: { command: 'node', args: ['docs.mjs'], env: {} } }

test.each([gemini, opencode, copilot, qwen, continueCli])(
  '$name takes its prompt over stdin at every level',
  (provider) => {
    for (const permission of [
      { level: 'edit' },
      { level: 'full' },
      { level: 'custom', args: ['--mine'] },
    ] as const) {
      const { args, stdin } = provider.invocation(request({ permission, model: 'some-model' }))
      expect(stdin).toBe('Do the task.')
      expect(args.join(' ')).not.toContain('Do the task.')
      expect(args).toContain('--model=some-model')
      expect(args.includes('--mine')).toBe(permission.level === 'custom')
    }
  },
)

test.each([gemini, opencode, copilot, qwen])('$name is denied commits at edit and at full', (provider) => {
  for (const level of ['edit', 'full'] as const) {
    const { args, env, files } = provider.invocation(request({ permission: { level } }))
    const all = [...args, ...Object.values(env), ...Object.values(files)].join('\n')
    if (args.includes('--deny-tool=shell')) continue
    expect(all).toMatch(/git commit/)
    expect(all).toMatch(/git push/)
  }
})

test.each([gemini, opencode, copilot, qwen])('$name may call the servers that it is given', (provider) => {
  const { args, env, files } = provider.invocation(request({ mcpServers }))
  expect([...args, ...Object.values(env), ...Object.values(files)].join('\n')).toMatch(/docs\.mjs/)
  expect(tools(hear(provider, sample(`${provider.name}-mcp`)))).toContainEqual(
    expect.stringMatching(/^ok: .*echo_tool/),
  )
})

test.each([gemini, opencode, copilot, qwen])('$name tells what it was denied', (provider) => {
  const heard = hear(provider, sample(`${provider.name}-denied`))
  expect(heard.end.denied).toEqual([expect.stringContaining('git commit --allow-empty -m x')])
  expect(tools(heard)).toContain(`denied: ${heard.end.denied[0]}`)
})

describe("the repository's own configuration, which an agent could have written", () => {
  const levels = [{ level: 'edit' }, { level: 'full' }] as const

  test.each(levels)('has no effect at $level', (permission) => {
    const at = { ...request({ permission, mcpServers }), env: {} }
    const settings = (provider: typeof gemini) =>
      JSON.parse(provider.invocation(at).files['settings.json']!) as object
    expect(settings(gemini)).toMatchObject({
      hooksConfig: { enabled: false },
      mcp: { allowed: ['docs', 'none-but-those-of-ralph'] },
    })
    expect(settings(qwen)).toEqual({ disableAllHooks: true })
    const { env } = opencode.invocation(at)
    expect(env).toHaveProperty('OPENCODE_DISABLE_PROJECT_CONFIG', '1')
    // What people wrote for every agent is read all the same.
    expect(JSON.parse(env['OPENCODE_CONFIG_CONTENT']!)).toMatchObject({ instructions: ['/repo/AGENTS.md'] })
  })

  test('is as it is at custom', () => {
    const at = request({ permission: { level: 'custom', args: [] } })
    expect(gemini.invocation(at).files['settings.json']).not.toContain('hooksConfig')
    expect(opencode.invocation(at).env).not.toHaveProperty('OPENCODE_DISABLE_PROJECT_CONFIG')
    expect(qwen.invocation(at).env).not.toHaveProperty('QWEN_CODE_SYSTEM_SETTINGS_PATH')
  })
})

describe('gemini', () => {
  test('trusts the folder, and leaves system settings of a person alone', () => {
    expect(gemini.invocation(request()).env).toEqual({
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_CLI_SYSTEM_SETTINGS_PATH: `${FOLDER}/settings.json`,
    })
    const env = { GEMINI_CLI_SYSTEM_SETTINGS_PATH: '/etc/ours.json' }
    expect(gemini.invocation(request({ env })).env).toMatchObject(env)
  })

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

  test.each([
    ['gemini-safety', 'refused', 'task', 'The model response was blocked due to safety settings.'],
    ['gemini-404', 'refused', 'agent', '[API Error: Requested entity was not found.]'],
  ])('%s says why it could not go on, and that it would be no use again', (name, kind, hopeless, reason) => {
    expect(hear(gemini, sample(name)).end.end).toEqual({ kind, hopeless, reason })
  })

  test('what stopped it counts also where its result says nothing of it, and only if nothing came after', () => {
    const error = (message: string, severity = 'error') =>
      JSON.stringify({ type: 'error', severity, message })
    const said = '{"type":"message","role":"assistant","content":"Done."}'
    const success = '{"type":"result","status":"success"}'
    const ending = (...lines: string[]) => hear(gemini, [...lines, success]).end.end
    expect(hear(gemini, sample('gemini-empty')).end.end).toHaveProperty(
      'reason',
      expect.stringContaining('an empty response'),
    )
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
  test('tells in its log alone that its service refuses it, until it is heard again', () => {
    const [refused, title] = stderrOf('opencode-429').trim().split('\n') as [string, string]
    const reader = opencode.reader(request(), () => after(0))
    const exit = { code: null, signal: 'SIGTERM', stderr: '' }
    expect(reader.complaint?.(title)).toEqual([])
    expect(reader.complaint?.(refused)).toEqual([
      { type: 'retrying', reason: 'rate limit of the fake', until: null },
    ])
    expect(reader.end(exit).end.kind).toBe('rate-limited')
    reader.line('{"type":"step_start","part":{}}')
    expect(reader.end(exit).end.kind).toBe('crashed')
  })

  test('adds up the steps, and does not take a price that it does not know for 0', () => {
    const { end } = hear(opencode, sample('opencode-ok'))
    expect(end.usage).toMatchObject({
      turns: 4,
      inputTokens: 24_800,
      cachedTokens: 20_000,
      outputTokens: 400,
    })
    expect(end.usage.costUsd).toBeCloseTo(0.0056)
    const free = sample('opencode-ok').map((line) => line.replace('"cost":0.0014', '"cost":0'))
    expect(hear(opencode, free).end.usage.costUsd).toBeNull()
  })

  test('keeps what a person gives in the same variable', () => {
    const env = { OPENCODE_CONFIG_CONTENT: '{"theme":"x","mcp":{"own":{"type":"local"}}}' }
    const content = opencode.invocation(request({ env, mcpServers })).env['OPENCODE_CONFIG_CONTENT']!
    expect(JSON.parse(content)).toMatchObject({
      theme: 'x',
      mcp: { own: { type: 'local' }, docs: { enabled: true } },
    })
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

  test('a gate is allowed just as it is, after everything else was denied', () => {
    const { env } = opencode.invocation(request({ gateCommands: ['npm test', 'ls src/?.ts'] }))
    const { permission } = JSON.parse(env['OPENCODE_CONFIG_CONTENT']!) as { permission: { bash: object } }
    expect(Object.entries(permission.bash).slice(0, 3)).toEqual([
      ['*', 'deny'],
      ['npm test', 'allow'],
      ['git status', 'allow'],
    ])
    expect(Object.keys(permission.bash).filter((rule) => /[?]| \*$/.test(rule))).toEqual([])
    expect(Object.entries(permission.bash).slice(-2)).toEqual([
      ['git commit*', 'deny'],
      ['git push*', 'deny'],
    ])
  })

  test('an answer that a filter or its length cut is none', () => {
    expect(hear(opencode, sample('opencode-filter')).end.end).toMatchObject({
      kind: 'refused',
      hopeless: 'task',
    })
    expect(hear(opencode, sample('opencode-cut')).end.end).toEqual({
      kind: 'crashed',
      reason: 'The answer of the model was cut off: it had reached its longest',
    })
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

  test('shows a tool that went well as everybody does', () => {
    expect(tools(hear(opencode, sample('opencode-ok'))).slice(0, 2)).toEqual([
      expect.stringMatching(/^running: write/),
      expect.stringMatching(/^ok: write/),
    ])
  })

  test('a limit lasts as long as its header says', () => {
    const data = { message: 'slow down', statusCode: 429, responseHeaders: { 'retry-after': '3600' } }
    const { end } = hear(opencode, [JSON.stringify({ type: 'error', error: { name: 'APIError', data } })])
    expect(end.end).toMatchObject({ kind: 'rate-limited', until: new Date(2026, 10, 18, 10, 0) })
  })
})

test.each([copilot, qwen])('$name is allowed no command, for a rule of its would allow more', (provider) => {
  const { args } = provider.invocation(request({ gateCommands: ['npm run lint'] }))
  expect(args.filter((arg) => /^--allow.*shell/.test(arg))).toEqual([])
})

test('copilot has no shell at edit: what it takes for reading only it would not ask about', () => {
  expect(copilot.invocation(request()).args).toContain('--deny-tool=shell')
})

test('continue has no tool for commands at edit', () => {
  expect(continueCli.invocation(request()).args.join(' ')).toMatch(/--exclude Bash/)
})

describe('an answer that does not come whole', () => {
  test.each([
    ['qwen', qwen],
    ['copilot', copilot],
  ])('shows in the stream of %s by how often it asks for the rest in vain', (name, provider) => {
    const lines = sample(`${name}-cut`)
    expect(hear(provider, lines).end).toMatchObject({ end: { kind: 'finished' }, cutOff: expect.any(String) })
    const isAsking = /"subtype":"retry"|"assistant\.turn_end"/
    const asked = lines.findIndex((line) => isAsking.test(line))
    const less = lines.filter((line, index) => index === asked || !isAsking.test(line))
    expect(hear(provider, less).end.cutOff).toBeUndefined()
    expect(hear(provider, sample(`${name}-ok`)).end.cutOff).toBeUndefined()
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

describe('qwen', () => {
  test('at its turn limit prints no result, and says it on stderr', () => {
    const { end } = hear(qwen, sample('qwen-maxturns'), {
      exit: { code: 53, stderr: stderrOf('qwen-maxturns') },
    })
    expect(end.end).toMatchObject({ kind: 'max-turns' })
    expect(end.usage.turns).toBe(3)
  })

  test('tells on stderr alone how long it waits for its service', () => {
    const reader = qwen.reader(request(), () => after(0))
    const told = stderrOf('qwen-429')
      .split('\n')
      .flatMap((line) => reader.complaint?.(line) ?? [])
    expect(told).toEqual([{ type: 'retrying', reason: 'the service has no capacity', until: after(3570) }])
  })

  test('is asked to tell it, and given the folder to trust, unless a person has said otherwise', () => {
    const { env, files } = qwen.invocation(request())
    expect(env).toEqual({
      QWEN_CODE_UNATTENDED_RETRY: '1',
      QWEN_CODE_TRUSTED_FOLDERS_PATH: `${FOLDER}/trusted.json`,
      QWEN_CODE_SYSTEM_SETTINGS_PATH: `${FOLDER}/settings.json`,
    })
    expect(JSON.parse(files['trusted.json']!)).toEqual({ '/repo': 'TRUST_FOLDER' })
    const own = {
      QWEN_CODE_UNATTENDED_RETRY: '0',
      QWEN_CODE_TRUSTED_FOLDERS_PATH: '/mine.json',
      QWEN_CODE_SYSTEM_SETTINGS_PATH: '/system.json',
    }
    expect(qwen.invocation(request({ env: own })).env).toEqual(own)
  })
})

describe('continue', () => {
  test('tells its errors on stderr', () => {
    const { end } = hear(continueCli, [], { exit: { code: 1, stderr: stderrOf('continue-401') } })
    expect(end.end.kind).toBe('auth')
  })

  test('a session that ends without a word, as at a denied tool, is not finished', () => {
    expect(hear(continueCli, []).end.end).toEqual({
      kind: 'crashed',
      reason: 'Continue ended without a final message',
    })
  })

  test('reads its prompt only if -p stands last', () => {
    expect(continueCli.invocation(request()).args.at(-1)).toBe('-p')
  })
})

test.each([
  ['gemini', gemini],
  ['qwen', qwen],
  ['copilot', copilot],
  ['opencode', opencode],
] as const)('%s is told how long a tool of a server may take', (_, provider) => {
  const slow = { docs: { ...mcpServers.docs, toolSeconds: 3660 } }
  const said = (servers: typeof slow | typeof mcpServers): string => {
    const { env, files } = provider.invocation(request({ mcpServers: servers }))
    return JSON.stringify([env, files])
  }
  expect(said(slow)).toMatch(/\\*"timeout\\*":3660000/)
  expect(said(slow)).not.toContain('toolSeconds')
  expect(said(mcpServers)).not.toContain('timeout')
})
