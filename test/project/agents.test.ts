import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commit, env, git, makeRepository, projectFolder, taskText } from '../repository.ts'
import { jsonOf, ralph, type Answer } from '../cli/ralph.ts'

type Fields = Readonly<Record<string, string>>

/** A repository in which claude, codex and opencode are installed, and nobody has ever logged in. */
function repository(tasks: Readonly<Record<string, Fields>>, config: object = {}): string {
  const bin = ['claude', 'codex', 'opencode'].map(
    (name) => [`bin/${name}`, '#!/bin/sh\necho 99.0.0\n'] as const,
  )
  const files = Object.entries(tasks).map(([id, fields]) => {
    const script = '## Script\n\n```sh\necho x > $RALPH_TASK.txt\n```\n'
    return [`docs/tasks/${id}.md`, `${taskText(id, `Do ${id}`, fields)}\n${script}`] as const
  })
  return makeRepository({
    'package.json': '{}',
    ...Object.fromEntries([...bin, ...files]),
    'docs/disciplines/backend.md': '# Backend\n\n- **Agent**: codex\n- **Model**: of-discipline\n',
    'ralph.config.json': JSON.stringify({ commit: { seal: false }, gates: [], baseline: 'off', ...config }),
  })
}

function run(cwd: string, argv: readonly string[], more: Fields = {}): Promise<Answer> {
  const world = {
    ...env,
    PATH: `${join(cwd, 'bin')}:${env.PATH}`,
    ANTHROPIC_API_KEY: 'x',
    CODEX_API_KEY: 'x',
  }
  return ralph(['run', ...argv], { cwd, env: { ...world, ...more } })
}

/** Has the program do something else. */
function program(cwd: string, name: string, script: string): void {
  writeFileSync(join(cwd, 'bin', name), `#!/bin/sh\n${script}\n`)
  git(cwd, 'commit', '--quiet', '--all', '--message=Begin', '--amend')
}

describe.skipIf(process.platform === 'win32')('the agent and the model of a task', () => {
  const tiers = { Light: { agent: 'opencode', model: 'of-tier' } }
  const all = { agent: 'claude', model: 'of-config', tiers }
  const config = { agent: 'claude', model: 'opus' }
  const task = { Agent: 'codex', Model: 'of-task' }
  it.each<[string, string, Fields, object, string, string | null]>([
    ['the command line first', '--agent claude --model mine', task, all, 'claude', 'mine'],
    ['then the task', '', { ...task, Discipline: 'backend' }, all, 'codex', 'of-task'],
    ['then its discipline', '', { Discipline: 'backend' }, all, 'codex', 'of-discipline'],
    ['then its tier', '', {}, all, 'opencode', 'of-tier'],
    ['then the configuration', '', {}, config, 'claude', 'opus'],
    ['then what is installed, in order', '', {}, { agents: ['qwen', 'codex', 'claude'] }, 'codex', null],
    ['no model of another agent: configuration', '', { Agent: 'codex' }, config, 'codex', null],
    ['no model of another agent: task', '--agent codex', { Model: 'sonnet' }, config, 'codex', null],
    [
      'a model of the command line for any agent',
      '--model mine',
      { Agent: 'codex' },
      config,
      'codex',
      'mine',
    ],
    ['the model of the task', '', { Model: 'sonnet' }, config, 'claude', 'sonnet'],
    ['a model beside no agent, for any', '', { Agent: 'codex' }, { model: 'any' }, 'codex', 'any'],
  ])('%s', async (_, argv, fields, settings, agent, model) => {
    const cwd = repository({ 'T-001': fields }, settings)
    const { stdout, stderr } = await run(cwd, ['--dry-run', '--json', ...argv.split(' ').filter(Boolean)])
    expect([stderr, JSON.parse(stdout)]).toMatchObject(['', { agent, model }])
  })
})

