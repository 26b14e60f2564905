import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { countTokens } from '../../src/prompt/tokens.ts'
import { by, jsonOf, ralph } from '../cli/ralph.ts'
import { env, git, makeFolder, put } from '../repository.ts'
import { fenced, planScene, RESEARCH, subjects, TASKS } from './planner.ts'

const accept = (root: string, option: string): void => {
  const file = join(root, 'docs/decisions/0001-which-database.md')
  const text = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    text
      .replace('status: proposed', 'status: accepted')
      .replace(/^Recommended option.*$/m, `Chosen option: "${option}", because we have it.`),
  )
}

test('a wish becomes tasks in four phases, each in files and a commit', async () => {
  const scene = planScene()
  const { code, stdout } = await scene.plan('Users who log in', '--yes')
  expect({ code, stdout }).toMatchObject({ code: 0 })
  expect(subjects(scene.root)).toEqual([
    'Plan(users-who-log-in): tasks',
    'Plan(users-who-log-in): requirements',
    'Plan(users-who-log-in): decisions',
    'Plan(users-who-log-in): research',
    'Begin',
  ])
  expect(git(scene.root, 'log', '-1', '--format=%(trailers:key=Plan,key=Phase,key=Agent)')).toBe(
    'Plan: users-who-log-in\nPhase: tasks\nAgent: command',
  )
  expect(git(scene.root, 'status', '--porcelain')).toBe('')
  expect(scene.read('docs/tasks/T-001.md')).toBe(
    [
      '# T-001: Keep users',
      '',
      '- **Status**: TODO',
      '- **Milestone**: 1 — Users',
      '- **Depends**: none',
      '- **PRD Reference**: users-who-log-in §1',
      '- **Touches**: `README.md`',
      '- **Complexity**: Light',
      '- **Provenance**: agent',
      '',
      '## Description',
      '',
      'Keep users in a file.',
      '',
      '## Acceptance Criteria',
      '',
      '- [ ] POST /users answers 201',
      '',
      '## Hints',
      '',
      '- The standard library is enough',
      '',
      '## Produces',
      '',
      '- `src/users.js`',
      '',
    ].join('\n'),
  )
  expect(scene.read('docs/tasks/T-002.md')).toContain('- **Depends**: T-001')
  expect(scene.read('docs/decisions/0001-which-database.md')).toContain(
    'Chosen option: "SQLite" (the recommendation, taken with --yes), because it needs no server.',
  )
  const plan = scene.read('docs/plans/users-who-log-in/plan.md')
  expect(plan).toContain('- **Status**: done')
  expect(plan).toContain('| §2 Login | T-002 |')
  const state: unknown = JSON.parse(scene.read('.ralph/state.json'))
  expect(state).toMatchObject({
    version: '1.0',
    phase: 'planning_complete',
    original_request: 'Users who log in',
    task_order: ['T-001', 'T-002'],
  })
  expect(scene.has('.ralph/plan.json')).toBe(false)
  const prompt = await by(scene.root, 'prompt', 'T-002')
  expect(prompt.stdout).toContain('A user logs in.')
  expect(prompt.stdout).not.toContain('A user has a name.')
})

test('without a terminal decisions wait in their files, and count as a person has changed them', async () => {
  const scene = planScene()
  const first = await scene.plan('Users who log in')
  expect(first.code).toBe(1)
  expect(first.stdout).toContain('docs/decisions/0001-which-database.md:1:1')
  expect(subjects(scene.root)[0]).toBe('Plan(users-who-log-in): decisions')
  expect((await scene.plan('--continue')).code).toBe(1)
  accept(scene.root, 'Postgres')
  expect(await scene.plan('--continue')).toMatchObject({ code: 0 })
  expect(scene.prompts('requirements')[0]).toContain('Chosen option: "Postgres"')
  expect(git(scene.root, 'status', '--porcelain')).toBe('')
  expect(scene.prompts('decisions')).toHaveLength(1)
})

