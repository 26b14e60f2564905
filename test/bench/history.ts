import { execFileSync } from 'node:child_process'
import { commit, ENV, git, makeRepository } from '../repository.ts'
import { inTurns, ms, PROGRAM, run, times, type Row } from './measure.ts'

const COMMITS = 10_000
const TASKS = 1000
const ROUNDS = 15

/** Measures what reads history, on 10,000 commits that completed 1,000 tasks, beside git reading the same messages. */
export async function benchHistory(): Promise<readonly Row[]> {
  const root = makeHistory()
  const rows = await beside(root, '10,000 commits, 1,000 tasks', {
    'git log --format=%B': ['git', 'log', '--format=%B'],
    'node -e 0': [process.execPath, '-e', '0'],
    'ralph log': [process.execPath, PROGRAM, 'log'],
    'ralph log --json': [process.execPath, PROGRAM, 'log', '--json'],
    'ralph stats': [process.execPath, PROGRAM, 'stats'],
    'ralph report': [process.execPath, PROGRAM, 'report', '-o', '-'],
    'ralph verify': [process.execPath, PROGRAM, 'verify'],
  })
  return [...rows, ...(await benchDiff())]
}

/** Measures what shows a range in which every task of a large backlog has changed, beside git's own summary of it. */
async function benchDiff(): Promise<readonly Row[]> {
  const filesAt = (made: string | null): Record<string, string> =>
    Object.fromEntries(Array.from({ length: COMMITS }, (_, index) => fileOf(index + 1, made)))
  const root = makeRepository(filesAt(null))
  commit(root, 'All done', filesAt('1234567'))
  git(root, 'gc', '--quiet')
  return beside(root, '10,000 tasks, all of them completed', {
    'git diff --stat': ['git', 'diff', '--stat', 'HEAD~1', 'HEAD'],
    'ralph diff': [process.execPath, PROGRAM, 'diff', 'HEAD~1..HEAD'],
  })
}

/** Each command beside the first. */
async function beside(
  root: string,
  where: string,
  commands: Readonly<Record<string, readonly string[]>>,
): Promise<readonly Row[]> {
  const works = Object.entries(commands).map(([name, command]) => [name, () => run(root, command)] as const)
  const taken = Object.entries(await inTurns(ROUNDS, Object.fromEntries(works)))
  const [first, least] = taken[0]!
  return taken.map(([name, time]) => ({
    what: `${name}, ${where}`,
    value: ms(time),
    ratio: `${times(time / least)} ${first}${name === 'ralph diff' ? ' (at most 3)' : ''}`,
  }))
}

/** Each tenth commit completes a task; all are made in one process of git. */
function makeHistory(): string {
  const root = makeRepository(
    Object.fromEntries(Array.from({ length: TASKS }, (_, i) => fileOf(i + 1, null))),
  )
  const stream = Array.from({ length: COMMITS }, (_, number) => {
    const each = COMMITS / TASKS
    const task = number % each === 0 ? number / each + 1 : null
    const [path, text] =
      task === null
        ? [`src/part-${number % 50}.ts`, `export const part = ${number}\n`]
        : fileOf(task, '1234567')
    const from = number === 0 ? 'from refs/heads/main^0\n' : ''
    const who = `committer Ada <ada@example.com> ${1_700_000_000 + number * 3600} +0000`
    return `commit refs/heads/main\n${who}\n${data(messageOf(number, task))}${from}M 100644 inline ${path}\n${data(text)}`
  })
  execFileSync('git', ['fast-import', '--quiet'], { cwd: root, env: ENV, input: stream.join('') })
  git(root, 'reset', '--quiet', '--hard')
  git(root, 'gc', '--quiet')
  return root
}

/** The file of a task: about 60 lines, as it is before it is done, and after. */
function fileOf(task: number, made: string | null): [path: string, text: string] {
  const lines = [
    `# ${idOf(task)}: Keep part ${task} within its limits`,
    '',
    `- **Status**: ${made === null ? 'TODO' : 'DONE'}`,
    `- **Milestone**: ${Math.ceil(task / 50)} — Group ${Math.ceil(task / 50)}`,
    `- **Depends**: ${task > 1 ? idOf(task - 1) : 'none'}`,
    `- **Touches**: \`src/part-${task % 50}.ts\``,
    ...(made === null ? [] : ['- **Completed**: 2025-01-15 14:30 (8m duration)', `- **Commit**: ${made}`]),
    '',
    '## Description',
    ...Array.from({ length: 40 }, (_, line) => `Line ${line} of what is to be done, and why it is done so.`),
    '',
    '## Acceptance Criteria',
    ...Array.from({ length: 6 }, (_, line) => `- [ ] Case ${line} is refused with a message`),
    ...(made === null ? [] : ['', '## Completion Notes', notes(task)]),
    '',
  ]
  return [`docs/tasks/${idOf(task)}.md`, lines.join('\n')]
}

const idOf = (task: number): string => `T-${String(task).padStart(4, '0')}`
const notes = (task: number): string =>
  Array.from({ length: 5 }, (_, line) => `Note ${line} on part ${task}: what was done.`).join('\n')
const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`

function messageOf(number: number, task: number | null): string {
  if (task === null) return `Repair part ${number % 50}\n\nIt was ${number}, and that was too much.\n`
  const numbers =
    'Agent: claude 2.1.326\nTier: Standard\nAttempts: 2\nTurns: 39\nDuration: 8m 12s\nTokens: 412k in, 9k out\nCost: $0.53'
  return `${idOf(task)}: Keep part ${task} within its limits\n\n${notes(task)}\n\nTask: ${idOf(task)}\n${numbers}\n`
}
