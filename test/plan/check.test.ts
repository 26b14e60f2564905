import { describe, expect, test } from 'vitest'
import { mistakeText, readAnswer, type TaskAnswer } from '../../src/authoring/plan/answers.ts'
import {
  checkDecisions,
  checkResearch,
  checkTasks,
  type CheckContext,
} from '../../src/authoring/plan/checks.ts'
import { choicesIn, decidedText, decisionText, openIn } from '../../src/authoring/plan/decisions.ts'
import { readRequirements, requirementsText } from '../../src/authoring/plan/documents.ts'
import { withMilestones } from '../../src/authoring/plan/drafts.ts'
import { planText, readPlan, type Plan } from '../../src/authoring/plan/plan-file.ts'
import { freeSlug } from '../../src/authoring/plan/find-plans.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { DECISIONS, fenced, REQUIREMENTS, RESEARCH, TASKS } from './planner.ts'

const REQUIRED = [
  { number: '1', key: 'users', title: 'Users', criteria: [] },
  { number: '2', key: 'login', title: 'Login', criteria: [] },
]
const CONTEXT: CheckContext = {
  requirements: REQUIRED,
  others: [],
  covered: new Set(),
  exists: (path) => path === 'README.md',
  fromProduces: { Light: 0, Standard: 3, Heavy: 5 },
}
const [logIn, keepUsers] = TASKS.tasks as [TaskAnswer, TaskAnswer]
const mistakes = (tasks: readonly TaskAnswer[], context: Partial<CheckContext> = {}): readonly string[] =>
  [...checkTasks(tasks, { ...CONTEXT, ...context })].map(mistakeText)

describe('tasks', () => {
  test('that are right have no mistakes', () => expect(mistakes(TASKS.tasks)).toEqual([]))

  test.each<[string, Partial<TaskAnswer>, Partial<TaskAnswer>, string]>([
    [
      'need what is not there',
      { depends: ['keep-users', 'x'] },
      {},
      'tasks[0].depends[1]: there is no task "x"',
    ],
    ['have one key', {}, { key: 'Log-In' }, 'tasks[1].key: "Log-In" is the key of another one, too'],
    [
      'cover what nobody requires',
      { requirements: ['login', 'y'] },
      {},
      'tasks[0].requirements[1]: there is no requirement "y"',
    ],
    [
      'leave a requirement open',
      { requirements: ['§1'] },
      {},
      'tasks: no task covers the requirement "login" (Login)',
    ],
    [
      'cover nothing',
      { requirements: [] },
      { requirements: ['users', 'login'] },
      'tasks[0].requirements: no requirement asks for this task',
    ],
    [
      'are larger than their tier',
      {},
      { produces: ['a.js', 'b.js', 'c.js'] },
      'tasks[1].complexity: with 3 outputs it is Standard, not Light: make it that, or split it',
    ],
    [
      'have nothing to check',
      { criteria: [] },
      {},
      'tasks[0].criteria: there is nothing by which anybody can check it',
    ],
    [
      'are checked by praise',
      { criteria: ['It works well.'] },
      {},
      'tasks[0].criteria[0]: "It works well." cannot be checked: say what a test or a person would see',
    ],
    [
      'touch what is not there',
      { touches: ['src/x.js'] },
      {},
      'tasks[0].touches[0]: there is no src/x.js, and no task produces it',
    ],
    ['leave the project', { touches: ['../x'] }, {}, 'tasks[0].touches[0]: "../x" is outside the repository'],
    [
      'go back a milestone',
      { milestone: '1 — Users' },
      { milestone: '2 — Later' },
      'tasks[0].milestone: it comes after "keep-users", which is of a later milestone (2 — Later)',
    ],
  ])('that %s are refused', (_, first, second, message) => {
    expect(
      mistakes([
        { ...logIn, ...first },
        { ...keepUsers, ...second },
      ]),
    ).toContain(message)
  })

  test('that make one file have an order', () => {
    const other = { ...logIn, key: 'other', depends: [], touches: [] }
    const message = 'tasks[2].produces: "log-in" makes src/login.js too, and neither depends on the other'
    expect(mistakes([...TASKS.tasks, other])).toEqual([message])
    expect(mistakes([...TASKS.tasks, { ...other, depends: ['log-in'] }])).toEqual([])
  })

  test('come after what of the backlog makes their files', async () => {
    const text = '# T-007: Login\n\n- **Status**: TODO\n\n## Produces\n\n- `src/login.js`\n'
    const others = [await parseTask({ file: 'docs/tasks/T-007.md', text })]
    expect(mistakes(TASKS.tasks, { others })).toEqual([
      'tasks[0].produces: T-007 makes src/login.js too, and is not done: depend on it',
    ])
    expect(mistakes([{ ...logIn, depends: ['keep-users', 'T-007'] }, keepUsers], { others })).toEqual([])
  })

  test('need no task for what those that stay cover', () => {
    expect(mistakes([keepUsers], { covered: new Set(['2']) })).toEqual([])
    expect(mistakes([], { covered: new Set(['1', '2']) })).toEqual([])
    expect(mistakes([])).toEqual(['tasks: there are no tasks'])
  })

  test('have milestones of their own, numbered in their order', async () => {
    const text = '# T-007: Old\n\n- **Status**: DONE\n- **Milestone**: 1 — Old\n'
    const others = [await parseTask({ file: 'docs/tasks/T-007.md', text })]
    const named = (...names: readonly string[]): readonly string[] =>
      withMilestones(
        names.map((milestone) => ({ ...keepUsers, milestone })),
        others,
      ).map(({ milestone }) => milestone)
    expect(named('1 — New', '2 — Later')).toEqual(['2 — New', '3 — Later'])
    expect(named('1 — Old', '2 — Later')).toEqual(['1 — Old', '2 — Later'])
    expect(named('First', 'Then')).toEqual(['2 — First', '3 — Then'])
  })
})

