import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { ralph } from '../cli/ralph.ts'
import { git, makeRepository } from '../repository.ts'
import { startFakeModelApi } from './fake-model-api.ts'
import { environment } from './home.ts'
import { inTurn, say, shell, type Model } from './model.ts'

const { claude, codex } = inject('programs')
const task = (id: string, depends: string) =>
  `# ${id}: Write a file\n\n- **Status**: TODO\n- **Depends**: ${depends}\n\n## Description\nWrite it.\n`

let home: string
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'ralph-home-'))
  mkdirSync(path.join(home, '.config'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

test.skipIf(claude === undefined)(
  'two tasks of a loop with the real claude end in two commits with their numbers',
  async () => {
    const root = makeRepository({
      'docs/tasks/T-001.md': task('T-001', 'none'),
      'docs/tasks/T-002.md': task('T-002', 'T-001'),
      'ralph.config.json': JSON.stringify({
        agent: 'claude',
        gates: [{ name: 'files', command: 'ls file-*.txt' }],
        // The search for a seal has tests of its own, and takes longer than both tasks.
        commit: { seal: false },
      }),
    })
    const model: Model = ({ request, results }) =>
      results > 0
        ? say('Wrote the file.\n\n<TASK_DONE>')
        : {
            kind: 'call',
            call: { tool: 'write', path: path.join(root, `file-${request}.txt`), content: 'hello\n' },
          }
    await using api = await startFakeModelApi(model)
    const env = environment('claude', api.url, home, claude!)

    const answer = await ralph(['run', '--loop', '--json'], { cwd: root, env, now: new Date() })

    expect(answer).toMatchObject({ code: 0 })
    const commits = git(
      root,
      'log',
      '-2',
      '--format=%s%n%(trailers:key=Task,key=Agent,key=Turns,key=Tokens,key=Cost)',
    )
    expect(commits.trim().split(/\n+/)).toEqual([
      'T-002: Write a file',
      expect.stringMatching(/^Task: T-002/),
      expect.stringMatching(/^Agent: claude/),
      'Turns: 2',
      'Tokens: 12k in (10k cached), 200 out',
      expect.stringMatching(/^Cost: \$0\.0\d/),
      'T-001: Write a file',
      expect.stringMatching(/^Task: T-001/),
      expect.stringMatching(/^Agent: claude/),
      'Turns: 2',
      'Tokens: 12k in (10k cached), 200 out',
      expect.stringMatching(/^Cost: \$0\.0\d/),
    ])
    expect(git(root, 'status', '--short')).toBe('')
  },
)

/** A repository of one task, and what became of it in a run with these agents and this model. */
async function runOne(model: (root: string) => Model, config: object) {
  const root = makeRepository({
    'docs/tasks/T-001.md': task('T-001', 'none'),
    'ralph.config.json': JSON.stringify({ gates: [], commit: { seal: false }, agent: 'claude', ...config }),
  })
  await using api = await startFakeModelApi(model(root))
  const codexsWorld = codex === undefined ? {} : environment('codex', api.url, home, codex)
  const claudesWorld = environment('claude', api.url, home, claude!)
  const env = { ...codexsWorld, ...claudesWorld, PATH: [codex, claudesWorld['PATH']].join(path.delimiter) }
  const { code, stdout, stderr } = await ralph(['run', '--json'], { cwd: root, env, now: new Date() })
  expect(stderr).toBe('')
  const events = stdout.trim().split('\n')
  return { root, code, events: events.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

test.skipIf(claude === undefined || codex === undefined)(
  'codex goes on with the task while claude waits for its limit to end',
  async () => {
    const model = (root: string): Model => {
      let refusals = 0
      return ({ results }) => {
        if (results > 0) return say('Wrote the file.\n\n<TASK_DONE>')
        // The first to ask is claude, which is told to come back in an hour.
        if (refusals++ === 0) return { kind: 'fail', status: 429, message: 'usage limit', retryAfter: 3600 }
        return {
          kind: 'call',
          call: { tool: 'write', path: path.join(root, 'file.txt'), content: 'hello\n' },
        }
      }
    }
    const { root, code, events } = await runOne(model, { fallback: ['codex'] })
    const attempts = events.filter(({ type }) => type === 'attempt-started')
    expect([code, attempts.map(({ agent }) => agent)]).toEqual([0, ['claude 2.1.326', 'codex 0.169.0']])
    expect(attempts.map((event) => event['try'])).toEqual([1, 1])
    expect(events.filter(({ type }) => type === 'waiting')).toEqual([])
    expect(git(root, 'log', '-1', '--format=%s %(trailers:key=Agent)').trim()).toMatch(
      /^T-001: Write a file Agent: codex/,
    )
  },
)

test.skipIf(claude === undefined)(
  'a model that claude does not have ends the run, and uses up no try',
  async () => {
    const refuse = (): Model => () => ({ kind: 'fail', status: 404, message: 'model: no-such-model' })
    const { root, code, events } = await runOne(refuse, { model: 'no-such-model' })
    expect(code).toBe(1)
    expect(events.filter(({ type }) => type === 'attempt-started')).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ end: 'stopped', reason: expect.stringContaining('no-such-model') })
    expect(git(root, 'for-each-ref', 'refs/ralph')).toBe('')
  },
)

test.skipIf(claude === undefined)(
  'a prompt that is too long for claude blocks the task at once',
  async () => {
    const message = 'prompt is too long: 215000 tokens > 200000 maximum'
    const { root, code, events } = await runOne(() => () => ({ kind: 'fail', status: 400, message }), {})
    expect([code, events.filter(({ type }) => type === 'attempt-started').length]).toEqual([1, 1])
    expect(git(root, 'show', 'HEAD:docs/tasks/T-001.md')).toContain('- **Status**: BLOCKED')
    expect(git(root, 'show', 'HEAD:docs/tasks/T-001.md')).toMatch(/prompt is too long/i)
  },
)

test.skipIf(claude === undefined)('what claude was denied is told with what would allow it', async () => {
  const model = (root: string): Model =>
    inTurn(
      shell('git commit --allow-empty -m mine'),
      { kind: 'call', call: { tool: 'write', path: path.join(root, 'file.txt'), content: 'hello\n' } },
      say('Wrote the file.\n\n<TASK_DONE>'),
    )
  const { code, events } = await runOne(model, {})
  expect([code, events.find(({ type }) => type === 'attempt-finished')?.['denied']]).toEqual([
    0,
    [{ tool: expect.stringContaining('git commit --allow-empty'), allowedBy: 'custom' }],
  ])
})

test.skipIf(claude === undefined)(
  'money that is spent ends the run after one attempt, which is kept',
  async () => {
    const { root, code, events } = await runOne(() => inTurn(shell('echo again')), { budget: 0.02 })
    expect([code, events.filter(({ type }) => type === 'attempt-started').length]).toEqual([1, 1])
    expect(events.at(-1)).toMatchObject({ end: 'budget', blocked: [], cost: expect.any(Number) })
    expect(git(root, 'for-each-ref', '--format=%(refname)', 'refs/ralph').trim()).toBe(
      'refs/ralph/attempts/T-001/1',
    )
    expect(git(root, 'status', '--short')).toBe('')
  },
)
