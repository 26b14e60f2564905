import { describe, expect, test } from 'vitest'
import { AGENTS } from '../../../src/agents/registry.ts'
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
