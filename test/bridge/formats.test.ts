import { describe, expect, test } from 'vitest'
import { findBacklog, readForeign, usualBacklogs } from '../../src/authoring/bridges/formats.ts'
import type { ForeignDraft as Draft } from '../../src/authoring/bridges/format.ts'
import { openSources } from '../../src/authoring/bridges/source.ts'
import { treeOfTexts } from '../../src/authoring/bridges/tree.ts'
import { SAMPLES } from './samples.ts'

type Reading = ReturnType<typeof readForeign>

function readFiles(path: string, files: Readonly<Record<string, string>>, independent = false): Reading {
  const tree = treeOfTexts(new Map(Object.entries(files)))
  const found = findBacklog(path, openSources(tree))
  if (!found) throw new Error(`${path} is no backlog`)
  return readForeign(found, tree, { independent })
}

const draft = (reading: Reading, key: string): Draft => reading.drafts.find((one) => one.key === key)!
const lines = ({ mistakes }: Reading): readonly string[] =>
  mistakes.map(
    ({ file, line, column, severity, message }) => `${file}:${line}:${column} ${severity} ${message}`,
  )

describe('what each form means', () => {
  test('is one draft a task', async () => {
    const isEmpty = (value: unknown): boolean =>
      value === null || value === '' || value === false || (Array.isArray(value) && value.length === 0)
    const page = SAMPLES.flatMap(({ path, files }) => {
      const { drafts, mistakes } = readFiles(path, files)
      expect(mistakes.filter(({ severity }) => severity === 'error')).toEqual([])
      const said = drafts.map((one) => Object.entries(one).filter(([, value]) => !isEmpty(value)))
      return [`── ${path}`, ...said.map((one) => JSON.stringify(Object.fromEntries(one), null, 1)), '']
    })
    await expect(page.join('\n')).toMatchFileSnapshot('golden/drafts.txt')
  })

  test('may be tasks that do not follow one another', () => {
    const { path, files } = SAMPLES[0]!
    expect(readFiles(path, files, true).drafts.flatMap(({ depends }) => depends)).toEqual([])
  })

  test('a task that waits for one with subtasks waits for the last of these', () => {
    const tasks = [
      {
        id: 1,
        title: 'A',
        subtasks: [
          { id: 1, title: 'a' },
          { id: 2, title: 'b', dependencies: [1] },
          { id: 3, title: 'c' },
        ],
      },
      { id: 2, title: 'B', dependencies: [1] },
      { id: 3, title: 'C', status: 'cancelled' },
      { id: 4, title: 'D', status: 'deferred', dependencies: [3, 9] },
    ]
    const reading = readFiles('tasks.json', { 'tasks.json': JSON.stringify({ tasks }) })
    expect(draft(reading, '2').depends).toEqual(['1.2', '1.3'])
    expect(reading.dropped).toBe(1)
    expect(draft(reading, '4')).toMatchObject({
      status: 'BLOCKED',
      blockedReason: 'Task 4 is deferred there.',
      depends: [],
    })
    expect(lines(reading)).toEqual([
      expect.stringMatching(/^tasks\.json:1:\d+ warning 4 depends on 9, which is not there/),
    ])
  })

  test('what is in review, or in a task that is deferred or cancelled, is not to be done', () => {
    const parts = [
      { id: 1, title: 'a', status: 'pending' },
      { id: 2, title: 'b', status: 'done' },
    ]
    const tasks = [
      { id: 1, title: 'A', status: 'deferred', subtasks: parts },
      { id: 2, title: 'B', status: 'cancelled', subtasks: parts },
      { id: 3, title: 'C', status: 'review' },
    ]
    const reading = readFiles('tasks.json', { 'tasks.json': JSON.stringify({ tasks }) })
    expect(reading.drafts.map(({ key, status, blockedReason }) => [key, status, blockedReason])).toEqual([
      ['1.1', 'BLOCKED', 'Task 1 is deferred there.'],
      ['1.2', 'DONE', ''],
      ['3', 'BLOCKED', 'Task 3 is review there.'],
    ])
  })

  test('what tasks.md says in full is the description of a task whose line was cut', () => {
    const folder = 'spectr/changes/x'
    const tasks = [
      { id: '1.1', section: 'Core', description: 'Create a type with fields:', status: 'completed' },
    ]
    const reading = readFiles(folder, {
      [`${folder}/tasks.jsonc`]: JSON.stringify({ version: 1, tasks }),
      [`${folder}/tasks.md`]: '## 1. Core\n\n- [ ] 1.1 Create a type with fields:\n  path and root\n',
    })
    expect(draft(reading, '1.1')).toMatchObject({
      status: 'DONE',
      description: 'Create a type with fields: path and root',
    })
  })

  test('boxes with other marks are items too, and a mark that nobody knows is shown', () => {
    const marks = [
      '[ ]',
      '[x]',
      '[X]',
      '[✓]',
      '[✔️]',
      '[✅]',
      '[-]',
      '[~]',
      '[>]',
      '[/]',
      '[]',
      '[ ]*',
      '[?]',
    ]
    const text = ['- [P] no box', '- [a](b) no box', '', ...marks.map((mark, at) => `- ${mark} Item ${at}`)]
    const reading = readFiles('TODO.md', { 'TODO.md': text.join('\n') })
    expect(reading.drafts.map(({ status }) => status)).toEqual(
      marks.map((_, at) => (at > 0 && at < 6 ? 'DONE' : 'TODO')),
    )
    expect(draft(reading, 'item-11').tags).toEqual(['optional'])
    expect(lines(reading)).toEqual([
      'TODO.md:16:3 warning ralph does not know the box [?]: its item counts as not done',
    ])
  })

  test.each([
    ['specs/001-auth', 'specs/001-auth/tasks.md'],
    ['specs/001-auth/tasks.md', 'specs/001-auth/tasks.md'],
    ['spectr/changes/add-roots/tasks.md', 'spectr/changes/add-roots/tasks.jsonc'],
    ['spectr/changes/add-roots/tasks-1.jsonc', 'spectr/changes/add-roots/tasks.jsonc'],
  ])('%s is one backlog with its folder and its other files', (path, expected) => {
    const files = Object.assign({}, ...SAMPLES.map((sample) => sample.files)) as Record<string, string>
    const more = {
      'spectr/changes/add-roots/tasks.md': '- [ ] 2 Write it down\n',
      'docs/tasks.md': '- [ ] a\n',
    }
    const sources = openSources(treeOfTexts(new Map(Object.entries({ ...files, ...more }))))
    expect(findBacklog(path, sources)).toEqual({ format: 'change', path: expected })
    expect(findBacklog('docs/tasks.md', sources)?.format).toBe('checklist')
  })

  test('a number that is there twice stands for two tasks', () => {
    const reading = readFiles('x', { 'x/tasks.md': '## A\n- [ ] 1. One\n## B\n- [ ] 1. Another\n' })
    expect(reading.drafts.map(({ key, depends }) => [key, depends])).toEqual([
      ['1', []],
      ['1~2', ['1']],
    ])
    expect(lines(reading)).toEqual([
      'x/tasks.md:4:1 warning the number 1 is taken already: this task is called 1~2 here',
    ])
  })

  test('the db: with its disciplines and features as documents', () => {
    const reading = readFiles('.ralph/db', {
      '.ralph/db/tasks.yaml':
        '- {id: 1, title: One, estimated_turns: 40, provenance: agent, output_artifacts: [src/a.ts]}\n',
      '.ralph/db/disciplines.yaml':
        '- name: backend\n  display_name: Back end\n  skills: [Go]\n  system_prompt: You write servers.\n  mcp_servers: [{name: fs, command: npx, args: [-y], env: {A: 1}}]\n',
      '.ralph/db/features.yaml':
        '- {name: auth, acronym: AU, created: 2026-01-01, knowledge_paths: [docs/a.md]}\n',
    })
    expect(draft(reading, '1')).toMatchObject({ turns: 40, provenance: 'agent', produces: ['src/a.ts'] })
    expect([...reading.documents.keys()]).toEqual(['docs/disciplines/backend.md', 'docs/features/auth.md'])
    expect(reading.documents.get('docs/disciplines/backend.md')).toContain('"env": {\n      "A": "1"\n    }')
    expect(reading.documents.get('docs/features/auth.md')).toContain('- **Created**: 2026-01-01')
  })

  test('a planned request: its state tells order and status, its documents are context', () => {
    const reading = readFiles('.ralph', {
      '.ralph/state.json':
        '{"version":"1.0","task_order":["task-002","task-001"],"task_statuses":{"task-002":"completed"}}',
      '.ralph/prd.md': '# PRD',
      '.ralph/tasks/task-001.json':
        '{"id":"task-001","title":"Log in","dependencies":["task-002"],"files":["src/a.ts"]}',
      '.ralph/tasks/task-002.json':
        '{"name":"Make users","acceptance_criteria":[{"text":"one can be added"}]}',
    })
    expect(reading.drafts.map(({ key, status }) => [key, status])).toEqual([
      ['task-002', 'DONE'],
      ['task-001', 'TODO'],
    ])
    expect(draft(reading, 'task-001')).toMatchObject({
      depends: ['task-002'],
      touches: ['src/a.ts'],
      context: ['.ralph/prd.md'],
    })
    expect(draft(reading, 'task-002').criteria).toEqual([{ text: 'one can be added', met: false }])
  })

  test('a planned request: what has failed there is a previous attempt', () => {
    const last = { task_id: 'task-1', error_message: 'No key', failed_at: '2026-01-02T03:04:05Z' }
    const reading = readFiles('.ralph', {
      '.ralph/state.json': JSON.stringify({
        task_statuses: { 'task-1': 'failed', 'task-2': 'failed' },
        last_failure: last,
      }),
      ...Object.fromEntries(
        [1, 2, 3].map((id) => [`.ralph/tasks/task-${id}.json`, `{"title":"Task ${id}"}`]),
      ),
    })
    expect(reading.drafts.map(({ status, attempts }) => [status, attempts.map(({ body }) => body)])).toEqual([
      ['TODO', ['No key']],
      ['TODO', ['It failed there; why is not known.']],
      ['TODO', []],
    ])
    expect(reading.drafts[0]!.attempts[0]!.created).toBe(last.failed_at)
  })

  test.each(['', 'tasks:\n'])('the db: as a list, or below its key: %j', (head) => {
    const reading = readFiles('.ralph/db', {
      '.ralph/db/tasks.yaml': `${head}  - id: 3\n    title: One\n    comments:\n      - author: agent\n        agent_task_id: 7\n        body: "2026-02-05: Failed: no key"\n      - author: human\n        body: Failed to see why\n`,
      '.ralph/db/disciplines.yaml': 'disciplines:\n  - name: web\n',
      '.ralph/db/features.yaml': 'features: []\n',
    })
    expect(lines(reading)).toEqual([])
    expect([...reading.documents.keys()]).toEqual(['docs/disciplines/web.md'])
    const [only] = reading.drafts
    expect(only!.attempts).toEqual([
      { author: 'agent', created: '', task: '7', body: '2026-02-05: Failed: no key' },
    ])
    expect(only!.comments.map(({ body }) => body)).toEqual(['Failed to see why'])
  })
})

