import { expect, test } from 'vitest'
import { parseTask } from '../../src/backlog/parse.ts'
import { taskVocabulary } from '../../src/backlog/vocabulary.ts'
import { isNone, splitPaths, splitReferences } from '../../src/backlog/values.ts'

test.each([
  ['src/{a,b}.ts, c.ts', ['src/{a,b}.ts', 'c.ts']],
  ['src/{a,b}.ts (both), c.ts', ['src/{a,b}.ts', 'c.ts']],
  ['{a, b.ts', ['{a', 'b.ts']],
  ['src/a.js (extend, keep API), b.ts', ['src/a.js', 'b.ts']],
  ['chat.js（新建，聊天逻辑）、b.js （x）', ['chat.js', 'b.js']],
  ['app/(auth)/page.tsx, b.ts', ['app/(auth)/page.tsx', 'b.ts']],
])('the paths %s are %j', (value, paths) => {
  expect(splitPaths(value)).toEqual(paths)
})

test.each([
  ['§3.2, §4', ['§3.2', '§4']],
  ['user-api §1, user-api §3', ['user-api §1', 'user-api §3']],
  ['§1 and shop §2', ['§1', 'shop §2']],
  ['Login §3', ['Login', '§3']],
  ['§3.2 §4', ['§3.2', '§4']],
  ['§3.2 and §4', ['§3.2', '§4']],
  ['3.2 4', ['3.2', '4']],
  ['Section 3.2', ['Section 3.2']],
  ['Section 3.2 Section 4', ['Section 3.2', 'Section 4']],
  ['PRD §3.2', ['PRD §3.2']],
  ['Log in, § 4', ['Log in', '§ 4']],
  ['§3.1 – §3.3; §5', ['§3.1 – §3.3', '§5']],
  ['§3.1 to §3.3', ['§3.1 to §3.3']],
  ['§3.2 Sign and seal', ['§3.2 Sign and seal']],
  ['none', []],
  ['§', []],
])('the references %s are %j', (value, references) => {
  expect(splitReferences(value)).toEqual(references)
})

test.each(['none', '(None)', 'N/A', ' — ', '', '无', 'なし', '없음', 'Ninguna', 'keine', 'Нет'])(
  '%j says that there is nothing',
  (value) => {
    expect(isNone(value)).toBe(true)
  },
)

const VOCABULARY = taskVocabulary({ tiers: { Heavy: ['심화'] }, statuses: { DONE: ['완료'] } })

async function fieldsOf(status: string, complexity: string) {
  const text = `# T-001: A\n\n- **Status**: ${status}\n- **Complexity**: ${complexity}\n`
  return parseTask({ file: 'docs/tasks/T-001.md', text }, VOCABULARY)
}

test.each([
  ['DONE (2026-08-10)', 'heavy (cross-package)', 'DONE', 'Heavy'],
  ['✅ DONE', '🔥 Heavy', 'DONE', 'Heavy'],
  ['완료 ✅', '심화', 'DONE', 'Heavy'],
  ['🚧 todo', 'Light（小）', 'TODO', 'Light'],
  ['⛔ BLOCKED', 'light ✓', 'BLOCKED', 'Light'],
  ['**완료** —— 2026-08-10, all', 'Medium', 'DONE', 'Standard'],
  ['DONE — in #12', '2', 'DONE', 'Standard'],
])('%s and %s are read with their signs and remarks', async (status, complexity, isStatus, isTier) => {
  const task = await fieldsOf(status, complexity)
  expect([task.status, task.complexity]).toEqual([isStatus, isTier])
})

test.each(['❌ DONE', 'DONE?', 'not DONE', 'DONE, TODO'])('the Status %s is unclear', async (status) => {
  const { status: read, problems } = await fieldsOf(status, 'Light')
  expect([read, problems[0]?.kind]).toEqual([null, 'bad-status'])
})