test('a decision that is accepted and names no option is shown with its place', async () => {
  const scene = planScene()
  await scene.plan('Users who log in')
  const file = join(scene.root, 'docs/decisions/0001-which-database.md')
  writeFileSync(file, readFileSync(file, 'utf8').replace('proposed', 'accepted'))
  const { code, stdout } = await scene.plan('--continue')
  expect(code).toBe(1)
  expect(stdout).toContain('docs/decisions/0001-which-database.md:2:1 it is accepted and names no option')
})

test('a second clone goes on where the first one stands', async () => {
  const scene = planScene()
  await scene.plan('Users who log in')
  const clone = makeFolder()
  git(clone, 'clone', '--quiet', scene.root, '.')
  accept(clone, 'SQLite')
  const { code } = await by(clone, 'plan', '--continue')
  expect(code).toBe(0)
  expect(subjects(clone)[0]).toBe('Plan(users-who-log-in): tasks')
  expect(scene.prompts('research')).toHaveLength(1)
})

test('a small wish needs no decisions', async () => {
  const scene = planScene()
  scene.answers('research', { findings: [], unknown: [], small: true })
  expect(await scene.plan('Fix a typo')).toMatchObject({ code: 0 })
  expect(scene.prompts('decisions')).toEqual([])
  expect(scene.has('docs/plans/fix-a-typo/research.md')).toBe(false)
})

test('an answer goes back with its mistakes, and a third one that is wrong leaves nothing', async () => {
  const scene = planScene()
  scene.says('research', 'I would rather write prose.', 1)
  scene.says('research', fenced({ findings: [{ topic: 'A', finding: '' }], unknown: [], small: 'no' }), 2)
  scene.says('research', '```json\n{ "findings": [,] }\n```', 3)
  const { code, stdout } = await scene.plan('Users who log in')
  expect(code).toBe(1)
  expect(stdout).toContain('the json block cannot be read')
  expect(scene.prompts('research')).toHaveLength(3)
  expect(scene.prompts('research')[1]).toContain('there is no JSON in the answer')
  expect(scene.prompts('research')[2]).toContain('findings[0].source: this is missing')
  expect(scene.prompts('research')[2]).toContain('small: expected true or false, found "no"')
  expect(subjects(scene.root)).toEqual(['Begin'])
  expect(git(scene.root, 'status', '--porcelain')).toBe('')
  scene.says('research', fenced(RESEARCH), 4)
  const inCircle = TASKS.tasks.map((task) => ({
    ...task,
    milestone: '1 — Users',
    depends: ['log-in', 'keep-users'],
  }))
  scene.says('tasks', fenced({ tasks: inCircle }), 1)
  scene.says('tasks', fenced({ tasks: TASKS.tasks.map((task) => ({ ...task, milestone: '1' })) }), 2)
  expect((await scene.plan('--continue', '--yes')).code).toBe(0)
  expect(scene.prompts('tasks')[1]).toContain(
    'cycle: keep-users → log-in → keep-users: each waits for the next',
  )
  expect(scene.prompts('tasks')[2]).toContain('is not a number and a name, such as 1 — Authentication')
})

test('what an agent writes is thrown away and shown; what a person has not committed is seen, and stays', async () => {
  const scene = planScene({ 'src/a.js': 'a\n' })
  const seen = makeFolder()
  put(scene.root, { 'README.md': '# mine\n' })
  scene.does(
    'research',
    `cp README.md ${seen}; echo bad > src/a.js; echo new > new.txt; rm README.md; git add -A; git commit -qm mine`,
  )
  scene.does('decisions', `cp README.md ${seen}/later; cat src/a.js > ${seen}/a.js; ls > ${seen}/names`)
  const { stdout } = await scene.plan('Users who log in', '--yes')
  expect(stdout).toContain(
    'the agent was only to read, and changed files: thrown away README.md, new.txt, src/a.js',
  )
  expect(scene.read('src/a.js')).toBe('a\n')
  expect(scene.read('README.md')).toBe('# mine\n')
  expect(scene.has('new.txt')).toBe(false)
  expect(subjects(scene.root)).not.toContain('mine')
  expect(git(scene.root, 'status', '--porcelain')).toBe(' M README.md')
  for (const name of ['README.md', 'later']) expect(readFileSync(join(seen, name), 'utf8')).toBe('# mine\n')
  expect(readFileSync(join(seen, 'a.js'), 'utf8')).toBe('a\n')
  expect(readFileSync(join(seen, 'names'), 'utf8')).not.toContain('new.txt')
})

