import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commit, makeRepository } from '../repository.ts'
import { restyle } from './unusual-styles.ts'

/** Which style the files of a generated backlog are written in: the one of the format, or each in one of the others. */
export type Style = 'ordinary' | 'unusual'

/** Writes a project of so many tasks: the first half of them DONE, chains and fans of dependencies among them. */
export function writeBacklog(root: string, tasks: number, style: Style): void {
  mkdirSync(join(root, 'docs/tasks'), { recursive: true })
  writeFileSync(join(root, 'package.json'), '{}\n')
  for (let number = 1; number <= tasks; number++) {
    const text = taskText(number, number <= tasks / 2)
    const written = style === 'ordinary' ? text : restyle(text, number)
    writeFileSync(join(root, `docs/tasks/${idOf(number)}.md`), written)
  }
}

/** A repository with so many tasks of the ordinary style. */
export function backlogRepository(tasks: number, more: Readonly<Record<string, string>> = {}): string {
  const root = makeRepository({})
  writeBacklog(root, tasks, 'ordinary')
  commit(root, 'Begin', more)
  return root
}

function idOf(number: number): string {
  return `T-${String(number).padStart(3, '0')}`
}

const GROUPS = ['Authentication', 'Catalogue', 'Orders', 'Reports', 'Operations'] as const
const GROUP_SIZE = 25

/**
 * What a task needs: in each ten there is a chain, a fan from its first, a task that joins the fan, and one that needs
 * nothing.
 */
function needsOf(number: number): readonly number[] {
  const place = number % 10
  const first = number - place
  if (place === 0 || first === 0) return number > 10 ? [number - 10] : []
  if (place <= 3) return [number - 1]
  if (place <= 7) return [first]
  return place === 8 ? [first + 4, first + 5, first + 6, first + 7] : []
}

/** A task of about 60 lines. */
function taskText(number: number, isDone: boolean): string {
  const group = Math.ceil(number / GROUP_SIZE)
  const name = GROUPS[group % GROUPS.length]
  const [part, other] = [`part-${number}`, `part-${Math.ceil(number / 2)}`]
  const needs = needsOf(number).map(idOf).join(', ')
  return [
    `# ${idOf(number)}: Keep the ${name} of part ${number} — with its limits`,
    '',
    `- **Status**: ${isDone ? 'DONE' : 'TODO'}`,
    `- **Milestone**: ${group} — ${name}`,
    `- **Depends**: ${needs === '' ? 'none' : needs}`,
    `- **PRD Reference**: §${(number % 9) + 1}.${number % 4}`,
    `- **Touches**: \`src/${part}/store.ts\`, \`src/${other}/limits.ts\``,
    ...(number % 5 === 0 ? ['- **Complexity**: Standard'] : []),
    ...(isDone ? ['- **Completed**: 2025-01-15 14:30 (8m duration)', '- **Commit**: a41f7c2'] : []),
    '',
    '## Description',
    `What a person keeps under part ${number} is theirs alone — see §${(number % 9) + 1}. It is read at the start,`,
    'held in memory while it is in use, and written when it was changed. Nothing is asked twice.',
    '',
    ...lines(10, (line) => `Of the ${line + 1} cases the form knows, each says in one line what is missing.`),
    '',
    '## Acceptance Criteria',
    ...lines(8, (line) => `- [${isDone ? 'x' : ' '}] Case ${line + 1} is refused with a message of its own`),
    '',
    '## Hints',
    `- Follow \`src/${other}/store.ts\`, which does the same for another part`,
    ...lines(6, (line) => `- The limit of case ${line + 1} stands in \`limits.ts\`; do not repeat it`),
    '',
    '```ts',
    `export const part = store({ name: '${part}', limits })`,
    'part.open()',
    '```',
    '',
    '## Produces',
    `- \`src/${part}/store.ts\``,
    '- Tests',
    '',
    '## Comments',
    ...lines(6, (line) => `- Remark ${line + 1}: this was asked for by those who use it every day.`),
    ...(isDone ? ['', '## Completion Notes', 'Done as described — the limits are checked on saving.'] : []),
    '',
  ].join('\n')
}

function lines(count: number, line: (index: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => line(index))
}
