import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type * as Library from '../src/index.ts'
import type { RunEvent } from '../src/index.ts'
import { env, git, put, taskText } from './repository.ts'
import { jsonOf } from './cli/ralph.ts'
import { repository } from './cli/script-repository.ts'

const here = fileURLToPath(new URL('..', import.meta.url))

/** As a program has it that installed ralph. */
const built = (await import(new URL('../dist/index.js', import.meta.url).href)) as typeof Library
const { openProject, openHistory, run } = built

async function eventsOf(events: AsyncIterable<RunEvent>): Promise<readonly RunEvent[]> {
  const seen: RunEvent[] = []
  for await (const event of events) seen.push(event)
  return seen
}

const SCRIPT = { agent: 'script', baseline: 'off' } as const

describe('the library', () => {
  it('reads a backlog, decides, and checks', async () => {
    const { tasks } = await built.readBacklog({ root: join(here, 'test/cli/fixtures/shop') })
    expect(built.selectNext(tasks)?.id).toBe('T-004')
    const eligible = built.select(tasks).eligible.map((task) => [task.id, built.tierOf(task).tier])
    expect(eligible).toEqual([['T-004', 'Standard']])
    expect(built.lint(tasks).map(({ rule }) => rule)).toContain('missing-dependency')
  })

  it('runs tasks as an async iterator, and then knows what was done', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt', 'T-002': 'echo two > two.txt' })
    const events = await eventsOf(run(await openProject(cwd), { ...SCRIPT, loop: true }))
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['run-started', 'attempt-started', 'task-completed', 'run-finished']),
    )
    const project = await openProject(cwd)
    const history = openHistory(project)
    expect((await history.completions()).map(({ id, milestone }) => [id, milestone])).toEqual([
      ['T-002', null],
      ['T-001', null],
    ])
    expect((await history.completions('HEAD~1..HEAD')).map(({ id }) => id)).toEqual(['T-002'])
    expect((await history.verify()).tasks.map(({ state }) => state)).toEqual(['matches', 'matches'])
    expect((await history.stats('agent')).groups).toMatchObject([{ name: 'script', tasks: 2 }])
    expect((await history.diff('HEAD~2..HEAD')).completed.map(({ id }) => id)).toEqual(['T-001', 'T-002'])
  })

  it('can be controlled: stopped after an attempt, and by who reads no further', async () => {
    const cwd = repository({ 'T-001': 'echo > 1', 'T-002': 'echo > 2', 'T-003': 'echo > 3' })
    const first = run(await openProject(cwd), { ...SCRIPT, loop: true })
    for await (const { type } of first) if (type === 'attempt-started') first.stop('after-attempt')
    const done = async () => (await openProject(cwd)).selection.counts.DONE
    expect(await done()).toBe(1)
    for await (const { type } of run(await openProject(cwd), { ...SCRIPT, loop: true }))
      if (type === 'task-completed') break
    expect(await done()).toBe(2)
    const kept = await openHistory(await openProject(cwd)).attempts('T-003')
    expect(kept.every(({ outcome }) => outcome === 'interrupted')).toBe(true)
  })

  it('throws what keeps a run from beginning to who reads it', async () => {
    const cwd = repository({ 'T-001': 'true' })
    git(cwd, 'config', 'commit.gpgSign', 'true')
    git(cwd, 'config', 'gpg.program', '/no/such/program')
    await expect(eventsOf(run(await openProject(cwd), SCRIPT))).rejects.toThrow(built.UserError)
    expect(() => run({} as never)).not.toThrow()
  })

  it('checks and mends texts, and writes nothing', async () => {
    const cwd = repository({ 'T-001': 'true' })
    const text = taskText('T-002', 'Pay', { Status: 'todo', Depends: 'T-1' })
    writeFileSync(join(cwd, 'docs/tasks/T-002.md'), text)
    const project = await openProject(cwd)
    const found = await built.lintProject(project)
    expect(found.find(({ rule }) => rule === 'status-case')?.fix?.text).toBe('TODO')
    const fixed = await built.fixTasks(project.tasks)
    expect([...fixed]).toEqual([
      ['docs/tasks/T-002.md', taskText('T-002', 'Pay', { Status: 'TODO', Depends: 'T-001' })],
    ])
    expect(readFileSync(join(cwd, 'docs/tasks/T-002.md'), 'utf8')).toBe(text)
  })

  it('finds what ralph lint finds, in disciplines too', async () => {
    const cwd = repository({ 'T-001': 'true' })
    put(cwd, { 'docs/disciplines/backend.md': '- **Agent**: nobody\n' })
    const { diagnostics } = await jsonOf(cwd, 'lint')
    expect(diagnostics).toMatchObject([{ file: 'docs/disciplines/backend.md' }])
    expect(await built.lintProject(await openProject(cwd))).toEqual(diagnostics)
  })

  it('has the prompt and the graph', async () => {
    const cwd = repository({ 'T-001': 'true' })
    const project = await openProject(cwd)
    const { text, estimate } = await built.promptFor(project, '1')
    expect(text).toContain('Do T-001')
    expect(estimate).toBeGreaterThan(50)
    expect(built.mermaidOf(project.selection.states)).toContain('T1["T-001: Do T-001"]')
    expect(built.findCycles(project.tasks)).toEqual([])
  })
})

describe('examples/dashboard.mjs', () => {
  it('shows a backlog, and has its next task done', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' }, { baseline: 'off' })
    const packages = join(cwd, 'node_modules')
    mkdirSync(packages)
    symlinkSync(here, join(packages, 'ralph-tasks'))
    writeFileSync(join(cwd, '.git/info/exclude'), 'node_modules\ndashboard.mjs\n')
    writeFileSync(join(cwd, 'dashboard.mjs'), readFileSync(join(here, 'examples/dashboard.mjs')))
    const child = spawn(process.execPath, ['dashboard.mjs', '.', '0', 'script'], { cwd, env })
    onTestFinished(() => void child.kill())
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const url = line.toString().trim()
    expect(await (await fetch(url)).text()).toContain('<h1>0 of 1 done</h1>')
    const stream = (await fetch(`${url}/events`)).body!.pipeThrough(new TextDecoderStream())
    await fetch(`${url}/run`, { method: 'POST', redirect: 'manual' })
    let heard = ''
    for await (const text of stream) {
      heard += text
      if (heard.includes('"run-finished"')) break
    }
    expect(heard).toContain('"type":"task-completed"')
    expect(await (await fetch(url)).text()).toContain('<li>T-001 Do T-001')
    const foreign = { method: 'POST', headers: { origin: 'http://evil.example' } }
    expect((await fetch(`${url}/run`, foreign)).status).toBe(404)
  })
})