describe.skipIf(process.platform === 'win32')('before a run begins', () => {
  it.each([
    [{ agent: 'cluade' }, 'agent'],
    [{ agents: ['claude', 'cluade'] }, 'agents[1]'],
    [{ agent: 'script', fallback: ['cluade'] }, 'fallback[0]'],
    [{ agent: 'script', tiers: { Heavy: { agent: 'cluade' } } }, 'tiers.Heavy.agent'],
  ])('a name that is unknown is refused with its place, wherever it stands: %j', async (config, key) => {
    const { code, stderr } = await run(repository({ 'T-001': {} }, config), [])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: ralph\.config\.json:1:\d+ /)])
    expect(stderr).toContain(` ${key}: expected one of`)
    expect(stderr).toContain('found "cluade", did you mean "claude"?')
  })

  it('an agent that a later task asks for must be there too', async () => {
    const cwd = repository(
      { 'T-001': {}, 'T-002': { Agent: 'gemini', Depends: 'T-001' } },
      { agent: 'script' },
    )
    const { code, stderr } = await run(cwd, ['--loop'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('gemini is not installed')])
    expect(stderr).toContain('npm install -g @google/gemini-cli')
    expect((await run(cwd, [])).code).toBe(0)
  })

  it('an agent that is older than what ralph was tested with is reported, and the run continues', async () => {
    const cwd = repository({ 'T-001': {} }, { agent: 'script', fallback: ['claude'] })
    program(cwd, 'claude', 'echo 2.1.197')
    const { code, stdout } = await run(cwd, ['--json'])
    const warnings = stdout.split('\n').filter((line) => line.includes('"type":"warning"'))
    expect([code, warnings]).toEqual([
      0,
      [
        expect.stringMatching(
          /claude 2\.1\.197 is older than 2\.1\.\d+, the oldest that ralph was tested with/,
        ),
      ],
    ])
    expect(warnings[0]).toContain('npm install -g @anthropic-ai/claude-code@latest')
  })

  it.each([
    [{ agent: 'command', command: ':', budget: 5, retries: 0 }, ['command reports no cost']],
    [{ agent: 'command', command: ':', maxCostPerTask: 5, retries: 0 }, ['command reports no cost']],
    [{ agent: 'command', command: ':', retries: 0 }, []],
    [{ agent: 'script', budget: 5 }, []],
  ])('an agent that no budget can hold is told of: %j', async (config, expected) => {
    const { stdout } = await run(repository({ 'T-001': {} }, config), ['--json'])
    const warnings = stdout.split('\n').filter((line) => line.includes('"type":"warning"'))
    expect(warnings).toEqual(expected.map((words) => expect.stringContaining(words)))
  })

  it('a program that does not start is told with its own words, as on a Node that is too old', async () => {
    const cwd = repository({ 'T-001': {} }, { agent: 'claude' })
    program(cwd, 'claude', 'echo "SyntaxError: Unexpected token"; echo; echo "Node.js v18.1.0"; exit 1')
    const { code, stderr } = await run(cwd, [])
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('claude does not start: SyntaxError: Unexpected token Node.js v18.1.0'),
    ])
  })

  it('a program that tells no version may be new enough, and is asked once', async () => {
    const cwd = repository({ 'T-001': {}, 'T-002': { Agent: 'claude' } }, { agent: 'claude', retries: 0 })
    program(cwd, 'claude', 'echo "$*" >> "$ASKED"')
    const asked = join(projectFolder({}), 'asked')
    const { code } = await run(cwd, ['--loop'], { ASKED: asked })
    const calls = readFileSync(asked, 'utf8').trim().split('\n')
    expect([code, calls.filter((args) => args === '--version')]).toEqual([1, ['--version']])
    expect(calls.length).toBeGreaterThan(1)
  })

  it.each(['./no-such-agent'])('the command must be there: %s', async (command) => {
    const cwd = repository({ 'T-001': {} })
    const { code, stdout, stderr } = await run(cwd, ['--agent', 'command', '--command', command])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(
      `The agent "command" finds no program "${command}" to run: set \`command\` in the config, or give --command.`,
    )
  })

  it('an agent that nobody has logged in says what to do', async () => {
    const cwd = repository({ 'T-001': {} }, { agent: 'claude' })
    const { code, stderr } = await run(cwd, [], { HOME: cwd, ANTHROPIC_API_KEY: '' })
    expect([code, stderr]).toEqual([2, expect.stringContaining('run `claude` and log in')])
    expect(git(cwd, 'for-each-ref', 'refs/ralph')).toBe('')
  })

  it('a name that only one task misspells is left to that task: the others are done', async () => {
    const cwd = repository({ 'T-001': { Agent: 'cluade' }, 'T-002': {} }, { agent: 'script' })
    const alone = await run(cwd, ['T-001'])
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('Did you mean claude?')])
    const { code, stdout } = await run(cwd, ['--loop'])
    expect(code).toBe(1)
    expect(stdout).toContain('there is no agent named "cluade"')
    expect(git(cwd, 'log', '--format=%s')).toBe('T-002: Do T-002\nBegin')
    expect(git(cwd, 'status', '--short')).toBe('')
  })
})

