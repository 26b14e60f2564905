import { beforeEach, describe, expect, inject, test } from 'vitest'
import { available } from '../cage/here.ts'
import { ralph } from '../cli/ralph.ts'
import { git, makeRepository, put } from '../repository.ts'
import { DECISIONS, REQUIREMENTS, RESEARCH, TASKS } from '../plan/planner.ts'
import { startFakeModelApi } from './fake-model-api.ts'
import { environment, makeHome } from './home.ts'
import type { AgentName } from './installed.ts'
import { type Model, type Reply } from './model.ts'

const programs = inject('programs')
const ANSWERS: Readonly<Record<string, object>> = {
  research: RESEARCH,
  decisions: DECISIONS,
  requirements: REQUIREMENTS,
  tasks: TASKS,
}

let home: string
beforeEach(() => {
  home = makeHome()
})

const phaseIn = (body: string): string => /Your part: (\w+)/.exec(body)?.[1] ?? ''
const answers: Model = ({ body }) => ({ kind: 'answer', answer: ANSWERS[phaseIn(body)] ?? {} })

/** Plans with a real agent against a model. */
async function plan(
  name: AgentName,
  model: Model,
  argv: readonly string[] = [],
  sandbox: 'on' | 'off' = 'off',
) {
  const root = makeRepository({ 'README.md': '# shop\n' })
  await using api = await startFakeModelApi(model)
  const settings = {
    agent: name,
    gates: [],
    retries: 0,
    ...(name === 'gemini' ? { model: 'gemini-3.1-pro-preview' } : {}),
    sandbox: { network: [new URL(api.url).host] },
  }
  put(root, { 'ralph.config.json': JSON.stringify(settings) })
  git(root, 'add', '--all')
  git(root, 'commit', '--quiet', '--amend', '--no-edit')
  const env = { ...environment(name, api.url, home, programs[name]!), RALPH_SANDBOX: sandbox }
  const answer = await ralph(['plan', 'Users who log in', ...argv], { cwd: root, env, now: new Date() })
  return { answer, root, bodies: api.bodies }
}

const SANDBOXES = available.ok ? (['off', 'on'] as const) : (['off'] as const)

describe.each(['claude', 'codex', 'gemini', 'opencode'] as const)('%s plans', (name) => {
  test.skipIf(programs[name] === undefined).each(SANDBOXES)(
    'in four phases, its answers in the shape, sandbox %s',
    async (sandbox) => {
      const { answer, root } = await plan(name, answers, ['--yes'], sandbox)
      expect(answer).toMatchObject({ code: 0 })
      expect(git(root, 'log', '--format=%s').trim().split('\n')).toHaveLength(5)
      expect(git(root, 'status', '--porcelain')).toBe('')
      expect(git(root, 'log', '-1', '--format=%(trailers:key=Agent,valueonly)')).toContain(name)
    },
  )

  test.skipIf(programs[name] === undefined).each(SANDBOXES)(
    'and cannot write, sandbox %s',
    async (sandbox) => {
      const model: Model = ({ body, results }): Reply => {
        if (phaseIn(body) === 'research' && results === 0)
          return { kind: 'call', call: { tool: 'write', path: 'new.txt', content: 'x' } }
        const answer = ANSWERS[phaseIn(body)] ?? {}
        return results === 1 && phaseIn(body) === 'research' && body.includes('StructuredOutput')
          ? { kind: 'call', call: { tool: 'answer', answer } }
          : { kind: 'answer', answer }
      }
      const { answer, root } = await plan(name, model, ['--yes'], sandbox)
      expect(answer).toMatchObject({ code: 0 })
      expect(git(root, 'status', '--porcelain')).toBe('')
      expect(git(root, 'ls-files')).not.toContain('new.txt')
    },
  )
})
