import { beforeEach, describe, expect, inject, test } from 'vitest'
import { ralph } from '../cli/ralph.ts'
import { available } from '../cage/here.ts'
import { git, makeRepository, put } from '../repository.ts'
import { SELF } from '../mcp/client.ts'
import { startFakeModelApi } from './fake-model-api.ts'
import { environment, makeHome } from './home.ts'
import { inTurn, say, shell, type Model, type Reply } from './model.ts'

const programs = inject('programs')
const AGENTS = ['claude', 'codex', 'gemini', 'opencode'] as const

const TASK = `# T-001: Write a file

- **Status**: TODO
- **Depends**: none

## Description
Write it.

## Acceptance Criteria
- [ ] The file is there
- [ ] It is long
`

let home: string
beforeEach(() => {
  home = makeHome()
})

const signal = (name: string, input: object): Reply => ({
  kind: 'call',
  call: { tool: 'mcp', server: 'ralph', name, input },
})

/** Codex does not wait for a server before its first turn, as it may with a model that takes its time. */
function turns(name: string, ...replies: readonly [Reply, ...Reply[]]): Model {
  return name === 'codex' ? inTurn(shell('sleep 6'), ...replies) : inTurn(...replies)
}

/** Runs one task with a real agent, in a repository of its own. */
async function runTask(
  name: (typeof AGENTS)[number],
  model: (write: Reply) => Model,
  config: object = {},
  meanwhile: (root: string, env: Record<string, string>) => Promise<void> = async () => undefined,
  sandbox = false,
) {
  const settings = {
    agent: name,
    ...(name === 'gemini' ? { model: 'gemini-3.1-pro-preview' } : {}),
    // What it may do is no matter here, and its own sandbox does not work in every container.
    ...(name === 'codex' ? { permission: 'full' } : {}),
    gates: [],
    retries: 0,
    checkCriteria: true,
    commit: { seal: false },
    ...config,
  }
  const root = makeRepository({
    'docs/tasks/T-001.md': TASK,
    'ralph.config.json': JSON.stringify(settings),
  })
  const write: Reply = {
    kind: 'call',
    call: { tool: 'write', path: 'hello.txt', content: 'hello\n' },
  }
  await using api = await startFakeModelApi(model(write))
  if (sandbox) {
    const network = [new URL(api.url).host]
    put(root, { 'ralph.config.json': JSON.stringify({ ...settings, sandbox: { network } }) })
    git(root, 'commit', '--quiet', '--all', '--message=Let it reach its service')
  }
  const env = {
    ...environment(name, api.url, home, programs[name]!),
    RALPH_SANDBOX: sandbox ? 'on' : 'off',
  }
  const running = ralph(['run', '--json', '--verbose'], { cwd: root, env, now: new Date(), self: SELF })
  const [{ stdout, stderr }] = await Promise.all([running, meanwhile(root, env)])
  expect(stderr).toBe('')
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const file = git(root, 'show', 'HEAD:docs/tasks/T-001.md')
  const tracked = git(root, 'ls-tree', '-r', '--name-only', 'HEAD')
  return {
    events,
    file,
    tracked,
    outcome: events.find(({ type }) => type === 'attempt-finished')?.['outcome'],
    bodies: api.bodies,
  }
}

/** Answers from another terminal, so long after the question. */
function answered(afterMs: number) {
  return async (root: string, env: Record<string, string>): Promise<void> => {
    const questions = async () => {
      const { stdout } = await ralph(['status', '--json'], { cwd: root, env })
      return (JSON.parse(stdout) as { run: { questions: unknown[] } | null }).run?.questions ?? []
    }
    await expect.poll(questions, { timeout: 60_000 }).toMatchObject([{ text: 'Which licence?' }])
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    expect(await ralph(['answer', '1', 'The Unlicense'], { cwd: root, env })).toMatchObject({ code: 0 })
  }
}

describe.each(AGENTS.filter((name) => programs[name] !== undefined))('%s', (name) => {
  test('says by a tool that it is done, and no marker is needed', async () => {
    const input = { summary: 'Wrote the file.', criteria_met: ['The file is there'] }
    const { events, file, outcome } = await runTask(name, (write) =>
      turns(
        name,
        write,
        signal('progress', { note: 'half of it' }),
        signal('done', input),
        say('Good night.'),
      ),
    )
    expect(events.filter(({ type }) => type === 'agent-signal')).toMatchObject([
      { signal: 'progress', text: 'half of it' },
      { signal: 'done', text: 'Wrote the file.' },
    ])
    expect(outcome).toBe('done')
    expect(file).toContain('## Completion Notes\nWrote the file.')
    expect(file).toContain('- [x] The file is there\n- [ ] It is long')
  })

  test('says by a tool that it is blocked', async () => {
    const { outcome, file } = await runTask(name, () =>
      turns(
        name,
        signal('blocked', { reason: 'No licence is named.', question: 'Which one?' }),
        say('I stop.'),
      ),
    )
    expect(outcome).toBe('blocked')
    expect(file).toContain('No licence is named. Which one?')
  })

  test('asks, waits for the answer of another terminal, and goes on with it', async () => {
    const { outcome, events, bodies } = await runTask(
      name,
      (write) =>
        turns(
          name,
          signal('ask', { question: 'Which licence?', options: ['MIT', 'Apache-2.0'] }),
          write,
          signal('done', { summary: 'Done.' }),
          say('Bye.'),
        ),
      {},
      // Longer than what some agents give a tool by themselves.
      answered(Number(process.env['RALPH_ASK_MS'] ?? 12_000)),
    )
    expect(events.find(({ type }) => type === 'answered')).toMatchObject({ answer: 'The Unlicense' })
    expect(bodies.join('')).toContain('The Unlicense')
    expect(outcome).toBe('done')
  })

  describe.skipIf(!available.ok)('in the sandbox', () => {
    test('asks, adds a task and says that it is done', async () => {
      const { events, outcome, tracked, bodies } = await runTask(
        name,
        (write) =>
          turns(
            name,
            signal('ask', { question: 'Which licence?', options: ['MIT'] }),
            write,
            signal('add_task', { title: 'Mend the tests', description: 'Slow.', criteria: ['Fast'] }),
            signal('done', { summary: 'Done.' }),
            say('Bye.'),
          ),
        {},
        answered(0),
        true,
      )
      expect(events.find(({ type }) => type === 'run-started')).toMatchObject({ sandbox: { on: true } })
      expect(outcome).toBe('done')
      expect(bodies.join('')).toContain('The Unlicense')
      expect(tracked).toContain('hello.txt')
      expect(tracked).toContain('docs/tasks/T-002.md')
    })
  })
})