describe.skipIf(process.platform === 'win32')('what stands in a task file', () => {
  it.each<[string, Fields]>([
    ['a task', { Agent: 'script' }],
    ['a discipline', { Discipline: 'sneaky' }],
  ])('is not run because %s says so', async (_, fields) => {
    const cwd = repository({ 'T-001': fields, 'T-002': {} }, { agent: 'command', command: 'exit 3' })
    commit(cwd, 'Sneaky', { 'docs/disciplines/sneaky.md': '# Sneaky\n\n- **Agent**: script\n' })
    const alone = await run(cwd, ['T-001'])
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('give --agent script')])
    const { stdout } = await run(cwd, ['--loop', '--retries', '0', '--on-failure', 'stop'])
    expect(stdout).toContain('no task and no discipline can choose it')
    expect(stdout).toContain('Do T-002')
    expect(existsSync(join(cwd, 'T-001.txt'))).toBe(false)
    const { stderr } = await run(cwd, ['T-001', '--agent', 'script'])
    expect([stderr, readFileSync(join(cwd, 'T-001.txt'), 'utf8')]).toEqual(['', 'x\n'])
  })

  it('is run where the configuration chose the same agent', async () => {
    const cwd = repository({ 'T-001': { Agent: 'script' } }, { agent: 'script' })
    expect(await run(cwd, [])).toMatchObject({ code: 0, stderr: '' })
  })

  it.each(['claude', 'codex', 'opencode'])('names a model to %s, and never an option', async (agent) => {
    const cwd = repository({ 'T-001': { Model: '--yolo' } }, { agent })
    const { stdout } = await run(cwd, ['--dry-run', '--json'])
    const { command } = JSON.parse(stdout) as { command: readonly string[] }
    expect(command).toContain('--model=--yolo')
    expect(command).not.toContain('--yolo')
  })
})

describe.skipIf(process.platform === 'win32')('a command that the shell cannot start', () => {
  it('ends the run at its first task, and uses up no try', async () => {
    const cwd = repository(
      { 'T-001': {}, 'T-002': {} },
      { agent: 'command', command: 'KEY=1 ./no-such-agent' },
    )
    const { code, stdout } = await run(cwd, ['--loop', '--json'])
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(code).toBe(1)
    expect(events.filter(({ type }) => type === 'attempt-started')).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({
      type: 'run-finished',
      end: 'stopped',
      blocked: [],
      reason: expect.stringContaining('./no-such-agent: not found): set `command` in the config'),
    })
    expect(git(cwd, 'log', '--format=%s')).toBe('Begin')
    expect(git(cwd, 'for-each-ref', 'refs/ralph')).toBe('')
    expect(git(cwd, 'status', '--short')).toBe('')
  })

  it('though it has worked, is tried again and kept', async () => {
    const command = 'echo x > made.txt; ./no-such-agent'
    const cwd = repository({ 'T-001': {} }, { agent: 'command', command, retries: 0 })
    const { code } = await run(cwd, [])
    expect([code, git(cwd, 'for-each-ref', '--format=%(refname)', 'refs/ralph')]).toEqual([
      1,
      'refs/ralph/attempts/T-001/1',
    ])
    expect(git(cwd, 'show', 'refs/ralph/attempts/T-001/1:made.txt')).toBe('x')
  })
})

describe.skipIf(process.platform === 'win32')('what is previewed is what is done', () => {
  it('the command line of a dry run is that of the run, its budget too', async () => {
    const cwd = repository({ 'T-001': {} }, { agent: 'claude', retries: 0, maxCostPerTask: 3, gates: [] })
    const seen = join(cwd, '.git/seen')
    program(cwd, 'claude', `case "$1" in --version) echo 99.0.0;; *) printf '%s\\n' "$@" > ${seen};; esac`)
    const argv = ['--budget', '5', '--model', 'opus']
    const { stdout } = await run(cwd, ['--dry-run', '--json', ...argv])
    const { command } = JSON.parse(stdout) as { command: string[] }
    await run(cwd, argv)
    const folder = /(?<=^|=)\/.*(?=\/)/
    const done = readFileSync(seen, 'utf8').trimEnd().split('\n')
    expect(done.map((arg) => arg.replace(folder, '<private folder>'))).toEqual(command.slice(1))
    expect(command.join(' ')).toContain('--max-budget-usd=3')
  })

  it('and a run warns of a feature that is not there, as the prompt does', async () => {
    const cwd = repository({ 'T-001': { Feature: 'payments' } })
    const { stdout } = await run(cwd, ['--agent', 'script', '--json'])
    const { warnings } = (await jsonOf(cwd, 'prompt', '1')) as {
      warnings: string[]
    }
    expect(warnings).toHaveLength(1)
    expect(stdout).toContain(`"message":${JSON.stringify(warnings[0])}`)
  })
})