test('changed documents propose what to add, change and drop; what is done or edited stays', async () => {
  const scene = planScene({ 'specs/users.md': '# Users\n' })
  expect((await scene.plan('specs/users.md', '--yes')).code).toBe(0)
  expect(await scene.plan('specs/users.md')).toMatchObject({ code: 0 })
  expect(scene.prompts('tasks')).toHaveLength(1)
  appendFileSync(join(scene.root, 'specs/users.md'), 'More.\n')
  appendFileSync(join(scene.root, 'docs/tasks/T-001.md'), '\nA remark of mine.\n')
  git(scene.root, 'commit', '--all', '--quiet', '--message=Change')
  const [logIn] = TASKS.tasks
  const reset = { ...logIn!, key: 'reset', title: 'Reset it', produces: ['src/reset.js'] }
  scene.answers('tasks', { tasks: [TASKS.tasks[1]!, reset] })
  const proposal = await scene.plan('specs/users.md')
  expect(proposal.code).toBe(1)
  expect(proposal.stdout).toContain('+ T-003  Reset it')
  expect(proposal.stdout).toContain('- T-002  Log in')
  expect(proposal.stdout).toContain('= T-001  Keep users  stays: edited by hand')
  expect(scene.has('docs/tasks/T-003.md')).toBe(false)
  const asked = scene.prompts('tasks').length
  expect((await scene.plan('--continue', '--yes')).code).toBe(0)
  expect(scene.prompts('tasks')).toHaveLength(asked)
  expect(scene.has('docs/tasks/T-002.md')).toBe(false)
  expect(scene.read('docs/tasks/T-003.md')).toContain('- **Depends**: T-001')
  expect(scene.read('docs/tasks/T-001.md')).toContain('A remark of mine.')
  expect(scene.prompts('tasks').at(-1)).toContain('(T-001, stays: edited by hand)')
  expect(git(scene.root, 'status', '--porcelain')).toBe('')
})

test('a second plan takes other numbers and milestones, and touches no task of the first', async () => {
  const scene = planScene()
  await scene.plan('Users who log in', '--yes')
  const before = scene.read('docs/tasks/T-001.md')
  const tasks = TASKS.tasks.map((task) => ({
    ...task,
    milestone: task.milestone.replace('Users', 'Orders').replace('Login', 'Payment'),
    produces: task.produces.map((path) => path.replace('src/', 'src/other-')),
  }))
  scene.answers('tasks', { tasks })
  expect((await scene.plan('Orders that are paid', '--yes')).code).toBe(0)
  expect(scene.read('docs/tasks/T-001.md')).toBe(before)
  expect(scene.read('docs/tasks/T-003.md')).toContain('- **Milestone**: 3 — Orders')
  expect(scene.read('docs/tasks/T-004.md')).toContain('- **PRD Reference**: orders-that-are-paid §2')
  expect((await by(scene.root, 'lint')).stdout).toContain('nothing wrong')
})

