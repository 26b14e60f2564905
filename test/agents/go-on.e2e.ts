import { expect, inject, test } from 'vitest'
import { ralph } from '../cli/ralph.ts'
import { git, makeRepository } from '../repository.ts'
import { startFakeModelApi } from './fake-model-api.ts'
import { environment, makeHome } from './home.ts'
import { say, shell, type Model } from './model.ts'

const programs = inject('programs')
const TASK = '# T-001: Write files\n\n- **Status**: TODO\n\n## Produces\n- `half.txt`\n- `whole.txt`\n'

/** Runs real agents in the sandbox, in a repository with one task, against a model. */
async function repositoryFor(
  name: 'claude' | 'codex' | 'gemini' | 'opencode' | 'qwen',
  model: (root: string) => Model,
) {
  let answers: Model = () => say('not yet')
  const api = await startFakeModelApi((asked) => answers(asked))
  const root = makeRepository({
    'docs/tasks/T-001.md': TASK,
    'ralph.config.json': JSON.stringify({
      agent: name,
      ...(name === 'gemini' ? { model: 'gemini-3.1-pro-preview' } : {}),
      gates: [{ name: 'test', command: 'ls half.txt whole.txt' }],
      retries: 0,
      sandbox: { network: [new URL(api.url).host], gatesNetwork: [] },
      commit: { seal: false },
    }),
  })
  answers = model(root)
  const env = { ...environment(name, api.url, makeHome(), programs[name]!), RALPH_SANDBOX: 'on' }
  const run = (...argv: readonly string[]) => ralph(argv, { cwd: root, env, now: new Date() })
  return { root, run, api }
}

test.each(['claude', 'codex', 'gemini', 'qwen'] as const)(
  '%s goes on in its conversation in the next run, in the sandbox',
  async (name) => {
    if (programs[name] === undefined) return
    let stopped = false
    const { root, run, api } = await repositoryFor(name, (folder) => ({ results }) => {
      if (results === 0) return shell('echo half > half.txt')
      if (stopped) return results > 1 ? say('Both are there. <TASK_DONE>') : shell('echo whole > whole.txt')
      stopped = true
      void ralph(['stop', '--now'], { cwd: folder, env: { XDG_CACHE_HOME: process.env['XDG_CACHE_HOME']! } })
      return { kind: 'hang' }
    })
    await using service = api
    expect(await run('run', '--json')).toMatchObject({ code: 130 })
    const before = service.bodies.length
    expect(await run('run', '--json')).toMatchObject({ code: 0 })
    const first = service.bodies[before]!
    expect(first).toContain('You were stopped in the middle of your work')
    expect(first).toContain('echo half')
    expect(git(root, 'ls-files', '*.txt')).toBe('half.txt\nwhole.txt')
  },
)

test.each(['claude', 'codex', 'gemini', 'qwen'] as const)(
  '%s is asked once whether its task is done, in the sandbox',
  async (name) => {
    if (programs[name] === undefined) return
    const { root, run, api } = await repositoryFor(name, () => ({ results, body }) => {
      if (results === 0) return shell('echo half > half.txt; echo whole > whole.txt')
      return say(
        body.includes('did not say how the task stands') ? 'Yes.\n\n<TASK_DONE>' : 'I wrote both files.',
      )
    })
    await using service = api
    const { code, stdout } = await run('run', '--json')
    expect(code).toBe(0)
    expect(stdout.match(/"type":"attempt-started"/g)).toHaveLength(1)
    expect(service.bodies.at(-1)).toContain('did not say how the task stands')
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Unsaid)')).toBe('')
    expect(git(root, 'show', 'HEAD:docs/tasks/T-001.md')).toContain('I wrote both files.')
  },
)
