import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commitTaskFiles } from '../../src/authoring/commit-task-files.ts'
import { SAMPLES } from '../bridge/samples.ts'
import { env, git, makeRepository, projectFolder, put } from '../repository.ts'
import { by, jsonOf, type Answer } from './ralph.ts'

const CONFIG = { commit: { seal: false }, gates: [] }

function repository(files: Readonly<Record<string, string>>, config: object | null = null): string {
  const settings: Record<string, string> =
    config === null ? {} : { 'ralph.config.json': JSON.stringify(config) }
  return makeRepository({ 'package.json': '{}', ...files, ...settings })
}

const read = (cwd: string, file: string): string => readFileSync(join(cwd, file), 'utf8')

const story = (id: string, more: object = {}): object => ({
  id,
  title: `Do ${id}`,
  description: `As somebody I want ${id}.`,
  acceptanceCriteria: ['It is done'],
  passes: false,
  ...more,
})
const prd = (...userStories: readonly object[]): string =>
  JSON.stringify({ project: 'Shop', userStories }, null, 2)

describe('ralph import', () => {
  test('of very many tasks commits those, and nothing else of their folder', async () => {
    const list = Array.from({ length: 510 }, (_, index) => `- [ ] item ${index}\n`).join('')
    const cwd = repository({ 'list.md': list })
    put(cwd, { 'docs/tasks/notes.txt': 'mine\n' })
    expect((await by(cwd, 'import', 'list.md')).code).toBe(0)
    expect(git(cwd, 'status', '--porcelain', '-uall')).toBe('?? docs/tasks/notes.txt')
    git(cwd, 'reset', '--quiet', '--hard', 'HEAD~1')
    rmSync(join(cwd, 'docs'), { recursive: true })
    expect((await by(cwd, 'import', 'list.md')).code).toBe(0)
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    expect(git(cwd, 'diff', '--name-only', 'HEAD~1').split('\n')).toHaveLength(510)
  })

  test.each(SAMPLES)(
    '$format: task files in one commit, that lint and are next in order',
    async ({ path, files, keys }) => {
      const cwd = repository(files)
      const { code, stdout } = await by(cwd, 'import', path)
      expect(stdout).toContain(`${keys.length} tasks imported from ${path}`)
      expect(code).toBe(0)
      expect(git(cwd, 'status', '--porcelain')).toBe('')
      expect(git(cwd, 'log', '-1', '--format=%s%n%(trailers:key=Import,valueonly)')).toMatch(
        new RegExp(`^Import ${keys.length} tasks from .*\n.*@[0-9a-f]{40}`),
      )
      const { stdout: linted } = await by(cwd, 'lint', '--json')
      expect((JSON.parse(linted) as { errors: number }).errors).toBe(0)
      const { stdout: listed } = await by(cwd, 'list', '--json')
      const { tasks } = JSON.parse(listed) as { tasks: { id: string; fields: object; origin: string }[] }
      const origins = keys.map(
        (_, index) => /\*\*Origin\*\*: `(.*)`/.exec(read(cwd, `docs/tasks/${tasks[index]!.id}.md`))![1],
      )
      expect(origins.map((text) => decodeURIComponent(text!))).toEqual(keys.map((key) => `${path}#${key}`))
    },
  )

  test('a file in the style of a whole task', async () => {
    const cwd = repository({
      'prd.json': prd(
        story('US-1', { title: 'Use `Option<T>` in <b>bold</b> _files_', notes: '# Note\n```sh\nopen' }),
        story('US-2', { dependsOn: ['US-1'], description: 'Text\n## Blocked\nnot a section\n<!-- open' }),
      ),
    })
    await by(cwd, 'import', 'prd.json')
    expect(read(cwd, 'docs/tasks/T-002.md')).toContain('- **Depends**: T-001\n')
    const { tasks } = (await jsonOf(cwd, 'list')) as {
      tasks: { title: string; eligible: boolean; waiting: object[] }[]
    }
    expect(tasks[0]).toMatchObject({ eligible: true })
    expect(tasks[1]!.waiting).toEqual([{ kind: 'dependency', id: 'T-001', status: 'TODO' }])
    expect((await by(cwd, 'lint')).stdout).not.toContain('error')
  })

  test('nothing is written where the file is wrong', async () => {
    const cwd = repository({ 'prd.json': '{ "userStories": [\n  { "title": "x" } ] }' })
    const { code, stdout, stderr } = await by(cwd, 'import', 'prd.json')
    expect(stderr).toBe('prd.json:2:3 error a task needs an id\n')
    expect(stdout).toBe('Nothing was imported: prd.json has 1 mistake.\n')
    expect(code).toBe(1)
    expect(existsSync(join(cwd, 'docs'))).toBe(false)
    put(cwd, { 'prd.json': '{ "userStories": [\n  { "id": "a" "title": 1 }' })
    expect((await by(cwd, 'import', 'prd.json')).stderr).toContain(
      'prd.json:2:15 not valid JSON: comma expected',
    )
    const asked = await by(cwd, 'import', 'prd.json', '--as', 'db')
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('prd.json:2:15 not valid JSON')])
  })

  test('again: what is new comes, what changed there alone changes, what changed in both is shown, what is DONE stays', async () => {
    const cwd = repository({ 'prd.json': prd(...['a', 'b', 'c', 'd', 'e'].map((id) => story(id))) })
    await by(cwd, 'import', 'prd.json')
    const edit = (file: string, from: string, to: string): void => {
      writeFileSync(join(cwd, file), read(cwd, file).replace(from, to))
    }
    edit('docs/tasks/T-003.md', 'Description', 'Description\n\nMine.')
    edit('docs/tasks/T-004.md', 'TODO', 'DONE')
    git(cwd, 'commit', '--all', '--quiet', '--message=Mine')
    const changed = (id: string): object => story(id, { description: `Another ${id}.` })
    writeFileSync(
      join(cwd, 'prd.json'),
      prd(story('f'), story('a'), changed('b'), changed('c'), changed('d')),
    )
    git(cwd, 'commit', '--all', '--quiet', '--message=Theirs')
    expect(await jsonOf(cwd, 'import', 'prd.json')).toMatchObject({
      added: [{ id: 'T-006', origin: 'f' }],
      changed: [{ id: 'T-002', origin: 'b' }],
      both: [{ id: 'T-003', origin: 'c', parts: ['description'] }],
      gone: [{ id: 'T-005', origin: 'e' }],
    })
    expect(git(cwd, 'show', '--format=%s', '--name-only')).toBe(
      'Import 1 task, change 1 task from prd.json\n\ndocs/tasks/T-002.md\ndocs/tasks/T-006.md',
    )
    const head = git(cwd, 'rev-parse', 'HEAD')
    const again = await by(cwd, 'import', 'prd.json')
    expect(again.stdout).toContain('Nothing is new in prd.json')
    expect(git(cwd, 'rev-parse', 'HEAD')).toBe(head)
  })

  test.each(SAMPLES)('$format: a second import finds nothing new', async ({ path, files }) => {
    const cwd = repository(files)
    await by(cwd, 'import', path)
    const head = git(cwd, 'rev-parse', 'HEAD')
    expect((await by(cwd, 'import', path)).stdout).toContain(`Nothing is new in ${path}`)
    expect(git(cwd, 'rev-parse', 'HEAD')).toBe(head)
  })

  test('a number stays one where it is free, and no other task gets it', async () => {
    const tasks = [
      { id: 2, title: 'A', subtasks: [{ id: 1, title: 'a' }] },
      { id: 3, title: 'B' },
      { id: 5, title: 'C' },
    ]
    const cwd = repository({
      'tasks.json': JSON.stringify({ tasks }),
      'docs/tasks/T-003.md': '# T-003: Mine\n\n- **Status**: TODO\n',
    })
    const added = async (path: string): Promise<unknown> =>
      ((await jsonOf(cwd, 'import', path)) as { added: { id: string; origin: string }[] }).added.map(
        ({ id, origin }) => `${id} ${origin}`,
      )
    expect(await added('tasks.json')).toEqual(['T-006 2.1', 'T-007 3', 'T-005 5'])
    put(cwd, {
      'prd.json': prd(story('9', { priority: 2 }), story('8', { priority: 3 }), story('10', { priority: 1 })),
    })
    expect(await added('prd.json')).toEqual(['T-008 10', 'T-009 9', 'T-010 8'])
  })

  test('of a folder too, and below the root of the repository', async () => {
    const sample = SAMPLES.find(({ format }) => format === 'backlog-md')!
    const files = Object.fromEntries(
      Object.entries(sample.files).map(([file, text]) => [`shop/${file}`, text]),
    )
    const cwd = join(repository({ ...files, 'shop/package.json': '{}' }), 'shop')
    await by(cwd, 'import', 'backlog')
    const file = 'backlog/tasks/back-2 - Make-users.md'
    writeFileSync(join(cwd, file), read(cwd, file).replace('Keep them.', 'Keep them all.'))
    expect(await jsonOf(cwd, 'import', 'backlog')).toMatchObject({
      added: [],
      changed: [{ id: 'T-001', origin: 'BACK-2' }],
      both: [],
    })
    expect(read(cwd, 'docs/tasks/T-001.md')).toContain('Keep them all.')
  })

  test('milestones get numbers that stand for nothing else', async () => {
    const cwd = repository({
      'A.md': '## One\n- [ ] a\n## Two\n- [ ] b\n',
      'B.md': '## Three\n- [ ] c\n## Two\n- [ ] d\n',
    })
    await by(cwd, 'import', 'A.md')
    await by(cwd, 'import', 'B.md')
    expect(read(cwd, 'docs/tasks/T-003.md')).toContain('**Milestone**: 3 — Three')
    expect(read(cwd, 'docs/tasks/T-004.md')).toContain('**Milestone**: 2 — Two')
  })

  test('what lies outside is not read, nor what is too large, nor what is no text', async () => {
    const cwd = repository({
      'prd.json': prd(story('a')),
      'bytes.json': Buffer.from([0xff, 0xfe, 0]).toString('latin1'),
    })
    const outside = join(projectFolder({ 'prd.json': prd(story('secret')) }), 'prd.json')
    symlinkSync(outside, join(cwd, 'link.json'))
    put(cwd, { 'bytes.json': Buffer.from([0xff, 0xfe, 0]), 'large.json': '' })
    truncateSync(join(cwd, 'large.json'), 100_000_000)
    const said = async (path: string): Promise<string> =>
      (await by(cwd, 'import', path)).stderr.split('\n')[0]!
    expect(await said('link.json')).toBe('error: link.json is a link that leads out of the project')
    expect(await said(outside)).toContain('is outside of the project')
    expect(await said('large.json')).toBe(
      'error: large.json has 95 MB: a backlog of more than 16 MB is not read',
    )
    expect(await said('bytes.json')).toBe('error: bytes.json is not valid UTF-8')
    expect(await said('nowhere.json')).toBe('error: there is no file or folder nowhere.json')
    expect(await said('package.json')).toBe('error: package.json is no backlog that ralph knows')
  })
})