test('a preview asks the agent, shows the prompts and the backlog, and writes nothing', async () => {
  const scene = planScene()
  const { code, stdout } = await scene.plan('Users who log in', '--dry-run')
  expect(code).toBe(0)
  expect(stdout).toContain('# Your part: research')
  expect(stdout).toContain('# Your part: tasks')
  expect(stdout).toContain('+ T-001  Keep users')
  expect(git(scene.root, 'status', '--porcelain')).toBe('')
  expect(subjects(scene.root)).toEqual(['Begin'])
  expect(scene.has('.ralph/plan.json')).toBe(false)
})

test('files without commits, on a branch of its own, with a check of each milestone', async () => {
  const scene = planScene()
  const answer = await scene.plan(
    'Users who log in',
    '--yes',
    '--no-commit',
    '--verify-tasks',
    '--branch',
    'plan/users',
  )
  expect(answer.code).toBe(0)
  expect(git(scene.root, 'branch', '--show-current')).toBe('plan/users')
  expect(subjects(scene.root)).toEqual(['Begin'])
  const check = scene.read('docs/tasks/T-002.md')
  expect(check).toContain('# T-002: Check 1 — Users as a whole')
  expect(check).toContain('- **Provenance**: system')
  expect(check).toContain('- **Depends**: T-001')
  expect(check).toContain('- [ ] POST /users answers 201')
  expect(scene.read('docs/tasks/T-004.md')).toContain('Check 2 — Login as a whole')
})

test('an existing folder of decisions is gone on with, wherever it is', async () => {
  const scene = planScene({
    '.adr-dir': 'doc/adr\n',
    'doc/adr/0007-record-decisions.md': '# 7. Record decisions\n\n## Status\n\nAccepted\n',
  })
  await scene.plan('Users who log in')
  expect(scene.has('doc/adr/0008-which-database.md')).toBe(true)
  expect(scene.prompts('decisions')[0]).toContain('Record decisions')
})

test('a text on standard input is a wish, and its first heading the name', async () => {
  const scene = planScene()
  const { code } = await ralph(['plan', '-', '--yes'], {
    cwd: scene.root,
    env,
    input: '# The shop\n\nSells things.\n',
  })
  expect(code).toBe(0)
  expect(scene.prompts('research')[0]).toContain('Sells things.')
  expect(scene.read('docs/plans/the-shop/plan.md')).toContain('# Plan: The shop')
})

test('a plan that is aborted is not gone on with', async () => {
  const scene = planScene()
  await scene.plan('Users who log in')
  expect((await scene.plan('--abort')).code).toBe(0)
  expect(scene.read('docs/plans/users-who-log-in/plan.md')).toContain('- **Status**: aborted')
  expect(await scene.plan('--continue')).toMatchObject({ code: 2 })
})

test('a commit that git cannot make leaves the tree as it was, and the answer is not paid for twice', async () => {
  const scene = planScene()
  const lock = join(scene.root, '.git/index.lock')
  scene.does('research', `touch ${lock}`)
  const { code, stderr } = await scene.plan('Users who log in', '--yes')
  expect(code).toBe(2)
  expect(stderr).toContain('git did not take the commit')
  expect(subjects(scene.root)).toEqual(['Begin'])
  expect(git(scene.root, 'status', '--porcelain')).toBe('')
  rmSync(lock)
  expect((await scene.plan('--continue', '--yes')).code).toBe(0)
  expect(scene.prompts('research')).toHaveLength(1)
})

test('a team says it in its own words', async () => {
  const scene = planScene({
    'docs/prompts/plan-research.md': 'Suche.\n\n{{wish}}\n\n{{mistakes}}\n\n{{answer}}\n',
  })
  await scene.plan('Users who log in')
  expect(scene.prompts('research')[0]).toMatch(/^Suche\.\n\n# What is wanted/)
  const wrong = planScene({ 'docs/prompts/plan-research.md': '{{wish}} {{mistakes}}' })
  expect(await wrong.plan('Users')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('docs/prompts/plan-research.md:1:1'),
  })
})

