import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { projectFolder } from '../../repository.ts'

async function complaint(file: string, text: string): Promise<string> {
  const root = projectFolder({ [file]: text })
  return loadConfig(root).then(
    () => '',
    (error: unknown) => String(error instanceof Error ? error.message : error),
  )
}

const THERE_ARE =
  'expected one of "claude", "codex", "gemini", "opencode", "copilot", "qwen", "continue", "command", "script"'

describe('an agent that there is not', () => {
  it.each([
    ['ralph.config.json', '{ "agent": "cluade" }', '1:12 agent', '"cluade", did you mean "claude"?'],
    ['ralph.config.jsonc', '{\n  "agents": ["claude", "acme"],\n}', '2:24 agents[1]', '"acme"'],
    ['ralph.config.yaml', 'fallback:\n  - codez\n', '2:5 fallback[0]', '"codez", did you mean "codex"?'],
    [
      'package.json',
      '{\n  "ralph": { "tiers": { "Heavy": { "agent": "Codex" } } }\n}',
      '2:45 tiers.Heavy.agent',
      '"Codex", did you mean "codex"?',
    ],
  ])('is refused at its place: %s %j', async (file, text, where, found) => {
    expect(await complaint(file, text)).toBe(`${file}:${where}: ${THERE_ARE}, found ${found}`)
  })

  it('is told beside each other one', async () => {
    const text = '{ "fallback": ["codez"], "agent": "cluade" }'
    expect((await complaint('ralph.config.json', text)).split('\n  ')).toMatchObject([
      'ralph.config.json has 2 mistakes:',
      expect.stringMatching(/^ralph\.config\.json:1:16 fallback/),
      expect.stringMatching(/^ralph\.config\.json:1:35 agent/),
    ])
  })

  it.each(['{}', '{ "agent": "script", "agents": ["qwen"], "fallback": ["command"] }'])(
    'is not there in %s',
    async (text) => {
      expect(await complaint('ralph.config.json', text)).toBe('')
    },
  )
})