describe('a document', () => {
  const plan = (text: string): Reading =>
    readForeign({ format: 'outline', path: 'docs/spec.md' }, treeOfTexts(new Map([['docs/spec.md', text]])), {
      independent: false,
    })
  const shape = ({ drafts }: Reading): unknown =>
    drafts.map(({ milestone, title, criteria, status }) => [
      milestone,
      title,
      criteria.map(({ text }) => text),
      status,
    ])

  test('headings are milestones and tasks, boxes are criteria', () => {
    const reading = plan(
      '# Shop\n\nWhat it is.\n\n## Why\n\nPeople buy.\n\n## Users\n\n### 1.1 Log in\n\nWith a password.\n\n- [ ] An empty one\n  is refused\n  - [ ] with a message\n\nAnd a form.\n\n```md\n## No heading\n- [ ] no box\n```\n\n### Log out\n\n- [x] It ends\n\n## Later\n\n- [ ] Pay\n  - [ ] by card\n',
    )
    expect(shape(reading)).toEqual([
      ['2 — Users', 'Log in', ['An empty one is refused', 'with a message'], 'TODO'],
      ['2 — Users', 'Log out', ['It ends'], 'DONE'],
      ['3 — Later', 'Pay', ['by card'], 'TODO'],
    ])
    expect(reading.drafts[0]!.description).toBe(
      'With a password.\n\nAnd a form.\n\n```md\n## No heading\n- [ ] no box\n```',
    )
    expect(lines(reading)).toEqual([
      'docs/spec.md:5:1 warning "Why" has no heading and no box below it: it is no task',
    ])
  })

  test.each(['### Acceptance Criteria\n\n', '**Acceptance criteria**:\n'])(
    'boxes below %j are criteria',
    (label) => {
      const text = `# Shop\n\n## Log in\n\nText\n\n${label}- [ ] a\n- [ ] b\n\n## Pay\n\n### By card\n\nText\n`
      expect(shape(plan(text))).toEqual([
        [null, 'Log in', ['a', 'b'], 'TODO'],
        ['2 — Pay', 'By card', [], 'TODO'],
      ])
    },
  )

  test('criteria above inner headings belong to the heading around them, those of the document to no task', () => {
    const reading = plan(
      '# Shop\n\n## Cart\n\n### Acceptance Criteria\n\n- [ ] a\n- [ ] b\n\n### Add\n\nText\n\n## Acceptance criteria\n\n- [ ] fast\n',
    )
    expect(shape(reading)).toEqual([
      ['1 — Cart', 'Cart', ['a', 'b'], 'TODO'],
      ['1 — Cart', 'Add', [], 'TODO'],
    ])
    expect(lines(reading)).toEqual([
      'docs/spec.md:14:1 warning "Acceptance criteria" is about the whole document: it is no task',
    ])
  })

  test('headings alone are the tasks, and so are boxes alone', () => {
    expect(shape(plan('# Shop\n\n## Log in\n\nText\n\n## Pay\n\nText\n'))).toEqual([
      [null, 'Log in', [], 'TODO'],
      [null, 'Pay', [], 'TODO'],
    ])
    expect(shape(plan('- [ ] One\n- [ ] One\n'))).toEqual([
      [null, 'One', [], 'TODO'],
      [null, 'One', [], 'TODO'],
    ])
    expect(lines(plan('# Shop\n\n## Log in\n\nText\n\n## Pay\n\nText\n'))).toEqual([])
    expect(plan('- [ ] One\n- [ ] One\n').drafts.map(({ key }) => key)).toEqual(['one', 'one~2'])
    expect(shape(plan(''))).toEqual([])
  })
})

