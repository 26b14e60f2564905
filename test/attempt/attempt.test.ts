import { describe, expect, it } from 'vitest'
import { attempt, type Result } from '../../src/engine/attempt.ts'
import type { Job } from '../../src/engine/job.ts'
import type { Happening } from '../../src/engine/events/event.ts'
import { Control } from '../../src/engine/control.ts'
import { Ledger } from '../../src/engine/ledger.ts'
import { NoteKeeper } from '../../src/engine/note.ts'
import { prepare } from '../../src/engine/prepare.ts'
import { attemptPorts } from '../../src/engine/run-parts.ts'
import { git, put } from '../repository.ts'
import { log, makeProject, runAll, status, taskText, those } from '../run/harness.ts'
import { choiceOf, gateOf, makePorts, OPTIONS, type Deed } from '../run/ports.ts'

/** Makes one attempt at T-1 of a new project, by the job as `change` leaves it. */
async function attemptBy(
  deed: Deed,
  change: (job: Job) => Job = (job) => job,
): Promise<{ readonly root: string; readonly result: Result; readonly events: readonly Happening[] }> {
  const rest = '\n## Produces\n- `src/`\n\n## Script\n```sh\ntrue\n```\n'
  const root = makeProject({ 'T-1': taskText('T-1', { rest }), 'T-2': taskText('T-2') })
  const ports = await makePorts({ root, deed, gate: () => true })
  const base = { head: git(root, 'rev-parse', 'HEAD'), branch: 'main' }
  await ports.source.at(base.head)
  const [task] = ports.source.tasks()
  const slot = ports.slots.get(1)
  await slot.bringWork(base.head, null)
  const [work, check] = [
    await ports.slots.programs(slot, slot.work),
    await ports.slots.programs(slot, slot.check),
  ]
  const { job } = await prepare(
    {
      task: task!,
      choice: choiceOf('fake', { mcpServers: { docs: { command: 'x', args: [], env: {} } } }),
      base,
      from: { kind: 'base' },
      waits: 0,
      endlessWaits: new Map(),
      left: { usd: 1.5, tokens: null },
      token: 'token',
    },
    {
      options: { ...OPTIONS, gates: [gateOf('test')] },
      ledger: new Ledger([]),
      ports: { ...ports, prompt: ports.slots.prompt(slot.work), origins: [] },
    },
  )
  const events: Happening[] = []
  const emit = (event: Happening): void => void events.push(event)
  const note = new NoteKeeper(
    ports.folder.note,
    { mark: '', spentUsd: null, spentTokens: null, jobs: [] },
    ports.now,
  ).of(1)
  const place = { slot, work, check, note, emit }
  const result = await attempt(change(job), attemptPorts({ ports }, place), emit)
  return { root, result, events }
}

const throughJson = (job: Job): Job => JSON.parse(JSON.stringify(job)) as Job

/** What two attempts that are the same have in common. */
function essence({ root, result, events }: Awaited<ReturnType<typeof attemptBy>>): unknown {
  const kinds = events.map(({ type }) => type)
  if (result.kind === 'failed')
    return { kinds, outcome: result.outcome, decision: result.decision, tree: result.tree }
  const { candidate } = result
  return {
    kinds,
    candidate: { ...candidate, base: '', commit: '', parents: [], seconds: 0, keptAt: 0 },
    files: git(root, 'ls-tree', '-r', candidate.commit),
  }
}

describe('a job', () => {
  it.each<[string, Deed]>([
    ['passes', () => undefined],
    ['fails', () => ({ end: { kind: 'crashed', reason: 'boom' } })],
    ['interferes', () => undefined],
  ])('that goes through JSON %s the same', async (how, end) => {
    const deed: Deed = (request) => {
      put(request.cwd, { 'src/a.ts': 'a\n' })
      if (how === 'interferes') put(request.cwd, { 'docs/tasks/T-2.md': 'changed' })
      return end(request)
    }
    const both = await Promise.all(
      [(job: Job) => job, throughJson].map((change) => attemptBy(deed, change).then(essence)),
    )
    expect(both[1]).toEqual(both[0])
  })
})

describe('an attempt', () => {
  it('whose work passes changes nothing but its slot, and makes a candidate', async () => {
    const { root, result, events } = await attemptBy(({ cwd }) => put(cwd, { 'src/a.ts': 'a\n' }))
    expect(result.kind).toBe('passed')
    expect(log(root)).toBe('Begin')
    expect(status(root)).toBe('')
    const ref = 'refs/ralph/candidates/T-1/1-token'
    expect(git(root, 'log', '-1', '--format=%s %P', ref)).toBe(
      `T-1: attempt 1: done ${git(root, 'rev-parse', 'HEAD')}`,
    )
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Gates,valueonly)', ref)).toBe('test')
    expect(events.map(({ type }) => type)).toEqual([
      'attempt-started',
      'agent-started',
      'agent-usage',
      'gate-started',
      'gate-finished',
      'witness',
      'candidate-ready',
    ])
  })
})

describe('control of a run', () => {
  it('skips a task: its attempt is kept, counts for nothing, and the task stays TODO', async () => {
    const root = makeProject(2)
    const control = new Control()
    const events = await runAll({
      root,
      deed: ({ cwd, task, signal }) => {
        put(cwd, { [task.id]: 'work' })
        if (task.id !== 'T-1') return undefined
        control.skip('T-1')
        expect(signal.aborted).toBe(true)
        return { end: { kind: 'interrupted' } }
      },
      ports: { control },
    })
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-2'], failed: ['T-1'] }])
    expect(those(events, 'attempt-finished')[0]).toMatchObject({ outcome: 'skipped' })
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:T-1')).toBe('work')
    expect(log(root)).toBe('T-2: Do T-2\nBegin')
    expect(status(root)).toBe('')
  })
})