test('ralph plan --from makes the tasks of a document, and again only what has changed', async () => {
  const spec = '# Shop\n\n## Users\n\n### Log in\n\nWith a password.\n\n- [ ] An empty one is refused\n'
  const cwd = repository({ 'docs/spec.md': spec })
  expect((await by(cwd, 'plan', '--from', 'docs/spec.md', '--dry-run')).stdout).toContain('1 task to import')
  expect(existsSync(join(cwd, 'docs/tasks'))).toBe(false)
  expect((await by(cwd, 'plan', '--from', 'docs/spec.md')).code).toBe(0)
  expect(read(cwd, 'docs/tasks/T-001.md')).toBe(
    '# T-001: Log in\n\n- **Status**: TODO\n- **Milestone**: 1 — Users\n- **Depends**: none\n- **Context**: `docs/spec.md`\n- **Provenance**: system\n- **Origin**: `docs/spec.md#log-in`\n\n## Description\n\nWith a password.\n\n## Acceptance Criteria\n\n- [ ] An empty one is refused\n',
  )
  put(cwd, { 'docs/spec.md': `${spec}- [ ] Five failures lock it\n\n### Pay\n\nBy card.\n` })
  expect(await jsonOf(cwd, 'plan', '--from', 'docs/spec.md')).toMatchObject({
    added: [{ id: 'T-002' }],
    changed: [{ id: 'T-001' }],
  })
  expect((await by(cwd, 'plan')).stderr).toContain('there is nothing to plan')
  for (const extra of [['--yes'], ['--budget', '5'], ['more.md']]) {
    const { code, stderr } = await by(cwd, 'plan', '--from', 'docs/spec.md', ...extra)
    expect(code).toBe(2)
    expect(stderr).toContain(`Leave out ${extra[0]}; or have an agent plan: ralph plan docs/spec.md\n`)
  }
  expect((await by(cwd, 'import', 'docs/spec.md')).stdout).toContain('(checklist)')
})

