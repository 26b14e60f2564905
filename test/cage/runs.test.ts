import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { ralph, type Answer } from '../cli/ralph.ts'
import { commit, env as bare, git, makeFolder, PROGRAM } from '../repository.ts'
import { repository } from '../cli/script-repository.ts'
import { available, GIT, Ground } from './here.ts'

/** A task that the embedded agent does. */
const task = (script: string): string =>
  `# T-001: Try\n\n- **Status**: TODO\n- **Depends**: none\n\n## Description\nDo it.\n\n## Script\n\n\`\`\`sh\n${script}\n\`\`\`\n`

const eventsOf = (answer: Answer): readonly RunEvent[] =>
  answer.stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as RunEvent)

describe.skipIf(!available.ok)('a run in the sandbox', () => {
  let ground: Ground
  beforeEach(() => {
    ground = new Ground()
  })
  afterEach(() => ground.remove())

  const env = (): Record<string, string> => ({
    ...GIT,
    PATH: process.env['PATH'] ?? '',
    HOME: ground.home,
    RALPH_SANDBOX: 'on',
  })

  function prepared(script: string, config: object): void {
    writeFileSync(
      join(ground.checkout, 'ralph.config.json'),
      JSON.stringify({ commit: { seal: false }, ...config }),
    )
    commit(ground.checkout, 'Plan', { 'docs/tasks/T-001.md': task(script) })
  }

  const run = (...argv: string[]): Promise<Answer> =>
    ralph(['run', '--agent', 'script', '--retries', '0', '--json', ...argv], {
      cwd: ground.checkout,
      env: env(),
    })

  test('does an honest task, and shows and keeps what was refused', async () => {
    const notes = join(ground.checkout, 'notes.txt')
    const script = [
      'echo x > new.txt',
      'echo x >> ~/.bashrc',
      `cat ${notes} > stolen.txt || rm stolen.txt`,
      'git add -A',
      'git -c user.name=Me -c user.email=me@example.com commit -qm Mine',
      'echo well > $RALPH_NOTES_FILE',
    ].join('; ')
    prepared(script, {
      gates: [{ name: 'test', command: `test -f new.txt; cat ${notes}; cat ~/.ssh/id_rsa; true` }],
      baseline: 'off',
    })
    const answer = await run()
    const events = eventsOf(answer)
    expect(events[0]).toMatchObject({ type: 'run-started', sandbox: { on: true, reason: null } })
    const caged = events.filter(({ type }) => type === 'caged')
    for (const one of [
      { id: 'T-001', by: 'agent', target: '~/.bashrc' },
      { id: 'T-001', by: 'agent', target: '~/work/shop/notes.txt' },
      { id: 'T-001', by: 'gate', target: '~/work/shop/notes.txt' },
      { id: 'T-001', by: 'gate', action: 'read', target: '~/.ssh/id_rsa' },
    ])
      expect(caged).toContainEqual(expect.objectContaining(one))
    expect(answer.stdout).not.toContain('SECRET')
    expect(git(ground.checkout, 'log', '--format=%s')).toBe('T-001: Try\nPlan\nBegin')
    expect(git(ground.checkout, 'show', '--format=', '--name-only')).toBe('docs/tasks/T-001.md\nnew.txt')
    expect(readFileSync(join(ground.home, '.bashrc'), 'utf8')).toBe('mine\n')
    expect(events.at(-1)).toMatchObject({ type: 'run-finished', end: 'done', completed: ['T-001'] })
    expect(readFileSync(join(ground.checkout, 'docs/tasks/T-001.md'), 'utf8')).toContain('well')
  })

  test.each(['.git/hooks', '.githooks'])(
    'runs the hooks of %s, which may not be written there',
    async (folder) => {
      const hook = '#!/bin/sh\necho hooked > hooked.txt; git add hooked.txt; echo >> "$0"; true\n'
      ground.write(`home/work/shop/${folder}/pre-commit`, hook)
      chmodSync(join(ground.checkout, folder, 'pre-commit'), 0o755)
      if (folder === '.githooks') git(ground.checkout, 'config', 'core.hooksPath', folder)
      prepared('echo x > new.txt', { gates: [] })
      expect((await run()).code).toBe(0)
      expect(git(ground.checkout, 'show', 'HEAD:hooked.txt')).toBe('hooked')
      expect(readFileSync(join(ground.checkout, folder, 'pre-commit'), 'utf8')).toBe(hook)
    },
  )

  test('keeps with a failed attempt what was refused', async () => {
    prepared('echo x > new.txt; curl -s https://example.com', {
      gates: [],
      sandbox: { network: ['a.example'] },
    })
    await run()
    const { stdout } = await ralph(['attempts', '1'], { cwd: ground.checkout, env: env() })
    expect(stdout).toContain('the sandbox refused  connect example.com:443')
  })

  test('ends before an agent begins where a gate fails and was refused something, and names what would help', async () => {
    prepared('echo x > new.txt', { gates: [{ name: 'test', command: 'cat ~/.aws/credentials' }] })
    const answer = await run()
    const finished = eventsOf(answer).at(-1)
    expect([answer.code, finished]).toMatchObject([1, { type: 'run-finished', end: 'stopped' }])
    const { reason } = finished as { readonly reason: string }
    expect(reason).toContain(
      'a gate fails, and the sandbox refused it something: test (cat ~/.aws/credentials): exited with code 1. These entries of the configuration would allow it: sandbox.read: "~/.aws". They run in a clean room',
    )
    expect(reason).toContain('If it fails for another reason, run with --baseline off')
    expect(eventsOf(answer).map(({ type }) => type)).not.toContain('attempt-started')
    const allowed = {
      gates: [{ name: 'test', command: 'cat ~/.aws/credentials' }],
      sandbox: { read: ['~/.aws'] },
    }
    prepared('echo x > new.txt', allowed)
    expect((await run()).code).toBe(0)
  })

  test('gives agents their full level, unless the configuration says otherwise', async () => {
    prepared('true', { gates: [] })
    const show = async (...argv: string[]) =>
      ralph(['run', '--dry-run', '--agent', 'claude', ...argv], {
        cwd: ground.checkout,
        env: {
          ...env(),
          PATH: `${join(ground.folder, 'bin')}:${process.env['PATH']}`,
          ANTHROPIC_API_KEY: 'x',
        },
      })
    ground.write('bin/claude', '#!/bin/sh\necho 2.1.326\n')
    execFileSync('chmod', ['+x', join(ground.folder, 'bin/claude')])
    expect((await show()).stdout).toMatch(
      /sandbox +on[^]*--dangerously-skip-permissions|--dangerously-skip-permissions[^]*sandbox +on/,
    )
    expect((await show('--sandbox', 'off')).stdout).toContain('acceptEdits')
    prepared('true ', { gates: [], permission: 'edit' })
    expect((await show()).stdout).toContain('acceptEdits')
  })

  test('is what doctor looks at programs from, and names what would show a hidden one', async () => {
    const folder = mkdtempSync('/tmp/ralph-hidden-')
    const agent = join(folder, 'agent.sh')
    ground.write('home/.aws/check', '#!/bin/sh\n')
    const check = join(ground.home, '.aws/check')
    writeFileSync(agent, '#!/bin/sh\n')
    for (const path of [agent, check]) execFileSync('chmod', ['+x', path])
    const gates = [
      { name: 'test', command: `${check} --all` },
      { name: 'lint', command: agent, required: false },
      { name: 'here', command: 'test -d .' },
      { name: 'script', command: `sh ${agent} -v` },
      { name: 'own', command: 'sh ./own.sh' },
    ]
    writeFileSync(join(ground.checkout, 'own.sh'), '')
    const looked = async (config: object) => {
      prepared('true', { agent: 'command', command: `${agent} -x`, gates, ...config })
      const { code, stdout } = await ralph(['doctor', '--json'], { cwd: ground.checkout, env: env() })
      const { findings } = JSON.parse(stdout) as { findings: { area: string }[] }
      const agents = findings.filter(({ area }) => area === 'agents').slice(-1)
      return [code, ...findings.filter(({ area }) => area === 'gates'), ...agents]
    }
    try {
      const ok = { level: 'ok' }
      const fix = (path: string) =>
        `Put it into the project, or allow it in ralph.config.json: "sandbox": { "read": ["${path}"] }`
      const hides = (path: string) =>
        expect.stringMatching(` cannot start in the sandbox, which hides ${path}$`)
      expect(await looked({})).toMatchObject([
        1,
        { level: 'problem', message: hides(check), fix: fix(check) },
        { level: 'note', message: hides(agent), fix: fix(agent) },
        ok,
        { level: 'problem', message: hides(agent), fix: fix(agent) },
        ok,
        { level: 'problem', message: hides(agent), fix: fix(agent) },
      ])
      expect(await looked({ sandbox: { read: [check, agent] } })).toMatchObject([0, ok, ok, ok, ok, ok, ok])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test.each([
    { phase: 'the baseline', script: 'echo x > new.txt', gate: 'test -f new.txt || exec sleep 1241' },
    { phase: 'the agent', script: 'echo x > new.txt; exec sleep 1241', gate: 'true' },
    { phase: 'a gate', script: 'echo x > new.txt', gate: 'test ! -f new.txt || exec sleep 1241' },
  ])('leaves nothing where ralph is killed during $phase', async ({ script, gate }) => {
    prepared(script, { gates: [{ name: 'test', command: gate }] })
    const child = spawn(process.execPath, [PROGRAM, 'run', '--agent', 'script'], {
      cwd: ground.checkout,
      env: env(),
      stdio: 'ignore',
      detached: true,
    })
    const processes = (): string => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    await expect.poll(processes, { timeout: 30_000, interval: 100 }).toMatch(/^sleep 1241$/m)
    const killed = once(child, 'exit')
    child.kill('SIGKILL')
    await killed
    await expect.poll(processes, { timeout: 10_000, interval: 50 }).not.toMatch(/^sleep 1241$/m)
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(ground.folder)
    expect(git(ground.checkout, 'status', '--porcelain')).toBe('')
    expect(readFileSync(join(ground.home, '.bashrc'), 'utf8')).toBe('mine\n')
    // What lay outside of the repository goes with the next cage.
    await ground.run('true')
    const left = readdirSync(join(ground.home, '.cache/ralph')).filter((name) => name.startsWith('cage-'))
    expect(left).toEqual([])
  })
})

describe('where there is no sandbox', () => {
  test('a run that is to have one does not begin', async () => {
    const cwd = repository({ 'T-001': 'echo x > x' })
    const onlyGit = makeFolder()
    symlinkSync(
      execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim(),
      join(onlyGit, 'git'),
    )
    const { code, stderr } = await ralph(['run', '--agent', 'script', '--sandbox', 'on'], {
      cwd,
      env: { ...bare, PATH: onlyGit },
    })
    expect([code, existsSync(join(cwd, 'x'))]).toEqual([2, false])
    expect(stderr).toMatch(/the sandbox is required, but (?:bubblewrap is not installed|there is none)/)
  })

  test('an unknown mode is a mistake', async () => {
    const cwd = repository({ 'T-001': 'true' })
    const { code, stderr } = await ralph(['run'], { cwd, env: { ...bare, RALPH_SANDBOX: 'maybe' } })
    expect([code, stderr]).toEqual([2, expect.stringContaining('RALPH_SANDBOX is "maybe"')])
  })

  test('doctor says so, as a problem only where one is asked for', async () => {
    const cwd = repository({ 'T-001': 'true' })
    const sandbox = async (mode: string) => {
      const { stdout } = await ralph(['doctor', '--json'], { cwd, env: { ...bare, RALPH_SANDBOX: mode } })
      const { findings } = JSON.parse(stdout) as { findings: { area: string; level: string }[] }
      return findings.find(({ area }) => area === 'sandbox')?.level
    }
    expect(await sandbox('off')).toBe('note')
    expect(await sandbox('on')).toBe(available.ok ? 'ok' : 'problem')
    expect(await sandbox('auto')).toBe(available.ok ? 'ok' : 'note')
  })
})
