import { describe, expect, inject, test } from 'vitest'
import { ralph } from '../cli/ralph.ts'
import { git, makeRepository } from '../repository.ts'
import { startFakeModelApi } from './fake-model-api.ts'
import { environment, makeHome } from './home.ts'
import { say, shell, type Model, type Reply } from './model.ts'

const programs = inject('programs')
const SUM = 'export const sum = (a, b) => a + b\n'
const TEST = `import { test } from 'node:test'\nimport assert from 'node:assert'\nimport { sum } from '../sum.js'\n\ntest('adds', () => {\n  assert.equal(sum(2, 3), 5)\n})\n`
const TASK =
  '# T-001: Make it faster\n\n- **Status**: TODO\n- **Depends**: none\n\n## Description\nMake it faster.\n\n## Acceptance Criteria\n- [ ] It still adds\n'

function project(config: object): string {
  return makeRepository({
    'package.json': '{ "type": "module" }\n',
    'sum.js': SUM,
    'test/sum.test.js': TEST,
    'test/other.test.js': "import { test } from 'node:test'\n\ntest('is there', () => undefined)\n",
    'docs/tasks/T-001.md': TASK,
    'ralph.config.json': JSON.stringify({
      gates: [{ name: 'test', command: 'node --test' }],
      commit: { seal: false },
      retries: 1,
      ...config,
    }),
  })
}

const names = (['claude', 'codex'] as const).filter((name) => programs[name] !== undefined)

describe.each(names)('with the real %s', (name) => {
  test('a skipped test is refused, and the next prompt says which', async () => {
    const root = project({ agent: name })
    const bodies: string[] = []
    const skip = shell(
      "sed -i \"s/^test('adds'/test.skip('adds'/\" test/sum.test.js && sed -i 's/a + b/a - b/' sum.js",
    )
    const mend = shell(
      "sed -i \"s/^test.skip('adds'/test('adds'/\" test/sum.test.js && echo 'export const sum = (a, b) => b + a' > sum.js",
    )
    const model: Model = ({ body, results }) => {
      bodies.push(body)
      if (results > 0) return say('All tests pass.\n\n<TASK_DONE>')
      return body.includes('tests-changed') ? mend : skip
    }
    await using api = await startFakeModelApi(model)
    const env = environment(name, api.url, makeHome(), programs[name]!)
    const answer = await ralph(['run', '--json'], { cwd: root, env, now: new Date() })
    expect(answer).toMatchObject({ code: 0 })
    expect(answer.stdout).toContain('test skipped: test/sum.test.js: \\"adds\\"')
    expect(bodies.some((body) => body.includes('Put these tests back as they were'))).toBe(true)
    expect(git(root, 'show', 'HEAD:test/sum.test.js')).toContain("\ntest('adds'")
    expect(git(root, 'show', 'HEAD:sum.js')).toContain('b + a')
  })

  test('a review in another session judges the criteria, and what it says is sent back', async () => {
    const root = project({ agent: name, review: [{ agent: name }] })
    let reviews = 0
    const judge = (verdict: string): Reply => ({
      kind: 'answer',
      answer: {
        criteria: [{ criterion: 1, verdict, place: 'sum.js:1', reason: 'the order matters for texts' }],
        findings: [],
      },
    })
    const model: Model = ({ body, results }) => {
      if (body.includes('# Review T-001')) {
        if (results > 0) return say('Answered.')
        return judge(reviews++ === 0 ? 'not met' : 'met')
      }
      if (results > 0) return say('Done.\n\n<TASK_DONE>')
      return shell("echo '// faster' >> sum.js")
    }
    await using api = await startFakeModelApi(model)
    const env = environment(name, api.url, makeHome(), programs[name]!)
    const answer = await ralph(['run', '--json'], { cwd: root, env, now: new Date() })
    expect(answer).toMatchObject({ code: 0 })
    expect(answer.stdout).toContain('"outcome":"review-failed"')
    expect(answer.stdout).toContain('the order matters for texts')
    const trailers = git(root, 'log', '-1', '--format=%(trailers:key=Reviewed,valueonly)')
    expect(trailers).toBe(`${name}: 1 of 1 criteria met`)
  })
})
