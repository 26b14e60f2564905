import type { Status } from '../../src/backlog/model.ts'
import type { OriginReport } from '../../src/backlog/origin.ts'
import type { FormatName } from '../../src/backlog/formats.ts'

/** A backlog of each form that is written to, in the shapes that public repositories have, laid out by hand. */
export interface Sample {
  readonly format: FormatName
  readonly path: string
  readonly files: Readonly<Record<string, string>>
  /** The keys in the order in which they are to be done. */
  readonly keys: readonly string[]
}

export const SAMPLES: readonly Sample[] = [
  {
    format: 'implementation',
    path: 'implementation.json',
    keys: ['login-1', 'avatars-1', 'avatars-2'],
    files: {
      'implementation.json': `\uFEFF{ "version": 1, // the plan
  "updatedAt": "2026-01-17T10:30:00Z", "updatedBy": "plan-mode",
  "specs": [
    { "id": "avatars", "file": "specs/avatars.md", "name": "Avatars", "priority": 2, "status": "pending",
      "context": "Small pictures.", "acceptanceCriteria": ["All sizes are tested"], "owner": {"team": "web"},
      "tasks": [ { "id": "avatars-1", "description": "Upload an avatar. It has at most 1 MB.", "status": "pending", "acceptanceCriteria": ["2 MB are refused"] },
                 {"id":"avatars-2","description":"Show it","status":"pending" /* the last */ , } ] },
    { "id": "login", "name": "Log in", "priority": 1, "status": "in_progress", "tasks": [ { "id": "login-1",\t"description": "A form",
        "status": "pending" } ] },
  ]
}`,
    },
  },
  {
    format: 'prd-json',
    path: 'prd.json',
    keys: ['US-002', 'US-001'],
    files: {
      'prd.json': `{
\t"project": "Shop", "branchName": "ralph/shop", "description": "A small shop",
\t"userStories": [
\t\t{ "id": "US-001", "title": "Pay", "description": "As a customer I pay.", "acceptanceCriteria": ["Typecheck passes"], "priority": 2, "passes": false, "notes": "use \\"Stripe\\"", "dependsOn": ["US-002"] },
\t\t{"id": "US-002", "title": "Put into the cart", "acceptanceCriteria": [], "priority": 1,   "passes":false}
\t]
}
`,
    },
  },
  {
    format: 'task-master',
    path: '.taskmaster/tasks/tasks.json',
    keys: ['1', '2.1', '2.2', 'next:1'],
    files: {
      '.taskmaster/tasks/tasks.json': `{
  "master": {
    "tasks": [
      { "id": 1, "title": "Make users", "description": "Keep them", "details": "In SQL", "testStrategy": "Add one",
        "status": "pending", "priority": "high", "dependencies": [], "subtasks": [] },
      { "id": "2", "title": "Log in", "description": "With a password", "status": "pending", "dependencies": [1],
        "testStrategy": "Log in by hand", "subtasks": [
          { "id": 1, "title": "The form", "status": "pending", "dependencies": [] },
          { "id": 2, "title": "The session", "status": "pending", "dependencies": ["2.1"] } ] }
    ],
    "metadata": { "created": "2026-01-01" }
  },
  "next": { "tasks": [ { "id": 1, "title": "Another list", "status": "pending" } ], "metadata": {} }
}`,
    },
  },
  {
    format: 'change',
    path: 'spectr/changes/add-roots/tasks.jsonc',
    keys: ['1.1', '1.2', '2'],
    files: {
      'spectr/changes/add-roots/proposal.md': '# Why\n',
      'spectr/changes/add-roots/specs/cli/spec.md': '## ADDED\n',
      'spectr/changes/add-roots/tasks.jsonc': `// Tasks of a change
{
  "version": 2,
  "tasks": [
    { "id": "1", "section": "Discovery", "description": "Discovery tasks", "status": "pending", "children": "$ref:tasks-1.jsonc" },
    { "id": "2", "section": "Docs", "description": "Write it down", "status": "pending" },
  ],
  "includes": ["tasks-*.jsonc"]
}
`,
      'spectr/changes/add-roots/tasks-1.jsonc': `{ "version": 2, "parent": "1",
  "tasks": [
    {"id": "1.1", "section": "Discovery", "description": "Find the roots", "status": "pending"}, // first
    {"id": "1.2", "section": "Discovery", "description": "Stop at \`.git\`", "status": "pending"}
  ] }`,
    },
  },
  {
    format: 'change',
    path: 'openspec/changes/log-in/tasks.md',
    keys: ['1.1', '1.2', '2.1'],
    files: {
      'openspec/changes/log-in/proposal.md': '# Why\n',
      'openspec/changes/log-in/tasks.md':
        '# Tasks\r\n\r\n## 1. Form\r\n\r\n- [ ] 1.1 Draw it\r\n  in one column\r\n- [ ] 1.2 Send it:\r\n  - [ ] 1.2a over TLS\r\n\r\n```md\r\n- [ ] 9.9 no task\r\n```\r\n\r\n## 2. Docs\r\n\r\n* [ ] 2.1 Write it down',
    },
  },
  {
    format: 'checklist',
    path: 'TODO.md',
    keys: ['make-users', 'make-users~2', 'log-in-with-a-password'],
    files: {
      'TODO.md': `# To do\n\n## Users\n\nWho uses it.\n\n- [ ] Make **users**\n    - [x] with a name\n- [ ] Make users\n<!-- - [ ] not this -->\n\n## Later\n1. [ ] Log in, with a password\n`,
    },
  },
  {
    format: 'backlog-md',
    path: 'backlog',
    keys: ['BACK-2', 'BACK-10'],
    files: {
      'backlog/config.yml': 'project_name: "Shop"\nstatuses: ["To Do", "In Progress", "Done"]\n',
      'backlog/tasks/back-10 - Log-in.md': `---
id: BACK-10
title: 'Log in: with a password'
status: "To Do"   # kept
labels:
  - web
  - auth
dependencies: [task-2, BACK-1]
priority: medium
milestone: m-3
---

## Description
<!-- SECTION:DESCRIPTION:BEGIN -->
With a password.
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [x] #1 An empty one is refused
- [ ] #2 Five failures lock it
<!-- AC:END -->

## Implementation Plan
1. Draw it
`,
      'backlog/tasks/back-2 - Make-users.md':
        '---\r\nid: BACK-2\r\ntitle: Make users\r\nstatus: To Do\r\ndependencies: []\r\n---\r\n\r\n## Description\r\n\r\nKeep them.\r\n',
      'backlog/completed/back-1 - Begin.md': '---\nid: BACK-1\n---\n',
      'backlog/milestones/m-3 - first.md': '---\nid: m-3\ntitle: "First release"\n---\n',
    },
  },
  {
    format: 'github-issues',
    path: 'issues.json',
    keys: ['4', '12'],
    files: {
      'issues.json': `[{"number":12,"title":"Log in","body":"Needed.\\r\\n\\r\\nDepends on #4\\r\\n- [ ] A form\\r\\n- [x] A button","labels":[{"id":"x","name":"web"}],"milestone":{"number":2,"title":"First"},"state":"OPEN"},
 {"number":4,"title":"Make users","body":"","labels":[],"milestone":null,"state":"OPEN"}]`,
    },
  },
  {
    format: 'db',
    path: '.ralph/db/tasks.yaml',
    keys: ['1', '2', '3', '4'],
    files: {
      '.ralph/db/features.yaml': '- name: auth\n',
      '.ralph/db/tasks.yaml': `# our tasks
- id: 1
  title: Make users   # the first
- id: 2
  status: 'pending'   # stays quoted
  title: "Log in: with a password"
  feature: auth
  description: |
    First line
    - [ ] no box

    last line
  comments:
    - author: human
      agent_task_id: run-7
      body: please
        hurry
      created: 2026-01-02T03:04:05Z

- {id: 3, title: In braces, depends_on: [2], status: pending}
- id: 4
  title: Later
  status: "pending"
  depends_on:
  - 3`,
    },
  },
]

export const AT = new Date('2026-02-03T04:05:06Z')

export function reportOf(status: Status, more: Partial<OriginReport> = {}): OriginReport {
  return { status, reason: '', at: AT, failed: [], ...more }
}
