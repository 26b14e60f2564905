import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { claude } from '../../../src/agents/providers/claude.ts'
import { codex } from '../../../src/agents/providers/codex.ts'
import { continueCli } from '../../../src/agents/providers/continue.ts'
import { copilot } from '../../../src/agents/providers/copilot.ts'
import { gemini } from '../../../src/agents/providers/gemini.ts'
import { qwen } from '../../../src/agents/providers/qwen.ts'
import { makeFolder } from '../../repository.ts'

test.each([
  [claude, 'ANTHROPIC_API_KEY', '.claude'],
  [codex, 'CODEX_API_KEY', '.codex/auth.json'],
  [gemini, 'GEMINI_API_KEY', '.gemini/settings.json'],
  [copilot, 'GH_TOKEN', '.copilot'],
  [qwen, 'OPENAI_API_KEY', '.qwen'],
  [continueCli, 'CONTINUE_API_KEY', '.continue'],
])('$name says what to do where it was never set up, and only there', (provider, variable, file) => {
  const home = makeFolder()
  const preflight = (env: Record<string, string>) => provider.preflight({ env, cwd: home })
  expect(preflight({ HOME: home })).toEqual([expect.stringMatching(/has never been .*: .+\.$/)])
  expect(preflight({ HOME: home, [variable]: 'key' })).toEqual([])
  expect(preflight({})).toEqual([])
  mkdirSync(path.join(home, file), { recursive: true })
  expect(preflight({ HOME: home })).toEqual([])
})
