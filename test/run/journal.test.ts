import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { openJournal } from '../../src/engine/journal.ts'
import { makeFolder, put } from '../repository.ts'
import { makeProject, read, runAll } from './harness.ts'

const linesOf = (root: string, file: string): readonly RunEvent[] =>
  read(root, file)!
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RunEvent)

describe('the journal', () => {
  it('holds every event of a run as it was emitted, and begins with its version and name', async () => {
    const root = makeProject()
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { work: '' })
        return { events: [{ type: 'text', text: 'I look around.' }] }
      },
    })
    const name = readdirSync(join(root, '.ralph/logs')).find((file) => file.startsWith('run-')) ?? ''
    expect(linesOf(root, `.ralph/logs/${name}`)).toEqual(JSON.parse(JSON.stringify(events)))
    expect(events[0]).toMatchObject({ type: 'run-started', version: 1, run: name.slice(4, -7) })
    expect(events.map(({ type }) => type)).toContain('agent-text')
  })

  it('holds of what an agent says only so much, for each attempt', () => {
    const root = makeFolder()
    const journal = openJournal(join(root, 'logs'), 'x')
    const at = '2026-01-01T00:00:00.000Z'
    const started = { at, type: 'attempt-started', id: 'T-1', attempt: 1, counted: 1, most: 4 } as const
    const begin: RunEvent = { ...started, agent: 'fake', model: null, log: '' }
    const say: RunEvent = { at, type: 'agent-text', id: 'T-1', text: 'x'.repeat(10_000) }
    journal(begin)
    for (let i = 0; i < 50; i++) journal(say)
    journal({ at, type: 'stopping' })
    const first = linesOf(root, 'logs/run-x.ndjson')
    expect(first.length).toBeLessThan(32)
    expect(first.at(-2)).toMatchObject({ type: 'agent-text', text: expect.stringContaining('its log does') })
    expect(first.at(-1)).toMatchObject({ type: 'stopping' })
    journal(begin)
    journal(say)
    expect(linesOf(root, 'logs/run-x.ndjson')).toHaveLength(first.length + 2)
  })

  it('goes on where somebody has removed it', () => {
    const root = makeFolder()
    const journal = openJournal(join(root, 'logs'), 'x')
    journal({ at: '', type: 'paused' })
    rmSync(join(root, 'logs'), { recursive: true })
    journal({ at: '', type: 'resumed' })
    expect(linesOf(root, 'logs/run-x.ndjson')).toMatchObject([{ type: 'resumed' }])
  })
})
