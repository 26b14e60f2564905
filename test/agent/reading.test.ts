import { describe, expect, it } from 'vitest'
import type { AgentRequest } from '../../src/agents/port.ts'
import { strictSchema } from '../../src/agents/providers/codex.ts'
import { agentNamed } from '../../src/agents/registry.ts'
import { answerSchema } from '../../src/authoring/plan/json-schema.ts'
import { requestOf } from './requests.ts'

const asked = (web: boolean): AgentRequest =>
  requestOf({ permission: { level: 'read', web }, answer: { schema: { type: 'object' } } })

const argsOf = async (name: string, web = false): Promise<string> =>
  (await agentNamed(name).load(null)).invocation(asked(web)).args.join(' ')

describe('an agent that is only to read', () => {
  it.each([
    ['claude', '--tools=Read,Grep,Glob --'],
    ['claude', '--json-schema={"type":"object"}'],
    ['codex', '--sandbox read-only'],
    ['codex', 'web_search="disabled"'],
    ['codex', '/answer.json'],
    ['gemini', '--approval-mode plan'],
    ['opencode', '--agent plan'],
    ['copilot', '--deny-tool=write --deny-tool=shell'],
    ['qwen', '--approval-mode plan'],
    ['qwen', '--exclude-tools=web_fetch'],
    ['continue', '--readonly'],
  ])('%s is started with %s', async (name, argument) => {
    expect(await argsOf(name)).toContain(argument)
  })

  it('may look on the web where that is said', async () => {
    expect(await argsOf('claude', true)).toContain('--tools=Read,Grep,Glob,WebSearch,WebFetch')
    expect(await argsOf('codex', true)).toContain('web_search="live"')
    expect(await argsOf('qwen', true)).not.toContain('web_fetch')
  })

  it('of opencode has no tool that writes', async () => {
    const { env } = (await agentNamed('opencode').load(null)).invocation(asked(false))
    const { permission } = JSON.parse(env['OPENCODE_CONFIG_CONTENT'] ?? '{}') as {
      permission: Record<string, string>
    }
    expect(permission['*']).toBe('deny')
    expect(
      Object.keys(permission).filter((tool) => ['edit', 'bash', 'write', 'task'].includes(tool)),
    ).toEqual([])
  })
})

it('a strict schema requires every key, and what may be left out may be null', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string', pattern: 'x' }, b: { type: 'array', items: { type: 'number' } } },
    required: ['a'],
  }
  expect(strictSchema(schema)).toEqual({
    type: 'object',
    properties: {
      a: { type: 'string' },
      b: { anyOf: [{ type: 'array', items: { type: 'number' } }, { type: 'null' }] },
    },
    required: ['a', 'b'],
    additionalProperties: false,
  })
})

it.each(['research', 'decisions', 'requirements', 'tasks'] as const)(
  'the answer of %s has a strict schema',
  (phase) => {
    const check = (schema: unknown): void => {
      if (typeof schema !== 'object' || schema === null) return
      if ('properties' in schema && typeof schema.properties === 'object' && schema.properties !== null)
        expect(schema).toMatchObject({
          required: Object.keys(schema.properties),
          additionalProperties: false,
        })
      for (const inner of Object.values(schema)) check(inner)
    }
    check(strictSchema(answerSchema(phase)))
  },
)
