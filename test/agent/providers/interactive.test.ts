import { describe, expect, test } from 'vitest'
import { AGENTS } from '../../../src/agents/registry.ts'
import { UNKNOWN_USAGE } from '../../../src/base/usage.ts'
import type { Invocation, Session } from '../../../src/agents/port.ts'
import { request } from './sample.ts'

const LONG = 'word '.repeat(40_000)

async function started(
  name: string,
  session: Session,
  changes: Parameters<typeof request>[0] = {},
): Promise<Omit<Invocation, 'stdin'>> {
  const provider = await AGENTS.find((agent) => agent.name === name)!.load('./agent.sh')
  return provider.interactive!(request(changes), session)
}

const DRIVABLE = AGENTS.map(({ name }) => name).filter((name) => name !== 'script')

/** With its own configuration and its reserved commands left out: what is about the conversation. */
const CONVERSATIONS: Readonly<Record<string, readonly [fresh: string, last: string, known: string]>> = {
  claude: ['-- Do the task.', '--continue', '--resume=s-1'],
  codex: ['-- Do the task.', '--last', 's-1'],
  gemini: ['--prompt-interactive=Do the task.', '--resume=latest', '--resume=s-1'],
  opencode: ['--prompt=Do the task.', '--continue', '--session=s-1'],
  copilot: ['--interactive=Do the task.', '--continue', '--resume=s-1'],
  qwen: ['--prompt-interactive=Do the task.', '--continue', '--resume=s-1'],
  continue: ['-- Do the task.', '--resume', '--resume'],
}

describe('the interactive program', () => {
  test.each(Object.entries(CONVERSATIONS))('of %s begins anew, or goes on', async (name, expected) => {
    const sessions: readonly Session[] = ['new', 'last', { id: 's-1' }]
    for (const [index, session] of sessions.entries()) {
      const { args } = await started(name, session)
      expect(args.join(' ')).toContain(expected[index])
      for (const other of expected.filter((one) => !expected[index]!.includes(one)))
        expect(args.join(' ')).not.toContain(other)
    }
  })

  test.each(DRIVABLE)('of %s asks the person, whatever the agent alone may do', async (name) => {
    for (const permission of [{ level: 'full' }, { level: 'custom', args: ['--yolo'] }] as const) {
      const { args, env, files } = await started(name, 'new', { permission })
      const all = JSON.stringify([args, env, files])
      expect(all).not.toMatch(/yolo|dangerously|allow-all|--auto\b|acceptEdits|auto.edit|TRUST_WORKSPACE/)
      expect(all).not.toMatch(/max-turns|SessionTurns|session-turns|budget/)
    }
  })

  test('of codex has no server in the background, and in a cage no sandbox of its own', async () => {
    expect((await started('codex', 'new')).args.slice(0, 1)).toEqual(['--no-daemon'])
    const caged = { permission: { level: 'edit', isCaged: true } } as const
    expect((await started('codex', 'new', caged)).args).toContain('--sandbox=danger-full-access')
  })

  const known = { session: 's-1', used: UNKNOWN_USAGE }
  test.each([
    ['claude', '--resume=s-1'],
    ['codex', 'resume s-1 -'],
    ['gemini', '--resume=s-1'],
    ['opencode', '--session=s-1'],
    ['qwen', '--resume=s-1'],
  ])('of %s is not needed to go on in a conversation', async (name, args) => {
    const provider = await AGENTS.find((agent) => agent.name === name)!.load(null)
    expect(provider.resumes).toBe(true)
    expect(provider.invocation(request({ resume: known })).args.join(' ')).toContain(args)
    expect(provider.invocation(request()).args.join(' ')).not.toContain(args)
  })

  test.each(Object.keys(CONVERSATIONS))(
    'of %s finds a prompt that is too long for an argument in a file',
    async (name) => {
      const { args, files } = await started(name, 'new', { prompt: LONG })
      expect(args.join(' ').length).toBeLessThan(20_000)
      expect(args.join(' ')).toContain('prompt.md')
      expect(files['prompt.md']).toBe(LONG)
    },
  )

  test('of a command is the command, with its prompt in a file', async () => {
    const { program, args, env, files } = await started('command', 'new')
    expect([program, ...args]).toEqual(['sh', '-c', './agent.sh', 'ralph-command'])
    expect(env['RALPH_PROMPT_FILE']).toMatch(/prompt\.md$/)
    expect(files['prompt.md']).toBe('Do the task.')
  })

  test('is nothing that the script agent has', async () => {
    const provider = await AGENTS.find(({ name }) => name === 'script')!.load(null)
    expect('interactive' in provider).toBe(false)
  })
})