describe('what is wrong has its place', () => {
  test.each<[string, Readonly<Record<string, string>>, string]>([
    [
      'prd.json',
      { 'prd.json': '{\n  "userStories": [\n    { "id": "a", "title": 1 2 }] }' },
      'prd.json:3:29 error not valid JSON: comma expected',
    ],
    [
      'prd.json',
      { 'prd.json': '{ "userStories": [\n  { "title": "no id" }] }' },
      'prd.json:2:3 error a task needs an id',
    ],
    [
      'prd.json',
      { 'prd.json': '{ "userStories": [{ "id": "a" }] }' },
      'prd.json:1:19 error the task a has no title',
    ],
    [
      'prd.json',
      { 'prd.json': '{ "userStories": [{ "id": "a", "title": "A", "acceptanceCriteria": 7 }, 3] }' },
      'prd.json:1:73 error expected one of userStories, found "3"',
    ],
    [
      'prd.json',
      { 'prd.json': '{ "userStories": [{ "id": "a", "title": "A", "title": "B" }] }' },
      'prd.json:1:46 error the key "title" is given twice',
    ],
    [
      'prd.json',
      { 'prd.json': '{ "userStories": [{ "id": "a", "title": "A", "passes": "yes" }] }' },
      'prd.json:1:56 error passes is to be true or false, not "yes"',
    ],
    [
      'feature_list.json',
      { 'feature_list.json': '{ "project": "Shop" }' },
      'feature_list.json:1:1 error expected a list of features, or an object with "features"',
    ],
    [
      '.beads/issues.jsonl',
      { '.beads/issues.jsonl': '{"id":"a","title":"A"}\n<<<<<<< HEAD\n{"id":"b","title":"B"}\n' },
      '.beads/issues.jsonl:2:1 error not valid JSON: invalid symbol',
    ],
    [
      '.beads/issues.jsonl',
      {
        '.beads/issues.jsonl':
          '{"id":"a","title":"A"}\n{"id":"b","title":"B","dependencies":[{"depends_on_id":"c","type":"blocks"}]}\n{"id":"c","title":"C","dependencies":[{"depends_on_id":"b","type":"blocks"}]}',
      },
      '.beads/issues.jsonl:2:1 error b → c → b wait for each other, so none could begin',
    ],
    [
      '.beads/issues.jsonl',
      {
        '.beads/issues.jsonl':
          '{"id":"a","title":"A","dependencies":[{"depends_on_id":"a","type":"parent-child"}]}',
      },
      '.beads/issues.jsonl:1:38 error a is its own parent, or below such an issue',
    ],
    [
      'sprint-status.yaml',
      { 'sprint-status.yaml': 'development_status:\n  1-1-a: odd\n  1-2-b: backlog\n', '1-1-a.md': '# A' },
      'sprint-status.yaml:2:10 warning "odd" is no status of a story: it is blocked here',
    ],
    [
      'sprint-status.yaml',
      { 'sprint-status.yaml': 'development_status:\n  1-1-a: done\n  1-2-b: backlog\n', '1-1-a.md': '# A' },
      'sprint-status.yaml:2:3 warning 1 of 2 stories have no file yet: left out',
    ],
    [
      'implementation.json',
      {
        'implementation.json':
          '{ "specs": [{ "name": "A", "tasks": [{ "id": "a",\n"description": "A", "status": "maybe" }] }] }',
      },
      'implementation.json:2:31 error "maybe" is no status that ralph knows: pending, in_progress, completed or blocked',
    ],
    [
      '.ralph/db/tasks.yaml',
      { '.ralph/db/tasks.yaml': '- id: 1\n  title: One\n  tags: {a: b}\n' },
      '.ralph/db/tasks.yaml:3:9 error tags is to be a list of texts, not an object',
    ],
    [
      'x/tasks.jsonc',
      { 'x/tasks.jsonc': '{"tasks": [{"id": "1", "children": "$ref:tasks-9.jsonc"}]}' },
      'x/tasks.jsonc:1:36 error there is no file x/tasks-9.jsonc',
    ],
    [
      'x/tasks.jsonc',
      { 'x/tasks.jsonc': '{"tasks": [{"id": "1", "children": "$ref:../../etc/passwd"}]}' },
      'x/tasks.jsonc:1:36 error ../../etc/passwd is to stand beside tasks.jsonc',
    ],
  ])('%s %#', (path, files, expected) => {
    const tree = treeOfTexts(new Map(Object.entries(files)))
    const formats = [
      ['prd', 'prd-json'],
      ['feature', 'feature-list'],
      ['beads', 'beads'],
      ['sprint', 'bmad'],
      ['impl', 'implementation'],
      ['db', 'db'],
      ['', 'change'],
    ] as const
    const [, format] = formats.find(([part]) => path.includes(part))!
    const reading = readForeign({ format, path }, tree, { independent: false })
    expect(lines(reading)).toContain(expected)
  })

  test('a second task of an id gets a name of its own', () => {
    const stories = [1, 2, 3].map((number) => ({ id: 'US', title: `Story ${number}` }))
    const reading = readFiles('prd.json', { 'prd.json': JSON.stringify({ userStories: stories }) })
    expect(reading.drafts.map(({ key }) => key)).toEqual(['US', 'US~2', 'US~3'])
    expect(reading.mistakes.every(({ severity }) => severity === 'warning')).toBe(true)
  })
})