test('a number that somebody took meanwhile is not written over', async () => {
  const cwd = repository({ 'docs/tasks/T-001.md': '# T-001: Mine\n\n- **Status**: TODO\n' })
  const { signal } = new AbortController()
  const self = ['ralph'] as const
  const world = { cwd, env, self, pid: process.pid, now: () => new Date(), signal, urgent: signal }
  const texts = new Map([['docs/tasks/T-001.md', 'theirs']])
  const asked = commitTaskFiles(world, { root: cwd, texts, added: [...texts.keys()], message: 'Import' })
  await expect(asked).rejects.toThrow('docs/tasks/T-001.md was created meanwhile')
  expect(read(cwd, 'docs/tasks/T-001.md')).toContain('Mine')
})

describe('a folder with the backlog of another tool', () => {
  test('next and init say what to import', async () => {
    const cwd = repository({ 'prd.json': prd(story('a')) })
    expect((await by(cwd, 'next')).stderr).toContain('ralph import prd.json')
    const { stdout } = await by(cwd, 'init', '--yes')
    expect(stdout).toContain('Next: ralph import prd.json, then ralph next')
    expect(existsSync(join(cwd, 'docs/tasks/T-001.md'))).toBe(false)
    mkdirSync(join(cwd, 'docs/tasks'), { recursive: true })
    expect((await by(cwd, 'next')).stdout).toContain('ralph import prd.json reads the backlog there.')
  })
})

