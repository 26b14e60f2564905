import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { FOLDER } from '../../../src/agents/port.ts'
import { describe, expect, test } from 'vitest'
import { claude } from '../../../src/agents/providers/claude.ts'
import { after, hear, request, sample, stderrOf, tools } from './sample.ts'

const result = (fields: object) =>
  JSON.stringify({
    subtype: 'success',
    is_error: false,
    result: 'Done. <TASK_DONE>',
    type: 'result',
    ...fields,
  })

describe('how claude is called', () => {
  test('the prompt goes over stdin, and limits, model and budget to their options', () => {
    const limits = { turns: 75, seconds: 900, stallSeconds: 300, budgetUsd: 2.5 }
    const { args, stdin, env } = claude.invocation(request({ model: 'opus', limits }))
    expect(args.join(' ')).toBe(
      '-p --verbose --output-format=stream-json --max-turns=75 --model=opus --max-budget-usd=2.5' +
        ` --permission-mode acceptEdits --setting-sources=user --strict-mcp-config --settings ${FOLDER}/settings.json`,
    )
    expect(stdin).toBe('Do the task.')
    expect(env).toEqual({ CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' })
  })

  test('at edit the gates and git that looks are allowed, commits and the network are not', () => {
    const gateCommands = ['npm run typecheck && npm test', 'prettier --check src/*', '(cd api; make)']
    const { files } = claude.invocation(request({ gateCommands }))
    const { permissions } = JSON.parse(files['settings.json']!) as { permissions: Record<string, string[]> }
    expect(permissions['allow']).toEqual(
      expect.arrayContaining(['Bash(npm run typecheck)', 'Bash(npm test)', 'Bash(git status)']),
    )
    // Each would allow more than itself: a star and parentheses have a meaning in a rule.
    expect(permissions['allow']!.filter((rule) => /\*|prettier|make/.test(rule))).toEqual([])
    expect(permissions['deny']).toEqual([
      'Bash(git commit:*)',
      'Bash(git push:*)',
      'EnterWorktree',
      'WebFetch',
      'WebSearch',
    ])
  })

  test("reads the repository's CLAUDE.md, though nothing of its settings", () => {
    const cwd = mkdtempSync(path.join(tmpdir(), 'ralph-claude-'))
    const given = () => claude.invocation(request({ cwd })).args.filter((arg) => arg.includes('CLAUDE.md'))
    expect(given()).toEqual([])
    writeFileSync(path.join(cwd, 'CLAUDE.md'), 'Be kind.')
    expect(given()).toEqual([`--append-system-prompt-file=${path.join(cwd, 'CLAUDE.md')}`])
  })

  test('at full everything but commits is allowed, as root too', () => {
    const { args, env, files } = claude.invocation(request({ permission: { level: 'full' } }))
    expect(args).toContain('--dangerously-skip-permissions')
    expect(env).toHaveProperty('IS_SANDBOX', '1')
    expect(JSON.parse(files['settings.json']!)).toEqual({
      permissions: { allow: [], deny: ['Bash(git commit:*)', 'Bash(git push:*)', 'EnterWorktree'] },
    })
  })

  test('at custom the arguments given are all there is', () => {
    const permission = { level: 'custom', args: ['--permission-mode', 'plan'] } as const
    const { args, files } = claude.invocation(request({ permission }))
    expect(args.slice(-2)).toEqual(['--permission-mode', 'plan'])
    expect(files).toEqual({})
  })

  test('servers stand in a private file, and may be called at edit', () => {
    const mcpServers = { docs: { command: 'node', args: ['docs.mjs'], env: { KEY: 'v' } } }
    const { args, files } = claude.invocation(request({ mcpServers }))
    expect(args).toContain(`--mcp-config=${FOLDER}/mcp.json`)
    expect(JSON.parse(files['mcp.json']!)).toEqual({ mcpServers })
    const ours = claude.invocation(request({ mcpServers: { ralph: mcpServers.docs } })).files['mcp.json']!
    // It would have to search for them first.
    expect(JSON.parse(ours)).toEqual({ mcpServers: { ralph: { ...mcpServers.docs, alwaysLoad: true } } })
    const slow = { docs: { ...mcpServers.docs, toolSeconds: 3660 } }
    const { env, files: same } = claude.invocation(request({ mcpServers: slow }))
    expect(env['MCP_TOOL_TIMEOUT']).toBe('3660000')
    expect(same).toEqual(files)
    const own = { MCP_TOOL_TIMEOUT: '5' }
    expect(claude.invocation(request({ mcpServers: slow, env: own })).env['MCP_TOOL_TIMEOUT']).toBeUndefined()
    expect(files['settings.json']).toContain('"mcp__docs"')
  })
})

describe('what claude tells', () => {
  test('text, tools and their ends, session and model', () => {
    const heard = hear(claude, sample('claude-ok'))
    expect(heard.events[0]).toMatchObject({ type: 'session', model: 'claude-opus-5-5' })
    expect(tools(heard)).toEqual([
      'running: Write hello.txt',
      'ok: Write hello.txt',
      'running: Bash cat hello.txt && git status --short',
      'ok: Bash cat hello.txt && git status --short',
      'running: Edit hello.txt',
      'ok: Edit hello.txt',
    ])
    expect(tools(hear(claude, sample('claude-bashfail')))).toContain('failed: Bash echo oops >&2; exit 3')
  })

  test('its numbers: the input with what came from the cache, all models together', () => {
    expect(hear(claude, sample('claude-ok')).end.usage).toEqual({
      turns: 4,
      inputTokens: 24_800,
      cachedTokens: 20_000,
      outputTokens: 400,
      costUsd: expect.closeTo(0.032) as number,
    })
    // Its `usage` leaves out the turn at which the budget ended it.
    expect(hear(claude, sample('claude-budget')).end.usage).toMatchObject({
      outputTokens: 300,
      costUsd: 0.024,
    })
  })

  test('at the turn limit it has not taken one turn more', () => {
    const limits = { turns: 2, seconds: 600, stallSeconds: 300, budgetUsd: null }
    const { end } = hear(claude, sample('claude-maxturns'), { limits })
    expect(end.usage.turns).toBe(2)
    expect(end.end).toEqual({ kind: 'max-turns', reason: 'Reached maximum number of turns (2)' })
  })

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
    const lines = sample('claude-denied')
    const heard = hear(claude, lines)
    expect(heard.end.denied).toEqual(['Bash git commit --allow-empty -m x'])
    expect(tools(heard)).toContain('denied: Bash git commit --allow-empty -m x')
    expect(hear(claude, lines.slice(0, 4)).end.denied).toEqual(['Bash git commit --allow-empty -m x'])
  })
})