test('a story that nobody approved, or that is in review, is blocked', () => {
  const words = ['Draft', 'Ready for Review ✅', 'InProgress', 'Ready for Development', 'Done - QA passed']
  const files = words.map((word, index) => [
    `docs/stories/1.${index + 1}.story.md`,
    `# A\n## Status\n${word}\n`,
  ])
  const { drafts } = readFiles('docs/stories', Object.fromEntries(files) as Record<string, string>)
  expect(drafts.map(({ status }) => status)).toEqual(['BLOCKED', 'BLOCKED', 'TODO', 'TODO', 'DONE'])
})

describe('what is hostile', () => {
  test('files that name each other are read once', () => {
    const child = (name: string) =>
      `{"tasks": [{"id": "${name}", "section": "S", "description": "d", "children": "$ref:tasks-1.jsonc"}]}`
    const reading = readFiles('x', { 'x/tasks.jsonc': child('1'), 'x/tasks-1.jsonc': child('1.1') })
    expect(lines(reading)).toContain(
      'x/tasks-1.jsonc:1:74 error tasks-1.jsonc is named twice: it would hold itself',
    )
  })

  test('aliases that multiply are read once each', () => {
    const levels = Array.from(
      { length: 40 },
      (_, at) => `  a${at + 1}: &a${at + 1} [*a${at}, *a${at}, *a${at}, *a${at}]`,
    )
    const bomb = `- id: 1\n  title: Bomb\n  a0: &a0 [x, x]\n${levels.join('\n')}\n  tags: *a40\n`
    const reading = readForeign(
      { format: 'db', path: 'tasks.yaml' },
      treeOfTexts(new Map([['tasks.yaml', bomb]])),
      { independent: false },
    )
    expect(lines(reading)[0]).toMatch(
      /^tasks\.yaml:\d+:\d+ error tags is to be a list of texts, and this is a list/,
    )
  })

  test.each([
    ['an alias that holds itself', '- &a\n  id: 1\n  title: *a\n', /holds itself/],
    ['an alias of nothing', '- id: 1\n  title: *b\n', /Unresolved alias|nothing has the anchor/i],
    ['deep YAML', `- id: ${'['.repeat(100_000)}`, /nested too deeply/],
    ['two documents', '- id: 1\n---\n- id: 2\n', /not valid YAML/],
  ])('%s', (_, text, expected) => {
    const tree = treeOfTexts(new Map([['tasks.yaml', text]]))
    expect(lines(readForeign({ format: 'db', path: 'tasks.yaml' }, tree, { independent: false }))[0]).toMatch(
      expected,
    )
  })

  test('deep JSON', () => {
    const tree = treeOfTexts(new Map([['prd.json', '{"a":'.repeat(200_000)]]))
    expect(
      lines(readForeign({ format: 'prd-json', path: 'prd.json' }, tree, { independent: false }))[0],
    ).toMatch(/^prd\.json:1:1 error nested too deeply/)
  })

  test('a check list of any depth is one task with as many criteria', () => {
    const text = Array.from({ length: 4000 }, (_, depth) => `${'  '.repeat(depth)}- [ ] item\n`).join('')
    const [only] = readFiles('list.md', { 'list.md': text }).drafts
    expect(only!.criteria).toHaveLength(3999)
  })

  test('ids of any form stay apart', () => {
    const ids = ['__proto__', 'constructor', 'a#b', 'a b', '`x`', '../../x', '-1', 'T-001', '日本', '']
    const stories = ids.map((id) => ({ id, title: `Story ${id}`, dependsOn: ['__proto__'] }))
    const reading = readFiles('prd.json', { 'prd.json': JSON.stringify({ userStories: stories }) })
    expect(reading.drafts.map(({ key }) => key)).toEqual(ids.slice(0, -1))
    expect(draft(reading, 'a#b').depends).toEqual(['__proto__'])
  })
})