describe('--sync', () => {
  const SCRIPT = (script: string): string => `\n## Script\n\n\`\`\`sh\n${script}\n\`\`\`\n`

  /** A synced backlog of two stories, whose tasks carry these scripts. */
  async function synced(...scripts: readonly string[]): Promise<string> {
    const cwd = repository(
      { 'prd.json': prd(...scripts.map((_, index) => story(`US-${index + 1}`))) },
      CONFIG,
    )
    const { code, stdout } = await by(cwd, 'import', 'prd.json', '--sync')
    expect([code, stdout]).toEqual([0, expect.stringContaining('written back to prd.json')])
    for (const [index, script] of scripts.entries())
      appendFileSync(join(cwd, `docs/tasks/T-00${index + 1}.md`), SCRIPT(script))
    git(cwd, 'commit', '--all', '--quiet', '--message=Scripts')
    return cwd
  }
  const run = (cwd: string, ...argv: string[]): Promise<Answer> =>
    by(cwd, 'run', '--agent', 'script', '--baseline', 'off', '--retries', '0', ...argv)
  const passes = (cwd: string, revision = 'HEAD'): readonly boolean[] =>
    (
      JSON.parse(git(cwd, 'show', `${revision}:prd.json`)) as { userStories: { passes: boolean }[] }
    ).userStories.map((one) => one.passes)

  test('is kept in the configuration, in its style', async () => {
    const cwd = await synced('true')
    expect(JSON.parse(read(cwd, 'ralph.config.json'))).toEqual({
      ...CONFIG,
      bridges: [{ path: 'prd.json', as: 'prd-json', sync: true }],
    })
    const yaml = repository({
      'prd.json': prd(story('a')),
      'TODO.md': '- [ ] b\n',
      'ralph.config.yaml': '# ours\nretries: 1 # few',
    })
    await by(yaml, 'import', 'prd.json', '--sync')
    await by(yaml, 'import', 'TODO.md', '--sync')
    expect(read(yaml, 'ralph.config.yaml')).toBe(
      '# ours\nretries: 1 # few\nbridges:\n  - path: "prd.json"\n    as: prd-json\n    sync: true\n  - path: "TODO.md"\n    as: checklist\n    sync: true\n',
    )
    expect((await by(yaml, 'lint')).code).toBe(0)
  })

  test('the status is in the commit of the task itself', async () => {
    const cwd = await synced('echo 1 > one', 'echo 2 > two')
    const before = read(cwd, 'prd.json')
    await run(cwd, '--loop')
    expect(git(cwd, 'show', '--format=', '--name-only', 'HEAD~1').split('\n')).toEqual([
      'docs/tasks/T-001.md',
      'one',
      'prd.json',
    ])
    expect([passes(cwd, 'HEAD~1'), passes(cwd)]).toEqual([
      [true, false],
      [true, true],
    ])
    expect(read(cwd, 'prd.json')).toBe(before.replaceAll('"passes": false', '"passes": true'))
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    expect((await by(cwd, 'verify')).code).toBe(0)
    expect((await by(cwd, 'import', 'prd.json')).stdout).toContain('Nothing is new')
  })

  test("an agent's edit of the origin is left out, and shown", async () => {
    const cwd = await synced('echo 1 > one; echo "{}" > prd.json')
    const { stdout } = await run(cwd)
    expect(stdout).toContain('the agent changed a synced backlog: left out prd.json')
    expect(passes(cwd)).toEqual([true])
    expect(git(cwd, 'status', '--porcelain')).toBe('')
  })

  test('a hook that changes the commit has the origin checked with it', async () => {
    const cwd = await synced('echo 1 > one')
    put(cwd, { '.git/hooks/pre-commit': '#!/bin/sh\necho more >> one\ngit add one\n' })
    const { stdout } = await run(cwd, '--gate', 'grep -q false prd.json || ! grep -q more one')
    expect(stdout).toContain('a commit hook changed one')
    expect(passes(cwd)).toEqual([false])
    expect(git(cwd, 'status', '--porcelain', 'prd.json', 'docs')).toBe('')
  })

  test('blocked and tried again, by hand too', async () => {
    const sample = SAMPLES.find(({ format }) => format === 'db')!
    const cwd = repository(sample.files, CONFIG)
    await by(cwd, 'import', sample.path, '--sync')
    const status = (): string => /^ {2}status: '(\w+)'/m.exec(git(cwd, 'show', `HEAD:${sample.path}`))![1]!
    await by(cwd, 'block', 'T-002', 'no key')
    expect(status()).toBe('blocked')
    expect(read(cwd, sample.path)).toContain('- author: human\n      body: "Blocked: no key"')
    await by(cwd, 'retry', 'T-002')
    expect(status()).toBe('pending')
    expect((await by(cwd, 'complete', 'T-002')).code).toBe(0)
    expect(status()).toBe('done')
  })

  test('lint tells where the two disagree', async () => {
    const cwd = await synced('true', 'true')
    put(cwd, { 'prd.json': prd(story('US-1', { passes: true })) })
    const { stdout } = await by(cwd, 'lint')
    expect(stdout).toContain('origin-status the task is TODO, and US-1 in prd.json is DONE')
    expect(stdout).toContain('origin-status US-2 is not in prd.json any more')
  })

  test('what no commit could hold is refused', async () => {
    const cwd = repository({ '.gitignore': 'ignored.json\n' })
    put(cwd, { 'new.json': prd(story('a')), 'ignored.json': prd(story('a')) })
    const said = async (path: string): Promise<string> => (await by(cwd, 'import', path, '--sync')).stderr
    expect(await said('new.json')).toContain('new.json is not committed')
    expect(await said('ignored.json')).toContain('git ignores ignored.json')
    put(cwd, { '.ralph/tasks/task-1.json': '{"id":"1","title":"One"}' })
    expect(await said('.ralph')).toContain('.ralph/tasks is read, and never written')
    expect(existsSync(join(cwd, 'docs/tasks'))).toBe(false)
  })
})