describe('how claude fails', () => {
  test('a missing login says what to do', () => {
    const { end } = hear(claude, sample('claude-401'))
    expect(end.end).toEqual({
      kind: 'auth',
      reason:
        'Claude Code is not logged in (Invalid API key · Fix external API key): run `claude` and log in, or set ANTHROPIC_API_KEY',
    })
  })

  test('at the second refused login it is not waited for: it would go on for three minutes', () => {
    const lines = sample('claude-401')
    const cut = (length: number) => hear(claude, lines.slice(0, length), { exit: { code: 143 } })
    expect(cut(2).events).not.toContainEqual({ type: 'result' })
    expect(cut(3).events).toContainEqual({ type: 'result' })
    expect(cut(3).end.end.kind).toBe('auth')
    // Told again and again, it would be given more time each time.
    const retries = lines.filter((line) => line.includes('"api_retry"'))
    expect(retries.length).toBeGreaterThan(3)
    expect(hear(claude, retries).events.filter(({ type }) => type === 'result')).toHaveLength(1)
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

  test('its own pauses are told with the moment at which it tries again', () => {
    const { events } = hear(claude, sample('claude-529'))
    expect(events.filter((event) => event.type === 'retrying')[1]).toEqual({
      type: 'retrying',
      reason: 'overloaded (529)',
      until: after(1.184),
    })
  })

  test('no connection is told from a limit, also where it is ended while it tries again', () => {
    const lines = sample('claude-offline')
    expect(hear(claude, lines, { exit: { code: 143 } }).end.end).toEqual({
      kind: 'no-network',
      reason: 'Claude Code cannot reach its service: connection error (unknown)',
    })
  })

  test('a budget that is spent is told with the amount that was given, not with its own', () => {
    const limits = { turns: 50, seconds: 600, stallSeconds: 300, budgetUsd: 0.5 }
    expect(hear(claude, sample('claude-budget'), { limits }).end.end).toEqual({
      kind: 'budget',
      reason: 'what was left of the budget, $0.50, is spent',
    })
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

  test('an option that it does not know, and root at full, are told in its own words', () => {
    const exit = (name: string) => ({ exit: { code: 1, stderr: stderrOf(name) } })
    expect(hear(claude, [], exit('claude-badflag')).end.end).toEqual({
      kind: 'crashed',
      reason: "Claude Code exited with code 1: error: unknown option '--nope' (Did you mean --name?)",
    })
    expect(hear(claude, [], exit('claude-root-refused')).end.end).toHaveProperty(
      'reason',
      expect.stringContaining('cannot be used with root'),
    )
  })
})
