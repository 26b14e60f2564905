import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { StartedProcess } from '../../src/process/started.ts'
import { thisMachine, startOf } from '../../src/process/table.ts'
import { newMark } from '../../src/process/mark.ts'
import { readNote } from '../../src/engine/note.ts'
import { makeProject, runAll, taskText, those } from './harness.ts'

describe.skipIf(process.platform === 'win32')('what a run has started', () => {
  it('is ended by the next one, also where no mark shows it', async () => {
    const root = makeProject({ 'T-001': taskText('T-001') })
    await runAll({ root })
    const agent = spawn('sleep', ['60'], { detached: true, env: { PATH: process.env['PATH'] } })
    const pid = agent.pid!
    const { boot } = await thisMachine()
    const noted: StartedProcess = { pid, group: pid, startedAt: (await startOf(pid))!, boot }
    const note = { version: 3, mark: newMark(), processes: [noted], startedAt: '', spentUsd: null }
    writeFileSync(join(root, '.ralph/run.json'), JSON.stringify({ ...note, jobs: [], move: null }))
    const gone = once(agent, 'exit')
    const events = await runAll({ root })
    expect(await gone).toEqual([null, 'SIGTERM'])
    expect(those(events, 'recovered').map(({ message }) => message)).toEqual([
      'ended what the last run had left running: sleep 60',
    ])
  })

  it('stands in the note while it runs', async () => {
    const root = makeProject({ 'T-001': taskText('T-001') })
    const noted = { pid: 12, group: 12, startedAt: '34', boot: 'b' }
    let tellNote: (living: readonly StartedProcess[]) => void = () => undefined
    const seen: unknown[] = []
    await runAll({
      root,
      deed: () => {
        tellNote([noted])
        seen.push(JSON.parse(readFileSync(join(root, '.ralph/run.json'), 'utf8')))
      },
      ports: {
        onStarted: (listener) => {
          tellNote = listener
          return () => undefined
        },
      },
    })
    expect(seen[0]).toMatchObject({ processes: [noted] })
  })
})

it('a note that is not whole, or of another version of ralph, is no note', () => {
  const path = join(makeProject({}), 'run.json')
  const texts = ['half a li', JSON.stringify({ version: 1, mark: 'a', jobs: [] })]
  const read = texts.map((text) => (writeFileSync(path, text), readNote(path)))
  expect(read).toEqual([null, null])
})
