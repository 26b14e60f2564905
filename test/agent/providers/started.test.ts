import { describe, expect, test } from 'vitest'
import { FOLDER, type AgentRequest, type Invocation, type Session } from '../../../src/agents/port.ts'
import { AGENTS } from '../../../src/agents/registry.ts'
import { UNKNOWN_USAGE } from '../../../src/base/usage.ts'
import { request } from './sample.ts'

const LONG = 'word '.repeat(40_000)

/** What a person may have set themselves. */
const OWN = {
  GEMINI_CLI_SYSTEM_SETTINGS_PATH: '/etc/ours.json',
  MCP_TOOL_TIMEOUT: '5',
  OPENCODE_CONFIG_CONTENT: '{"theme":"x","mcp":{"own":{"type":"local"}}}',
  QWEN_CODE_UNATTENDED_RETRY: '0',
  QWEN_CODE_TRUSTED_FOLDERS_PATH: '/mine.json',
  QWEN_CODE_SYSTEM_SETTINGS_PATH: '/system.json',
}
const mcpServers = {
  'my.docs': { command: 'node', args: ['a "b"'], env: { 'A.B': 'x\ny' } },
  ralph: { command: 'node', args: ['docs.mjs'], env: {}, toolSeconds: 3660 },
}
const ALONE: Readonly<Record<string, Partial<AgentRequest>>> = {
  edit: {
    model: 'some-model',
    limits: { turns: 75, seconds: 900, stallSeconds: 300, budgetUsd: 2.5, tokens: null },
  },
  'edit, going on in a conversation': { resume: { session: 's-1', used: UNKNOWN_USAGE } },
  'edit, in a cage': { permission: { level: 'edit', isCaged: true } },
  'edit, with servers': { mcpServers },
  'edit, where a person has settings': { env: OWN, mcpServers },
  full: { permission: { level: 'full' } },
  custom: { permission: { level: 'custom', args: ['--mine', 'plan'] } },
  read: { permission: { level: 'read', web: false }, answer: { schema: { type: 'object' }, passage: '' } },
  'read, also the web, in a cage': { permission: { level: 'read', web: true, isCaged: true } },
}
// Stars, question marks and parentheses mean more than themselves in a rule.
const gateCommands = ['npm run types && npm test', 'prettier --check src/*', '(cd api; make)', 'ls src/?.ts']
const asked = (changes: Partial<AgentRequest>): AgentRequest => request({ gateCommands, ...changes })
const BY_HAND: readonly Session[] = ['new', 'last', { id: 's-1' }]

/** How an agent is started in each situation; what is long and is the same again is named and not repeated. */
function pages(started: Readonly<Record<string, Partial<Invocation>>>): string {
  const seen = new Map<string, string>()
  const once = (text: string, title: string): string => {
    const before = seen.get(text)
    if (text.length < 80) return text
    if (before === undefined) seen.set(text, title)
    return before === undefined ? text : `as above: ${before}`
  }
  const quoted = (word = ''): string => (/[\s"]/.test(word) ? JSON.stringify(word) : word)
  const page = ([title, { program, args = [], env = {}, files = {}, stdin }]: (typeof all)[number]): string =>
    [
      `── ${title}`,
      [program, ...args].map(quoted).join(' '),
      ...Object.entries(env).map(([name, value]) => `${name}=${once(String(value), title)}`),
      ...Object.entries(files).map(([name, text]) => `${name}: ${once(text.trimEnd(), title)}`),
      ...(stdin === undefined ? [] : [`stdin: ${stdin}`]),
    ].join('\n')
  const all = Object.entries(started)
  return `${all.map(page).join('\n\n').replaceAll(FOLDER, '<folder>')}\n`
}

test.each(AGENTS.filter(({ program }) => program !== null))(
  '$name is started in this way, alone and by hand',
  async ({ name, load }) => {
    const provider = await load(null)
    const started: Record<string, Partial<Invocation>> = {}
    for (const [title, changes] of Object.entries(ALONE)) started[title] = provider.invocation(asked(changes))
    for (const session of BY_HAND)
      started[`by hand, ${JSON.stringify(session)}`] = provider.interactive!(asked({ mcpServers }), session)
    const caged = asked({ permission: { level: 'edit', isCaged: true } })
    started['by hand, in a cage'] = provider.interactive!(caged, 'new')
    const resumes = `It can go on in a conversation: ${provider.resumes === true}`
    await expect(`${resumes}\n\n${pages(started)}`).toMatchFileSnapshot(`golden/${name} is started.txt`)
  },
)

describe('the interactive program', () => {
  const drivable = AGENTS.filter(({ name }) => name !== 'script')

  test.each(drivable)('of $name asks the person, whatever the agent alone may do', async ({ load }) => {
    const provider = await load('./agent.sh')
    for (const permission of [{ level: 'full' }, { level: 'custom', args: ['--yolo'] }] as const) {
      const all = JSON.stringify(provider.interactive!(request({ permission }), 'new'))
      expect(all).not.toMatch(/yolo|dangerously|allow-all|--auto\b|acceptEdits|auto.edit|TRUST_WORKSPACE/)
      expect(all).not.toMatch(/max-turns|SessionTurns|session-turns|budget/)
    }
  })

  test.each(drivable)(
    'of $name finds a prompt that is too long for an argument in a file',
    async ({ load }) => {
      const { args, files } = (await load('./agent.sh')).interactive!(request({ prompt: LONG }), 'new')
      expect(args.join(' ').length).toBeLessThan(20_000)
      expect(files['prompt.md']).toBe(LONG)
    },
  )
})
