import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../src/cli/commands.ts'
import { GLOBAL_OPTIONS } from '../src/cli/options/option.ts'
import { FIELD_NAMES, SECTION_NAMES, STATUSES, TIERS } from '../src/backlog/model.ts'
import { git, taskText } from './repository.ts'
import { repository, run } from './cli/script-repository.ts'
import { jsonOf } from './cli/ralph.ts'

/** What others rely on, as 0.1 had it. It may gain, and never lose: see docs/stability.md. */
const FROZEN = fileURLToPath(new URL('frozen-0.1.json', import.meta.url))

/** What a value is, whatever it says. */
type Shape = string | readonly Shape[] | { readonly [key: string]: Shape }

function shapeOf(value: unknown): Shape {
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.map(shapeOf).reduce(merged)]
  if (typeof value !== 'object') return typeof value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
}

/** What may be the one or the other: an unknown number is null. */
function merged(one: Shape, other: Shape): Shape {
  if (one === 'null') return other
  if (other === 'null' || typeof one === 'string' || typeof other === 'string') return one
  if (isList(one)) return isList(other) && one[0] === undefined ? other : one
  if (isList(other)) return one
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  const pairs = keys.map((key) => [key, merged(one[key] ?? 'null', other[key] ?? 'null')] as const)
  return Object.fromEntries(pairs)
}

function isList(shape: Shape): shape is readonly Shape[] {
  return Array.isArray(shape)
}

/** What 0.1 has and this has not any more, by its path. */
function lost(was: Shape, is: Shape | undefined, path: string): readonly string[] {
  if (is === undefined) return [path]
  if (was === 'null' || is === 'null') return []
  if (typeof was === 'string' || typeof is === 'string')
    return was === is ? [] : [`${path}: ${JSON.stringify(was)}`]
  if (isList(was) !== isList(is)) return [`${path}: a list`]
  if (isList(was) && isList(is))
    return was[0] === undefined || is[0] === undefined ? [] : lost(was[0], is[0], `${path}[]`)
  const now = is as Readonly<Record<string, Shape>>
  return Object.entries(was).flatMap(([key, shape]) => lost(shape, now[key], `${path}.${key}`))
}

const DOCUMENTS: Readonly<Record<string, readonly string[]>> = {
  next: ['next', '--all', '--explain'],
  list: ['list'],
  show: ['show', '1'],
  lint: ['lint'],
  graph: ['graph'],
  diff: ['diff', 'HEAD~1..HEAD'],
  'diff of a task': ['diff', 'T-001'],
  attempts: ['attempts', '2'],
  log: ['log'],
  stats: ['stats'],
  verify: ['verify'],
  prompt: ['prompt', '1'],
}

async function surface(): Promise<Readonly<Record<string, Shape>>> {
  const cwd = repository(
    { 'T-001': 'echo one > one.txt', 'T-002': 'echo half > half.txt; exit 1' },
    { retries: 0 },
  )
  const wrong = taskText('T-003', 'Wait', { Status: 'todo', Depends: 'T-002, T-099' })
  writeFileSync(`${cwd}/docs/tasks/T-003.md`, wrong)
  git(cwd, 'add', '--all')
  git(cwd, 'commit', '--quiet', '--message', 'One more')
  const events = (await run(cwd, '--loop', '--json')).stdout.trim().split('\n')
  const documents: Record<string, Shape> = {}
  for (const [name, argv] of Object.entries(DOCUMENTS)) {
    documents[name] = shapeOf(await jsonOf(cwd, ...argv))
  }
  const kinds: Record<string, Shape> = {}
  for (const line of events) {
    const event = JSON.parse(line) as { type: string }
    kinds[event.type] = merged(kinds[event.type] ?? 'null', shapeOf(event))
  }
  const trailers = (...revisions: string[]): string[] =>
    git(cwd, 'log', '--format=%(trailers:only,keyonly)', ...revisions)
      .split('\n')
      .filter(Boolean)
  return {
    documents,
    events: kinds,
    trailers: {
      completion: present(trailers('--grep=^Gates: ', 'HEAD')),
      attempt: present(trailers('--no-walk', 'refs/ralph/attempts/T-002/1')),
    },
    refs: present(git(cwd, 'for-each-ref', '--format=%(refname)', 'refs/ralph').split('\n')),
    commands: Object.fromEntries(
      COMMANDS.map(({ name, options }) => [name, present(options.map((option) => `--${option.name}`))]),
    ),
    options: present(GLOBAL_OPTIONS.map(({ name }) => `--${name}`)),
    format: {
      fields: present(FIELD_NAMES),
      sections: present(SECTION_NAMES),
      statuses: present(STATUSES),
      tiers: present(TIERS),
    },
    config: propertiesOf('config'),
  }
}

function present(names: readonly string[]): Shape {
  return Object.fromEntries([...new Set(names)].sort().map((name) => [name, 'there']))
}

function propertiesOf(name: string): Shape {
  const url = new URL(`../dist/ralph.${name}.schema.json`, import.meta.url)
  const { properties } = JSON.parse(readFileSync(url, 'utf8')) as { properties: object }
  return present(Object.keys(properties))
}

/** A completion's message, to the letter as 0.1 writes it. */
const COMPLETION = `T-001: Add the login form

Checked on blur and on submit.

Task: T-001
Agent: claude 2.1.326
Model: large
Tier: Standard
Attempts: 2
Turns: 39
Duration: 8m 12s
Tokens: 412k in (380k cached), 9k out
Cost: $0.53
Gates: typecheck, test
Seal: qpb7x0kd
`

describe('what others rely on', () => {
  it('is all there that 0.1 had', async () => {
    const now = await surface()
    // RALPH_FREEZE=1 writes what a release promises; never to make this test pass.
    if (process.env['RALPH_FREEZE'] === '1') writeFileSync(FROZEN, `${JSON.stringify(now, null, 2)}\n`)
    expect(existsSync(FROZEN)).toBe(true)
    expect(lost(JSON.parse(readFileSync(FROZEN, 'utf8')) as Shape, now, '')).toEqual([])
  })

  it('is read of a commit that 0.1 has made', async () => {
    const cwd = repository({ 'T-001': 'true' })
    git(cwd, 'commit', '--quiet', '--allow-empty', '--message', COMPLETION)
    expect((await jsonOf(cwd, 'log')).completions).toMatchObject([
      {
        id: 'T-001',
        title: 'Add the login form',
        notes: 'Checked on blur and on submit.',
        agent: 'claude 2.1.326',
        model: 'large',
        tier: 'Standard',
        attempts: 2,
        seconds: 492,
        gates: ['typecheck', 'test'],
        usage: { turns: 39, inputTokens: 412_000, cachedTokens: 380_000, outputTokens: 9000, costUsd: 0.53 },
        reverted: false,
      },
    ])
  })

  it('is missed where it is gone', () => {
    const was = shapeOf({ a: 1, b: [{ c: 'x', d: null }], e: { f: true } })
    expect(lost(was, shapeOf({ a: 2, b: [{ c: 'y', d: 3 }], e: { f: false }, g: 1 }), '')).toEqual([])
    expect(lost(was, shapeOf({ a: '2', b: [{ d: 3 }], e: [] }), '')).toEqual([
      '.a: "number"',
      '.b[].c',
      '.e: a list',
    ])
  })
})