describe('ralph export', () => {
  test.each([
    ['implementation.json', 'implementation', '"id": "avatars-1"'],
    ['spectr/changes/add-roots/tasks.jsonc', 'tasks-jsonc', '"section": "Discovery"'],
  ])('of %s gives the same after another import', async (path, as, part) => {
    const cwd = repository(SAMPLES.find((one) => one.path === path)!.files)
    await by(cwd, 'import', path)
    const first = (await by(cwd, 'export', '--as', as)).stdout
    const again = repository({ [path]: first })
    await by(again, 'import', path)
    expect((await by(again, 'export', '--as', as)).stdout).toBe(first)
    expect(first).toContain(part)
  })

  test.each([
    ['implementation.json', 'implementation', 'out/implementation.json'],
    ['spectr/changes/add-roots/tasks.jsonc', 'tasks-jsonc', 'out/tasks.jsonc'],
    ['.ralph/db/tasks.yaml', 'db', 'out'],
    ['keyed/tasks.yaml', 'db', 'out'],
  ])('of what came from %s is that, byte for byte, but for the statuses', async (path, as, output) => {
    const { files } = SAMPLES.find((one) => one.path === path)!
    const cwd = repository(files)
    await by(cwd, 'import', path)
    const exported = async (): Promise<string> => {
      rmSync(join(cwd, 'out'), { recursive: true, force: true })
      await by(cwd, 'export', '--as', as, '-o', output)
      return readdirSync(join(cwd, 'out'))
        .map((name) => read(cwd, `out/${name}`))
        .join('')
    }
    const before = await exported()
    const names = Object.keys(files).filter((file) => !file.endsWith('.md'))
    for (const file of names) expect(before).toContain(files[file])
    const file = 'docs/tasks/T-002.md'
    writeFileSync(
      join(cwd, file),
      read(cwd, file).replace('TODO', 'BLOCKED').replace('\n## ', '\n## Blocked\n\nNo key\n\n## '),
    )
    const blocked = await exported()
    // A change has no word for it.
    if (as === 'tasks-jsonc') expect(blocked).toBe(before)
    else expect(blocked).toMatch(/blocked/)
    writeFileSync(join(cwd, file), read(cwd, file).replace(/^(# T-002: ).*/m, '$1Another title'))
    if (as !== 'tasks-jsonc') expect(await exported()).toContain('Another title')
  })

  test('of a change keeps the numbers of its tasks', async () => {
    const tasks = Array.from({ length: 11 }, (_, at) => ({
      id: `1.${at + 1}`,
      section: 'A',
      description: `Do ${at}`,
    }))
    const cwd = repository({ 'x/tasks.jsonc': JSON.stringify({ version: 1, tasks: tasks.slice(8) }) })
    await by(cwd, 'import', 'x')
    writeFileSync(
      join(cwd, 'docs/tasks/T-001.md'),
      read(cwd, 'docs/tasks/T-001.md').replaceAll('Do 8', 'Do it'),
    )
    const { stdout } = await by(cwd, 'export', '--as', 'tasks-jsonc')
    expect([...stdout.matchAll(/"id": "(.*)"/g)].map(([, id]) => id)).toEqual(['1.9', '1.10', '1.11'])
  })

  test('of the db gives the same after another import, with its documents', async () => {
    const files = {
      ...SAMPLES.find(({ format }) => format === 'db')!.files,
      '.ralph/db/disciplines.yaml':
        '- name: backend\n  display_name: Back end\n  acronym: BE\n  icon: "🛠"\n  skills: [Go, SQL]\n  system_prompt: |\n    You write servers.\n\n    Small ones.\n  conventions: Small commits\n  mcp_servers: [{name: fs, command: npx, args: [-y, fs], env: {A: b}}]\n',
      '.ralph/db/features.yaml':
        '- name: auth\n  display_name: Log in\n  acronym: AU\n  description: Who is who\n  created: "2026-01-01"\n  knowledge_paths: [docs/a.md]\n  context_files: [src/a.ts]\n',
    }
    const cwd = repository(files)
    await by(cwd, 'import', '.ralph/db')
    rmSync(join(cwd, '.ralph/db'), { recursive: true })
    await by(cwd, 'export', '--as', 'db', '-o', 'out')
    const names = ['disciplines', 'features', 'tasks'].map((name) => `${name}.yaml`)
    const again = repository(
      Object.fromEntries(names.map((name) => [`.ralph/db/${name}`, read(cwd, `out/${name}`)])),
    )
    await by(again, 'import', '.ralph/db')
    rmSync(join(again, '.ralph/db'), { recursive: true })
    await by(again, 'export', '--as', 'db', '-o', 'out')
    for (const name of names) expect(read(again, `out/${name}`)).toBe(read(cwd, `out/${name}`))
    for (const text of [
      'system_prompt: |-\n      You write servers.\n\n      Small ones.',
      'conventions: Small commits',
      'A: b',
    ])
      expect(read(cwd, 'out/disciplines.yaml')).toContain(text)
    expect(read(cwd, 'out/features.yaml')).toContain('created: "2026-01-01"')
    expect(read(cwd, 'out/tasks.yaml')).toContain('agent_task_id: run-7')
    expect(read(cwd, 'out/tasks.yaml')).toMatch(/^tasks:\n  - id: 1\n/)
  })

  test('as state and as JSON', async () => {
    const cwd = repository({ 'prd.json': prd(story('a', { passes: true }), story('b')) })
    await by(cwd, 'import', 'prd.json')
    expect(JSON.parse((await by(cwd, 'export', '--as', 'state')).stdout)).toMatchObject({
      version: '1.0',
      phase: 'planning_complete',
      task_order: ['T-001', 'T-002'],
      task_statuses: { 'T-001': 'completed', 'T-002': 'pending' },
      last_failure: null,
    })
    const { tasks } = JSON.parse((await by(cwd, 'export', '--as', 'json')).stdout) as { tasks: object[] }
    expect(tasks[1]).toMatchObject({
      id: 'T-002',
      title: 'Do b',
      criteria: [{ text: 'It is done', met: false }],
    })
  })

  test('as state keeps what a plan and a failure wrote, before there are tasks too', async () => {
    const failure = { task_id: 'T-001', error_message: 'no key' }
    const state = { original_request: 'A shop', phase: 'decisions', last_failure: failure }
    const cwd = repository({ '.ralph/state.json': JSON.stringify(state) })
    const exported = async (): Promise<unknown> =>
      JSON.parse((await by(cwd, 'export', '--as', 'state')).stdout)
    expect(await exported()).toMatchObject({ ...state, task_order: [] })
    put(cwd, { 'docs/tasks/T-001.md': '# T-001: One\n\n- **Status**: TODO\n' })
    expect(await exported()).toMatchObject({ ...state, phase: 'planning_complete', task_order: ['T-001'] })
  })

  test('overwrites nothing', async () => {
    const cwd = repository({ 'prd.json': prd(story('a')), '.ralph/state.json': '{"mine": true}' })
    await by(cwd, 'import', 'prd.json')
    const { code, stderr } = await by(cwd, 'export', '--as', 'state', '-o', '.ralph/state.json')
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('is there already, and nothing is overwritten'),
    ])
    expect(read(cwd, '.ralph/state.json')).toBe('{"mine": true}')
    expect((await by(cwd, 'export', '--as', 'db')).stderr).toContain('db is three files')
    expect((await by(cwd, 'export')).stderr).toContain('--as is missing')
  })
})

test('reading starts nothing that the repository names', async () => {
  const cwd = repository({ 'prd.json': prd(story('a')), '.gitattributes': '*.json filter=evil\n' })
  const pwned = join(cwd, '.git', 'pwned')
  git(cwd, 'config', 'filter.evil.clean', `touch '${pwned}'; cat`)
  for (const argv of [['next'], ['lint'], ['export', '--as', 'json'], ['import', 'package.json']])
    await by(cwd, ...argv)
  expect(existsSync(pwned)).toBe(false)
  expect(execFileSync('git', ['config', 'filter.evil.clean'], { cwd, env, encoding: 'utf8' })).toContain(
    'touch',
  )
})
