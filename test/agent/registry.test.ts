import { expect, test } from 'vitest'
import { allProviders, providerNamed } from '../../src/agent/registry.ts'
import { createAgent } from '../../src/agent/runtime.ts'
import { listen, requestOf } from './requests.ts'
import { jsonProvider } from './steered-agent.ts'

const providers = allProviders(null)

test('every agent has a name of its own and tells how to get it', () => {
  expect(providers.map(({ name }) => name)).toEqual([
    'claude',
    'codex',
    'gemini',
    'opencode',
    'copilot',
    'qwen',
    'continue',
    'command',
    'script',
  ])
  for (const { install } of providers) expect(install).not.toBe('')
})

test('an agent is found by its name alone', () => {
  expect(providerNamed('codex', providers).name).toBe('codex')
})

test('an unknown name fails, with the closest one', () => {
  const find = (name: string) => () => providerNamed(name, providers)
  expect(find('cluade')).toThrow(
    expect.objectContaining({ fix: expect.stringContaining('Did you mean claude?') }),
  )
  expect(find('Claude')).toThrow('there is no agent named "Claude"')
  expect(find('zzzzzz')).toThrow(
    expect.objectContaining({ fix: expect.stringMatching(/^The agents are claude, /) }),
  )
})

test.skipIf(process.platform === 'win32')('an agent more is one provider more', async () => {
  const mine = { ...jsonProvider({ program: 'sh', args: ['-c', 'cat >&2; exit 9'] }), name: 'mine' }
  const agent = createAgent(providerNamed('mine', [...providers, mine]), { now: () => new Date(0) })
  expect((await listen(agent.run(requestOf()))).outcome.end).toEqual({ kind: 'crashed', reason: '9: Do it.' })
})
