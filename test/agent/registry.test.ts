import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AGENTS, agentNamed, firstInstalled } from '../../src/agents/registry.ts'
import { AGENT_NAMES } from '../../src/base/names.ts'
import { AGENT_KEYS } from '../../src/process/cage/home.ts'
import { requestOf } from './requests.ts'
import { makeFolder } from '../repository.ts'

test('each agent has its name', () => {
  expect(AGENTS.map(({ name }) => name)).toEqual(AGENT_NAMES)
})

test.each(AGENTS)('no other agent can read the login of $name', async ({ name, program, load }) => {
  const { cageNeeds } = await load('./agent')
  expect(Object.values(AGENT_KEYS).flat()).toEqual(expect.arrayContaining([...(cageNeeds?.({}).keys ?? [])]))
  if (program !== null) expect(Object.keys(AGENT_KEYS)).toContain(name)
})

test.each(AGENTS)('$name is loaded under its name, and tells how to get it', async ({ name, load }) => {
  const provider = await load('./agent')
  expect([provider.name, provider.install]).toEqual([name, expect.stringMatching(/./)])
})

const installed = AGENTS.filter(({ program }) => program !== null)
test.each(installed)('$name runs the program that is looked for', async ({ program, load }) => {
  const provider = await load(null)
  expect(provider.invocation(requestOf()).program).toBe(program)
  expect(provider.minimumVersion).toMatch(/^\d+\.\d+\.\d+$/)
})

test('an agent is found by its name alone', () => {
  expect(agentNamed('codex').program).toBe('codex')
})

test('an unknown name fails, with the closest one', () => {
  const find = (name: string) => () => agentNamed(name)
  expect(find('cluade')).toThrow(
    expect.objectContaining({ fix: expect.stringContaining('Did you mean claude?') }),
  )
  expect(find('Claude')).toThrow('there is no agent named "Claude"')
  expect(find('zzzzzz')).toThrow(
    expect.objectContaining({ fix: expect.stringMatching(/^The agents are claude, /) }),
  )
})

describe.skipIf(process.platform === 'win32')('of those that are installed', () => {
  const folder = makeFolder()
  for (const name of ['gemini', 'codex', 'cn', 'command'])
    writeFileSync(join(folder, name), '#!/bin/sh\n', { mode: 0o755 })
  const first = (names: readonly string[] | null, PATH = folder) => firstInstalled(names, { PATH })?.name

  test('the first in the order given is taken, else in that of the registry', () => {
    expect(first(['claude', 'continue', 'codex'])).toBe('continue')
    expect(first(null)).toBe('codex')
  })

  test('none is taken that needs no program, that nobody knows, or that is not there', () => {
    expect(first(['command', 'script', 'cn', 'claude'])).toBeUndefined()
    expect(first(null, '')).toBeUndefined()
  })
})
