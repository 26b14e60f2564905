import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FormatName } from '../../src/backlog/formats.ts'

/** Files of other tools, in the shapes that public repositories have, laid out by hand; each below its path. */
const text = readFileSync(new URL('samples.txt', import.meta.url), 'utf8')
const FILES = [...text.matchAll(/^── (.+)\n([^]*?)\n(?=── |(?![^]))/gm)].map(
  ([, path = '', content = '']) => [path, content] as const,
)

/** A backlog of a form that is written to, with its keys in the order in which they are to be done. */
function sample(format: FormatName, path: string, ...keys: readonly string[]) {
  const folder = path.includes('/') ? dirname(path) : path
  return { format, path, keys, files: Object.fromEntries(FILES.filter(([file]) => file.startsWith(folder))) }
}

export type Sample = ReturnType<typeof sample>

export const SAMPLES: readonly Sample[] = [
  sample('implementation', 'implementation.json', 'login-1', 'avatars-1', 'avatars-2'),
  sample('prd-json', 'prd.json', 'US-002', 'US-001'),
  sample(
    'feature-list',
    'feature_list.json',
    'new-chat-button-creates-a-fresh-conversation-it-keeps-the-ol',
    'new-chat-button-creates-a-fresh-conversation-it-keeps-the-ol~2',
  ),
  sample('feature-list', 'features/feature_list.json', '1', '2'),
  sample('task-master', '.taskmaster/tasks/tasks.json', '1', '2.1', '2.2', 'next:1'),
  sample('beads', '.beads/issues.jsonl', 'shop-u1', 'shop-f1', 'shop-f2', 'shop-z1'),
  sample('bmad', 'docs/stories', '1.2.log-in', '1.10'),
  sample('bmad', 'bmad/sprint-status.yaml', '1-1-make-users', '1-2-log-in', '2-1-pay'),
  sample('change', 'spectr/changes/add-roots/tasks.jsonc', '1.1', '1.2', '2'),
  sample('change', 'openspec/changes/log-in/tasks.md', '1.1', '1.2', '2.1'),
  sample('change', '.kiro/specs/period/tasks.md', '1.1', '1.2', '2', '3'),
  sample('change', 'specs/001-auth/tasks.md', 'T001', 'T002', 'T003', 'T004', 'T005'),
  sample('checklist', 'TODO.md', 'make-users', 'make-users~2', 'log-in-with-a-password'),
  sample('checklist', '.ralph/fix_plan.md', 'p1-01-log-as-json', 'count-requests'),
  sample('backlog-md', 'backlog', 'BACK-2', 'BACK-10'),
  sample('github-issues', 'issues.json', '4', '12'),
  sample('db', '.ralph/db/tasks.yaml', '1', '2', '3', '4'),
  sample('db', 'keyed/tasks.yaml', '1', '2'),
]
