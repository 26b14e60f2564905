import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commitHash, sealCommit } from '../../src/git/seal/seal-commit.ts'
import type { Row } from './row.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/bin.cjs', import.meta.url))
const COMMITS = 10_000
const TASKS = 1000
const ROUNDS = 15

/** Measures what reads history, on 10,000 commits that completed 1,000 tasks, beside git reading the same messages. */
export async function benchHistory(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-history-'))
  try {
    await makeHistory(root)
    const commands = {
      'git log --format=%B': ['git', 'log', '--format=%B'],
      'node -e 0': [process.execPath, '-e', '0'],
      'ralph log': [process.execPath, PROGRAM, 'log'],
      'ralph log --json': [process.execPath, PROGRAM, 'log', '--json'],
      'ralph stats': [process.execPath, PROGRAM, 'stats'],
      'ralph report': [process.execPath, PROGRAM, 'report', '-o', '-'],
      'ralph verify': [process.execPath, PROGRAM, 'verify'],
    }
    const times = new Map(Object.keys(commands).map((name) => [name, [] as number[]]))
    // In turns, for the machine may be busier at one time than at another.
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, command] of Object.entries(commands)) times.get(name)!.push(time(root, command))
    }
    const bare = median(times.get('git log --format=%B')!)
    const rows = [...times].map(([name, taken]) => ({
      what: `${name}, 10,000 commits, 1,000 tasks`,
      value: `${median(taken).toFixed(0)} ms`,
      ratio: `${(median(taken) / bare).toFixed(2)} × git log --format=%B`,
    }))
    return [...rows, ...benchDiff()]
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

const CHANGED = 10_000

/** Measures what tells of a range in which every task of a large backlog has changed, beside git's own summary of it. */
function benchDiff(): readonly Row[] {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-diff-'))
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root })
    git('init', '--quiet', '--initial-branch=main')
    for (const commit of [null, '1234567']) {
      mkdirSync(join(root, 'docs/tasks'), { recursive: true })
      for (let task = 1; task <= CHANGED; task++) {
        writeFileSync(join(root, 'docs/tasks', `${idOf(task)}.md`), taskText(task, commit))
      }
      git('add', '--all')
      const settings = ['user.name=Ada', 'user.email=ada@example.com', 'gc.auto=0']
      git(...settings.flatMap((setting) => ['-c', setting]), 'commit', '--quiet', '-m', 'Tasks')
    }
    git('gc', '--quiet')
    const commands = {
      'git diff --stat': ['git', 'diff', '--stat', 'HEAD~1', 'HEAD'],
      'ralph diff': [process.execPath, PROGRAM, 'diff', 'HEAD~1..HEAD'],
    }
    const times = new Map(Object.keys(commands).map((name) => [name, [] as number[]]))
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, command] of Object.entries(commands)) times.get(name)!.push(time(root, command))
    }
    const bare = median(times.get('git diff --stat')!)
    return [...times].map(([name, taken]) => ({
      what: `${name}, 10,000 tasks, all of them completed`,
      value: `${median(taken).toFixed(0)} ms`,
      ratio: `${(median(taken) / bare).toFixed(2)} × git diff --stat${name === 'ralph diff' ? ' (at most 3)' : ''}`,
    }))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Each tenth commit completes a task and names itself. All are made in one process of git, which must name them alike. */
async function makeHistory(root: string): Promise<void> {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root }).toString().trim()
  git('init', '--quiet', '--initial-branch=main')
  const [sources, tasks] = [new Map<string, string>(), new Map<string, string>()]
  const stream: Buffer[] = []
  let parent: string | null = null
  for (let number = 0; number < COMMITS; number++) {
    const task = number % (COMMITS / TASKS) === 0 ? number / (COMMITS / TASKS) + 1 : null
    const prefix = task === null ? null : prefixOf(task)
    const path = task === null ? `src/part-${number % 50}.ts` : `docs/tasks/${idOf(task)}.md`
    const text = task === null ? `export const part = ${number}\n` : taskText(task, prefix)
    const first = number === 0 ? firstFiles() : []
    for (const [name, content] of [...first, [path, text] as const]) {
      const [folder, key] = name.startsWith('src/') ? [sources, 4] : [tasks, 11]
      folder.set(name.slice(key), blobHash(content))
    }
    const who = `Ada <ada@example.com> ${1_700_000_000 + number * 3600} +0000`
    const lines = [
      `tree ${rootTree(sources, tasks)}`,
      ...(parent === null ? [] : [`parent ${parent}`]),
      `author ${who}`,
      `committer ${who}`,
      '',
      messageOf(number, task, prefix),
    ]
    const made = await sealedAs(Buffer.from(lines.join('\n')), prefix)
    parent = commitHash(made, 'sha1')
    const message = made.subarray(made.indexOf('\n\n') + 2)
    stream.push(Buffer.from(`commit refs/heads/main\nauthor ${who}\ncommitter ${who}\n`), data(message))
    for (const [name, content] of [...first, [path, text] as const])
      stream.push(Buffer.from(`M 100644 inline ${name}\n`), data(Buffer.from(content)))
  }
  execFileSync('git', ['fast-import', '--quiet'], { cwd: root, input: Buffer.concat(stream) })
  if (git('rev-parse', 'main') !== parent) throw new Error('git names the commits otherwise')
  git('reset', '--quiet', '--hard')
  git('gc', '--quiet')
}

