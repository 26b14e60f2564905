import { beforeEach, expect, inject, test } from 'vitest'
import { ralph } from '../cli/ralph.ts'
import { git, makeRepository } from '../repository.ts'
import { startFakeModelApi } from './fake-model-api.ts'
import { environment, makeHome } from './home.ts'
import { say, type Model } from './model.ts'

const { claude } = inject('programs')
const task = (id: string, depends: string) =>
  `# ${id}: Write a file\n\n- **Status**: TODO\n- **Depends**: ${depends}\n\n## Description\nWrite it.\n`

let home: string
beforeEach(() => {
  home = makeHome()
})

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
            call: { tool: 'write', path: `file-${request}.txt`, content: 'hello\n' },
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
