import { appendFileSync, chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { env, git, makeFolder, makeRepository, put } from '../repository.ts'
import { ralph, type Answer } from './ralph.ts'

/** A gh that notes what it is asked for, and answers as its folder says: `answer`, `complaint`, `code`. */
const GH = `#!/bin/sh
here=$(dirname "$0")
printf '%s\\n' "$*" >> "$here/calls"
cat "$here/answer"
cat "$here/complaint" >&2
exit $(cat "$here/code")
`

interface Machine {
  readonly cwd: string
  readonly gh: string
  readonly by: (...argv: string[]) => Promise<Answer>
}

function machine(issues: readonly object[], complaint = '', code = 0): Machine {
  const gh = makeFolder()
  put(gh, { gh: GH, answer: JSON.stringify(issues), complaint, code: String(code), calls: '' })
  chmodSync(join(gh, 'gh'), 0o755)
  const cwd = makeRepository({
    'package.json': '{}',
    'ralph.config.json': JSON.stringify({ commit: { seal: false }, gates: [] }),
  })
  const own = { ...env, PATH: `${gh}:${env.PATH}` }
  return { cwd, gh, by: (...argv) => ralph(argv, { cwd, env: own }) }
}

const calls = ({ gh }: Machine): readonly string[] =>
  readFileSync(join(gh, 'calls'), 'utf8').trim().split('\n')

const issue = (number: number, more: object = {}): object => ({
  number,
  title: `Do ${number}`,
  body: '',
  labels: [{ id: 'LA_1', name: 'agent', description: '', color: 'ededed' }],
  milestone: null,
  state: 'OPEN',
  ...more,
})

describe('ralph import github:owner/repo', () => {
  test('imports the open issues with a label, and again only what has changed', async () => {
    const here = machine([issue(7, { body: 'Depends on #3' }), issue(3)])
    const { code, stdout } = await here.by('import', 'github:Owner/Repo', '--label', 'agent')
    expect([code, stdout]).toEqual([0, expect.stringContaining('2 tasks imported from github:owner/repo')])
    expect(calls(here)).toEqual([
      'issue list --repo=owner/repo --label=agent --state=open --limit=1001 --json=number,title,body,labels,milestone,state,stateReason',
    ])
    expect(readFileSync(join(here.cwd, 'docs/tasks/T-007.md'), 'utf8')).toContain(
      '- **Depends**: T-003\n- **Tags**: agent\n- **Origin**: `github:owner/repo#7`',
    )
    put(here.gh, { answer: JSON.stringify([issue(7, { body: 'Now' }), issue(9)]) })
    git(here.cwd, 'gc', '--quiet', '--prune=now')
    const again = await here.by('import', 'github:owner/repo', '--label', 'agent', '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({
      added: [{ id: 'T-009', origin: '9' }],
      changed: [{ id: 'T-007', origin: '7' }],
      gone: [{ id: 'T-003', origin: '3' }],
    })
  })

  test('a task still waits for one whose issue is closed', async () => {
    const waiting = issue(7, { body: 'Blocked by #3' })
    const here = machine([waiting, issue(3)])
    await here.by('import', 'github:owner/repo', '--label', 'agent')
    put(here.gh, { answer: JSON.stringify([waiting]) })
    const { stdout } = await here.by('import', 'github:owner/repo', '--label', 'agent', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ changed: [], gone: [{ id: 'T-003' }], mistakes: [] })
  })

  test('keeps what an issue says in its Description', async () => {
    const body = [
      '<!-- Say what is wrong. Depends on #9',
      '- [ ] not a criterion -->',
      '- **Status**: DONE',
      '# T-999: Another title',
      '## Blocked',
      '```md',
      'Depends on #9',
      '## Status',
      '- [ ] no box',
      '```',
      '- [ ] A real one',
      '~~~',
      'left open',
    ].join('\r\n')
    const here = machine([issue(3, { body }), issue(9, { title: '# A <title> \n- **Status**: DONE' })])
    await here.by('import', 'github:owner/repo', '--label', 'agent')
    const { stdout } = await here.by('list', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      tasks: [
        { id: 'T-003', title: 'Do 3', status: 'TODO', depends: [], eligible: true },
        { id: 'T-009', status: 'TODO', eligible: true },
      ],
    })
    const text = readFileSync(join(here.cwd, 'docs/tasks/T-003.md'), 'utf8')
    expect(text).not.toContain('Say what is wrong')
    expect(text).toMatch(/## Acceptance Criteria\n\n- \[ \] A real one\n$/)
    expect((await here.by('lint')).stdout).not.toContain(' error ')
  })

  test.each<[string, Machine, readonly string[], RegExp]>([
    [
      'without a label',
      machine([]),
      ['github:o/r'],
      /only imported by label[^]*ralph import github:o\/r --label agent/,
    ],
    ['an empty label', machine([]), ['github:o/r', '--label', ' '], /--label takes a value/],
    ['no repository', machine([]), ['github:o', '--label', 'a'], /github:o is no repository of GitHub/],
    ['a flag as a name', machine([]), ['github:-x/../y', '--label', 'a'], /is no repository of GitHub/],
    ['a label of a file', machine([]), ['prd.json', '--label', 'a'], /--label is for issues of GitHub/],
    ['nothing with it', machine([]), ['github:o/r', '--label', 'a'], /no open issue with the label a\n/],
    [
      'no login',
      machine([], 'To get started with GitHub CLI, please run:  gh auth login\n', 4),
      ['github:o/r', '--label', 'a'],
      /gh cannot list[^]*Log in: gh auth login/,
    ],
    [
      'another repository',
      machine([], "GraphQL: Could not resolve to a Repository with the name 'o/r'. (repository)\n", 1),
      ['github:o/r', '--label', 'a'],
      /gh cannot list the issues of o\/r: GraphQL: Could not resolve/,
    ],
    [
      'too many',
      machine(Array.from({ length: 1001 }, (_, index) => issue(index + 1))),
      ['github:o/r', '--label', 'a'],
      /more than 1000 open issues of o\/r have the label a\n/,
    ],
  ])('%s: refused, and nothing is written', async (_, here, argv, expected) => {
    const { code, stderr } = await here.by('import', ...argv)
    expect([code, stderr]).toEqual([2, expect.stringMatching(expected)])
    expect(git(here.cwd, 'status', '--porcelain', '--untracked-files=all')).toBe('')
    expect(git(here.cwd, 'rev-list', '--count', 'HEAD')).toBe('1')
  })

  test('without gh it says how to get it', async () => {
    const { cwd } = machine([])
    const { code, stderr } = await ralph(['import', 'github:o/r', '--label', 'a'], {
      cwd,
      env: { ...env, PATH: '/usr/bin:/bin' },
    })
    expect([code, stderr]).toEqual([2, expect.stringMatching(/there is no program gh\n.*cli\.github\.com/)])
  })
})