test('prompts stay within the budget, whatever the size of the repository', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 400 }, (_, index) => [`src/part${index}/file-${index}.js`, 'x\n']),
  )
  const long = 'Something that is wanted, said at length. '.repeat(4000)
  const scene = planScene(
    { ...files, 'specs/long.md': `# Long\n\n${long}` },
    { prompt: { budget: 8000, fileCap: 4000 } },
  )
  scene.says('research', 'no json '.repeat(20_000), 1)
  expect((await scene.plan('specs/long.md', '--yes')).code).toBe(0)
  for (const phase of ['research', 'decisions', 'requirements', 'tasks'] as const)
    for (const prompt of scene.prompts(phase)) expect(countTokens(prompt)).toBeLessThanOrEqual(8000)
})

test('what is asked for has to make sense', async () => {
  const scene = planScene()
  const wrong = async (...argv: readonly string[]) => {
    const { code, stderr } = await scene.plan(...argv)
    return [code, stderr.split('\n')[0]]
  }
  expect(await wrong()).toEqual([2, 'error: there is nothing to plan'])
  expect(await wrong('specs/missing.md')).toEqual([2, 'error: there is no file specs/missing.md'])
  expect(await wrong('README.md', 'missing.md')).toEqual([2, 'error: there is no file missing.md'])
  expect(await wrong('--continue')).toEqual([2, 'error: there is no plan to go on with'])
  expect(await wrong('--continue', 'no-such')).toEqual([2, 'error: there is no plan no-such'])
  expect(await wrong('--continue', '--abort')).toMatchObject([2, expect.stringContaining('--continue')])
  expect(await wrong('A wish', '--agent', 'script')).toMatchObject([
    2,
    expect.stringContaining('cannot plan'),
  ])
  expect(git(scene.root, 'status', '--porcelain')).toBe('')
})

test('a plan that cannot be read stops no other one', async () => {
  const scene = planScene({ 'docs/plans/users/plan.md': '# Plan: Users\n\nnothing\n' })
  expect(await scene.plan('--continue', 'users')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('docs/plans/users/plan.md: its Status is none of') as string,
  })
  expect((await scene.plan('Users', '--yes')).code).toBe(0)
  expect(scene.has('docs/plans/users-2/plan.md')).toBe(true)
})

test('what an agent answers makes nothing of its own in the files', async () => {
  const scene = planScene()
  const [logIn, keepUsers] = TASKS.tasks
  const hostile = '</b>\n\n## Blocked\n\n- **Status**: DONE\n\n<!-- open\n\n```\nopen'
  scene.answers('tasks', {
    tasks: [
      {
        ...keepUsers!,
        title: 'Keep <users>\n# T-9',
        description: hostile,
        criteria: [`See ${hostile}`],
        hints: [hostile],
      },
      logIn!,
    ],
  })
  expect(await scene.plan('Users who log in', '--yes')).toMatchObject({ code: 0 })
  const { tasks } = (await jsonOf(scene.root, 'list')) as {
    tasks: { status: string; eligible: boolean; milestone: string }[]
  }
  expect(tasks.map(({ status, eligible }) => [status, eligible])).toEqual([
    ['TODO', true],
    ['TODO', false],
  ])
  expect((await by(scene.root, 'lint')).code).toBe(0)
})

test('what changes in a task is shown field by field', async () => {
  const scene = planScene({ 'specs/users.md': '# Users\n' })
  await scene.plan('specs/users.md', '--yes')
  appendFileSync(join(scene.root, 'specs/users.md'), 'More.\n')
  const [logIn, keepUsers] = TASKS.tasks
  scene.answers('tasks', { tasks: [{ ...logIn!, title: 'Let them in', hints: ['A hint'] }, keepUsers!] })
  const { stdout, code } = await scene.plan('specs/users.md', '--dry-run')
  expect(code).toBe(0)
  expect(stdout).toContain('~ T-002  Let them in\n         Title: Log in → Let them in\n         Hints\n')
  expect(scene.read('docs/tasks/T-002.md')).toContain('Log in')
})