describe('other answers', () => {
  test('name no address where the web is not to be used', () => {
    const [finding] = RESEARCH.findings
    const answer = { ...RESEARCH, findings: [{ ...finding!, source: 'https://example.com' }] }
    expect([...checkResearch(answer, { web: true })]).toEqual([])
    expect([...checkResearch(answer, { web: false })]).toHaveLength(1)
  })

  test('recommend an option that there is, of two or more', () => {
    const [decision] = DECISIONS.decisions
    const wrong = {
      decisions: [
        { ...decision!, recommended: 2 },
        { ...decision!, key: 'b', options: [] },
      ],
    }
    expect([...checkDecisions(wrong)].map(mistakeText)).toEqual([
      'decisions[0].recommended: there is no option 2: they are 0 to 1',
      'decisions[1].options: a decision has two options or more',
    ])
  })

  test('are read from the last fenced block, or from a message that is nothing else', () => {
    const text = `${fenced({ wrong: true })}\nNo, this:\n${fenced(RESEARCH)}`
    expect(readAnswer('research', text)).toEqual({ answer: RESEARCH })
    expect(readAnswer('research', JSON.stringify(RESEARCH))).toEqual({ answer: RESEARCH })
    expect(readAnswer('research', '')).toHaveProperty('mistakes')
  })

  test('that leave something out may say null', () => {
    const tasks = [{ ...keepUsers, complexity: null, hints: null, tags: null }]
    expect(readAnswer('tasks', JSON.stringify({ tasks }))).toHaveProperty('answer')
    const wrong = readAnswer('tasks', JSON.stringify({ tasks: [{ ...keepUsers, complexity: 'Huge' }] }))
    expect('mistakes' in wrong && wrong.mistakes.map(mistakeText)).toEqual([
      'tasks[0].complexity: expected one of "Light", "Standard", "Heavy", found "Huge"',
    ])
  })
})

describe('decisions', () => {
  const [decision] = DECISIONS.decisions
  const proposed = decisionText(decision!, { date: '2026-11-19', plan: 'shop' })

  test('are open until they are accepted and name an option', () => {
    const open = (text: string): string | undefined => openIn('a.md', text)?.message
    const unclear = 'it is accepted and names no option: write a line such as Chosen option: "…"'
    expect(open(proposed)).toBe('it is not decided')
    const accepted = proposed.replace('proposed', 'accepted')
    expect(open(accepted)).toBe(unclear)
    expect(open(`${accepted}\nChosen option: my own words\n`)).toBeUndefined()
    expect(open(`${accepted}\n\n\`\`\`\nChosen option: "A"\n\`\`\`\n`)).toBe(unclear)
    expect(open(proposed.replace('proposed', 'superseded by ADR-0009'))).toBeUndefined()
    expect(open('# 1. A\n\n## Status\n\nAccepted\n\n**Chosen option**: "B", because\n')).toBeUndefined()
  })

  test('are decided in place', () => {
    expect(choicesIn(proposed)).toMatchObject({ recommended: 'SQLite', why: 'it needs no server.' })
    expect(choicesIn(proposed).options[1]).toEqual({ title: 'Postgres', consequences: 'A server.' })
    const text = decidedText(proposed, { chosen: 'Postgres', remark: '', why: '' })
    expect(openIn('a.md', text)).toBeNull()
    expect(
      text
        .replace('accepted', 'proposed')
        .split('\n')
        .filter((line) => !proposed.includes(line)),
    ).toEqual(['Chosen option: "Postgres"'])
  })
})

test('requirements keep their numbers when they are made anew, whatever stands in their texts', async () => {
  const first = requirementsText(REQUIREMENTS, [])
  const before = await readRequirements(first)
  expect(before.map(({ number, key }) => `${number} ${key}`)).toEqual(['1 users', '2 login'])
  const hostile = { key: 'new', title: '<b> # x', text: '# A\n\n## B\n\n```\nopen', criteria: ['One\n## C'] }
  const text = requirementsText({ ...REQUIREMENTS, sections: [hostile, REQUIREMENTS.sections[1]!] }, before)
  const after = await readRequirements(text)
  expect(after.map(({ number, key }) => `${number} ${key}`)).toEqual(['2 login', '3 new'])
  expect(after[1]?.criteria).toEqual(['One ## C'])
})

test('a plan is read as it was written, whatever is wished', async () => {
  const plan: Plan = {
    slug: 'shop',
    title: 'A shop',
    status: 'tasks',
    wish: '# A shop\n\n```\n## Wish\n```\n\n| a |',
    specs: [{ file: 'specs/a b`c.md', digest: 'abc123' }],
    web: false,
    verifyTasks: true,
    exports: true,
    decisions: [{ file: 'docs/decisions/0001-x.md', digest: 'ff' }],
    coverage: [{ requirement: '§1 A | B \\ C', tasks: ['T-001', 'T-002'] }],
    tasks: [{ id: 'T-001', key: 'a|b', digest: 'cafe' }],
  }
  expect(await readPlan('shop', planText(plan))).toEqual(plan)
  expect(await readPlan('shop', '# Plan: x\n\n- **Status**: whatever\n')).toContain('Status')
})

test.each([
  ['A REST API for user management', 'a-rest-api-for-user-management'],
  ['Über größe!', 'uber-große'],
  ['用户管理', '用户管理'],
  ['../../etc', 'etc'],
  ['!!!', 'plan'],
])('%s is named %s', (title, slug) => {
  expect(freeSlug(title, new Set())).toBe(slug)
  expect(freeSlug(title, new Set([slug]))).toBe(`${slug}-2`)
})