describe('--sync of github:owner/repo', () => {
  async function synced(here: Machine): Promise<Answer> {
    await here.by('import', 'github:owner/repo', '--label', 'agent', '--sync')
    appendFileSync(join(here.cwd, 'docs/tasks/T-003.md'), '\n## Script\n\n```sh\necho 1 > one\n```\n')
    git(here.cwd, 'commit', '--all', '--quiet', '--message=Script')
    return here.by('run', '--agent', 'script', '--baseline', 'off', '--retries', '0')
  }

  test('closes the issue of a task that lands', async () => {
    const here = machine([issue(3), issue(4)])
    expect((await synced(here)).code).toBe(0)
    expect(calls(here).slice(1)).toEqual(['issue close 3 --repo=owner/repo --reason=completed'])
    await here.by('block', 'T-004', 'no key')
    await here.by('retry', 'T-004')
    await here.by('complete', 'T-004')
    expect(calls(here).slice(2)).toEqual(['issue close 4 --repo=owner/repo --reason=completed'])
    expect((await here.by('lint')).code).toBe(0)
    expect(git(here.cwd, 'status', '--porcelain')).toBe('')
  })

  test('a task lands although its issue cannot be closed, which is said', async () => {
    const here = machine([issue(3)])
    const { by } = here
    const failing: Machine = {
      ...here,
      by(...argv) {
        if (argv[0] === 'run') put(here.gh, { complaint: 'HTTP 403: Resource not accessible\n', code: '1' })
        return by(...argv)
      },
    }
    const { code, stdout, stderr } = await synced(failing)
    expect(code).toBe(0)
    expect(stdout + stderr).toMatch(/issue 3 is still open: HTTP 403[^]*gh issue close 3 --repo owner\/repo/)
  })

  test('closes it after a kill: at the next run, and at the next import', async () => {
    const here = machine([issue(3), issue(4), issue(5)])
    await synced(here)
    put(here.gh, { calls: '' })
    // As a kill between the landing and gh leaves it.
    const ref = 'refs/ralph/candidates/T-003/1-abcdef12'
    const message = 'T-003: attempt 1: done\n\nTask: T-003\nAttempt: 1\nOutcome: done\n'
    git(here.cwd, 'update-ref', ref, git(here.cwd, 'commit-tree', '-m', message, 'HEAD^{tree}'))
    await here.by('run', '--agent', 'script', '--baseline', 'off')
    expect(calls(here)).toEqual(['issue close 3 --repo=owner/repo --reason=completed'])
    expect(git(here.cwd, 'for-each-ref', ref)).toBe('')

    const answer = JSON.stringify([issue(3), issue(4), issue(5, { stateReason: 'REOPENED' })])
    for (const id of ['T-004', 'T-005']) {
      const file = join(here.cwd, `docs/tasks/${id}.md`)
      writeFileSync(file, readFileSync(file, 'utf8').replace(/- \*\*Status\*\*: \w+/, '- **Status**: DONE'))
    }
    git(here.cwd, 'commit', '--all', '--quiet', '--message=By hand')
    put(here.gh, { calls: '', answer })
    const { stdout } = await here.by('import', 'github:owner/repo', '--label', 'agent', '--sync')
    expect(calls(here).slice(1)).toEqual([
      'issue close 3 --repo=owner/repo --reason=completed',
      'issue close 4 --repo=owner/repo --reason=completed',
    ])
    expect(stdout).toContain('closed issue 4: T-004 is DONE')
    expect(stdout).toContain('issue 5 was opened again, and T-005 is DONE: ralph reopen T-005 "why"')
  })

  test('an issue of a repository that is not synced is left alone', async () => {
    const here = machine([issue(3)])
    await here.by('import', 'github:owner/repo', '--label', 'agent')
    expect((await here.by('complete', 'T-003')).code).toBe(0)
    expect(calls(here)).toHaveLength(1)
  })
})
