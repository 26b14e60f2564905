import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectAllLanded, gated, isType, start, those, type Going } from './machines.ts'

const RUN = ['run', '--loop', '--queue', 'embedded']

/** Looks until something is so: a file that another process makes says nothing by itself. */
function until(isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (!isSo()) return
      clearInterval(timer)
      resolve()
    }, 10)
  })
}

async function kill({ child, ended }: Going): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

function queueOf(at: string): { readonly folder: string; readonly port: () => number } {
  const folder = join(at, '.ralph/queue')
  return { folder, port: () => Number(readFileSync(join(folder, 'port'), 'utf8')) }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => resolve(true))
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy())
  })
}

describe('the embedded queue', () => {
  it.each([
    ['data/PG_VERSION', 'files that are being made'],
    ['port', 'one that just answers'],
  ])('starts again where its run was killed with %s there: %s', async (file) => {
    const { machines, open } = gated(2)
    open()
    const at = machines.clone('run')
    const { folder } = queueOf(at)
    const first = start(at, RUN)
    await until(() => existsSync(join(folder, file)))
    await kill(first)
    const second = start(at, RUN)
    await second.until(isType('run-started'))
    start(at, ['worker', '--queue', 'embedded'])
    expect(await second.ended).toEqual({ code: 0, stderr: '' })
    expectAllLanded(machines, at, 2)
  })

  it.each([
    ['control file is gone', 'cannot be opened', (data: string) => rmSync(join(data, 'global/pg_control'))],
    ['version is none', 'cannot be opened', (data: string) => writeFileSync(join(data, 'PG_VERSION'), 'x')],
    [
      'start was cut short',
      'was ended while it started',
      (data: string) => writeFileSync(`${data}/../starting`, ''),
    ],
  ])('says that it begins anew where its %s, and does the rest', async (_, why, damage) => {
    const { machines, open } = gated(2)
    open()
    const at = machines.clone('run')
    const first = start(at, [...RUN, '--max-tasks', '1'])
    await first.until(isType('run-started'))
    start(at, ['worker', '--queue', 'embedded'])
    expect((await first.ended).code).toBe(0)
    damage(join(queueOf(at).folder, 'data'))
    const second = start(at, RUN)
    await second.until(isType('run-started'))
    start(at, ['worker', '--queue', 'embedded'])
    expect(await second.ended).toEqual({ code: 0, stderr: '' })
    const said = those(second, 'warning').map(({ message }) => message)
    expect(said).toEqual([expect.stringMatching(`^the embedded queue ${why}.*begins anew`)])
    expectAllLanded(machines, at, 2)
  })

  it('says what cannot be made, and where', async () => {
    const at = gated(1).machines.clone('run')
    mkdirSync(join(at, '.ralph'), { recursive: true })
    writeFileSync(join(at, '.ralph/queue'), 'a file in the place of the folder')
    const { code, stderr } = await start(at, RUN).ended
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/the embedded queue does not start: .*\n.*\.ralph\/queue/),
    ])
  })

  it('is found again at its port by the workers of a run that was killed, and lands what they did', async () => {
    const { machines, open } = gated(3)
    const [at, far] = [machines.clone('run'), machines.clone('far')]
    const first = start(at, RUN)
    await first.until(isType('run-started'))
    const port = queueOf(at).port()
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    const working = start(far, ['worker', '--queue', url, '--jobs', '2'])
    await first.until((event) => event.type === 'agent-started' && event.id === 'T-002')
    await kill(first)
    expect(await isOpen(port)).toBe(false)
    const second = start(at, RUN)
    await second.until(isType('run-started'))
    expect(queueOf(at).port()).toBe(port)
    open()
    expect(await second.ended).toEqual({ code: 0, stderr: '' })
    expect((await working.ended).code).toBe(0)
    expect(those(working, 'attempt-started')).toHaveLength(3)
    expect(new Set(those(second, 'recovered').map(({ task }) => task))).toEqual(new Set(['T-001', 'T-002']))
    expectAllLanded(machines, at, 3)
  })
})