test('backlogs are found where other tools keep them', () => {
  const files = Object.assign({}, ...SAMPLES.map((one) => one.files)) as Record<string, string>
  const found = usualBacklogs(treeOfTexts(new Map(Object.entries(files))))
  expect(found.map(({ path }) => path)).toEqual([
    'implementation.json',
    '.ralph/db/tasks.yaml',
    '.taskmaster/tasks/tasks.json',
    'backlog',
    'prd.json',
    'feature_list.json',
    '.beads/issues.jsonl',
    'docs/stories',
    'spectr/changes/add-roots/tasks.jsonc',
    'openspec/changes/log-in/tasks.md',
    '.kiro/specs/period/tasks.md',
    'specs/001-auth/tasks.md',
    '.ralph/fix_plan.md',
    'TODO.md',
  ])
  const done = treeOfTexts(new Map([['TODO.md', '- [x] One\n']]))
  expect(usualBacklogs(done)).toEqual([])
})

test.each(['{}', '[]', '{"name": "x"}', '{"tasks": [1]}', '"text"', ''])('%s is no backlog', (text) => {
  for (const name of ['x.json', 'x.jsonc', 'x.yaml', 'x.md'])
    expect(findBacklog(name, openSources(treeOfTexts(new Map([[name, text]]))))).toBeNull()
})