async function sealedAs(commit: Buffer, prefix: string | null): Promise<Buffer> {
  if (prefix === null) return commit
  const ports = { signal: new AbortController().signal, now: () => 0, threads: 0 }
  const sealed = await sealCommit({ commit, prefix, algorithm: 'sha1' }, ports)
  if (!sealed) throw new Error('nobody cancelled it')
  return sealed.commit
}

function firstFiles(): [string, string][] {
  return Array.from({ length: TASKS }, (_, i) => [`docs/tasks/${idOf(i + 1)}.md`, taskText(i + 1, null)])
}

function idOf(task: number): string {
  return `T-${String(task).padStart(4, '0')}`
}

/** Four digits, which a moment finds; the search is not what is measured here. */
function prefixOf(task: number): string {
  return createHash('sha1').update(String(task)).digest('hex').slice(0, 4)
}

/** Of about 60 lines, as it is before it is done, and after. */
function taskText(task: number, commit: string | null): string {
  return [
    `# ${idOf(task)}: Keep part ${task} within its limits`,
    '',
    `- **Status**: ${commit === null ? 'TODO' : 'DONE'}`,
    `- **Milestone**: ${Math.ceil(task / 50)} — Group ${Math.ceil(task / 50)}`,
    `- **Depends**: ${task > 1 ? idOf(task - 1) : 'none'}`,
    `- **Touches**: \`src/part-${task % 50}.ts\``,
    ...(commit === null
      ? []
      : ['- **Completed**: 2025-01-15 14:30 (8m duration)', `- **Commit**: ${commit}`]),
    '',
    '## Description',
    ...Array.from({ length: 40 }, (_, line) => `Line ${line} of what is to be done, and why it is done so.`),
    '',
    '## Acceptance Criteria',
    ...Array.from({ length: 6 }, (_, line) => `- [ ] Case ${line} is refused with a message`),
    ...(commit === null ? [] : ['', '## Completion Notes', ...notes(task)]),
    '',
  ].join('\n')
}

function notes(task: number): string[] {
  return Array.from(
    { length: 5 },
    (_, line) => `Note ${line} on part ${task}: what was done, and what to know.`,
  )
}

function messageOf(number: number, task: number | null, prefix: string | null): string {
  if (task === null) return `Mend part ${number % 50}\n\nIt was ${number}, and that was too much.\n`
  const numbers = [
    `Task: ${idOf(task)}`,
    'Agent: claude 2.1.326',
    'Tier: Standard',
    'Attempts: 2',
    'Turns: 39',
    'Duration: 8m 12s',
    'Tokens: 412k in, 9k out',
    'Cost: $0.53',
    `Seal: ${prefix}`,
  ]
  return `${idOf(task)}: Keep part ${task} within its limits\n\n${notes(task).join('\n')}\n\n${numbers.join('\n')}\n`
}

function rootTree(sources: ReadonlyMap<string, string>, tasks: ReadonlyMap<string, string>): string {
  const docs = treeHash(new Map([['tasks', treeHash(tasks, '100644')]]), '40000')
  const folders = new Map([['docs', docs]])
  if (sources.size > 0) folders.set('src', treeHash(sources, '100644'))
  return treeHash(folders, '40000')
}

function treeHash(entries: ReadonlyMap<string, string>, mode: string): string {
  const names = [...entries.keys()].toSorted()
  const parts = names.flatMap((name) => [
    Buffer.from(`${mode} ${name}\0`),
    Buffer.from(entries.get(name)!, 'hex'),
  ])
  return objectHash('tree', Buffer.concat(parts))
}

function blobHash(text: string): string {
  return objectHash('blob', Buffer.from(text))
}

function objectHash(type: string, content: Buffer): string {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')
}

function data(content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`data ${content.length}\n`), content, Buffer.from('\n')])
}

function time(cwd: string, [program = '', ...args]: readonly string[]): number {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const started = performance.now()
  execFileSync(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 28 })
  return performance.now() - started
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

// Run alone: bundle it, and start the bundle by a name that begins like this file's.
if (/(?:^|[\\/])history\.[cm]?js$/.test(process.argv[1] ?? '')) {
  for (const { what, value, ratio } of await benchHistory())
    process.stdout.write(`${what.padEnd(50)}${value.padStart(10)}   ${ratio}\n`)
}
