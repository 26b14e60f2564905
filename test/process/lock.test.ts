import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { platformUuid, thisMachine } from '../../src/process/table.ts'
import { lockOwner, ownerLives, placeOf, takeLock } from '../../src/process/lock.ts'
import { makeFolder } from '../repository.ts'

const now = new Date('2026-01-01T00:00:00Z')
const me = { pid: process.pid, now }

function deadPid(): number {
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  return pid
}

describe('the lock', () => {
  it('is held by one, and free again after it', async () => {
    const path = join(makeFolder(), 'lock')
    const lock = await takeLock(path, me)
    await expect(takeLock(path, me)).rejects.toThrow(
      `another ralph is at work here: process ${process.pid} on `,
    )
    expect(await lockOwner(path)).toMatchObject({ alive: true, owner: { pid: process.pid } })
    lock.release()
    expect(await lockOwner(path)).toBeNull()
    ;(await takeLock(path, me)).release()
  })

  it.each([
    ['a process that is gone', () => ({ pid: deadPid(), processStart: '1' })],
    ['a pid that is somebody else’s by now', () => ({ pid: process.pid, processStart: 'another time' })],
  ])('of %s is taken over', async (_, owner) => {
    const path = join(makeFolder(), 'lock')
    const dead = { ...owner(), host: hostname(), since: now.toISOString() }
    writeFileSync(path, JSON.stringify(dead))
    const lock = await takeLock(path, me)
    expect(await lockOwner(path)).toMatchObject({
      alive: true,
      owner: { pid: process.pid, since: me.now.toISOString() },
    })
    lock.release()
  })

  it('of another machine cannot be judged, so it holds', async () => {
    const path = join(makeFolder(), 'lock')
    writeFileSync(
      path,
      JSON.stringify({ pid: 1, processStart: '1', host: 'elsewhere', since: now.toISOString() }),
    )
    await expect(takeLock(path, me)).rejects.toThrow('process 1 on elsewhere')
  })

  it('is kept by one whose host has another name since', async () => {
    const path = join(makeFolder(), 'lock')
    const lock = await takeLock(path, me)
    const owner = JSON.parse(readFileSync(path, 'utf8')) as object
    writeFileSync(path, JSON.stringify({ ...owner, host: 'of-yesterday' }))
    await expect(takeLock(path, me)).rejects.toThrow(`process ${process.pid} on of-yesterday`)
    const dead = { ...owner, host: 'of-yesterday', pid: deadPid(), processStart: '1' }
    writeFileSync(path, JSON.stringify(dead))
    if ((await thisMachine()).boot !== '') (await takeLock(path, me)).release()
    else lock.release()
  })

  it('that nobody can read is taken over', async () => {
    const path = join(makeFolder(), 'lock')
    writeFileSync(path, 'half a li')
    ;(await takeLock(path, me)).release()
    expect(existsSync(path)).toBe(false)
  })

  it('of a dead one goes to exactly one of many who try', async () => {
    const folder = makeFolder()
    const path = join(folder, 'lock')
    for (let round = 0; round < 10; round++) {
      const dead = { pid: deadPid(), processStart: '1', host: hostname(), since: now.toISOString() }
      writeFileSync(path, JSON.stringify(dead))
      const tries = Array.from({ length: 6 }, (_, i) =>
        takeLock(path, { pid: process.pid, now: new Date(i) }),
      )
      const results = await Promise.allSettled(tries)
      const winners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      expect(winners).toHaveLength(1)
      expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid })
      winners[0]?.release()
    }
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('the owner of a lock', () => {
  const here = { host: 'a', id: 'machine', boot: 'monday', pids: '' }
  const bare = { host: 'a', id: '', boot: '', pids: '' }
  it.each([
    ['is here', here, here, 'here'],
    ['is here, where the host has another name since', { ...here, host: 'b' }, here, 'here'],
    ['was here before the system was started anew', { ...here, boot: 'sunday' }, here, 'before'],
    ['was here, with another name', { ...here, host: 'b', boot: 'sunday' }, here, 'before'],
    ['is another machine of the same name', { ...here, id: 'other', boot: 'sunday' }, here, 'elsewhere'],
    ['is in another container', { ...here, pids: '1' }, { ...here, pids: '2' }, 'elsewhere'],
    ['is here where only the host’s name is known', bare, here, 'here'],
    ['is elsewhere where only another host’s name is known', { ...bare, host: 'b' }, here, 'elsewhere'],
  ] as const)('%s', (_, owner, machine, place) => {
    expect(placeOf(owner, machine)).toBe(place)
  })

  const owner = { ...here, pid: 12, processStart: '5', since: '' }
  it.each([
    ['lives with the start that it had', owner, '5', true, true],
    ['is dead where a stranger has its number', owner, '6', true, false],
    ['lives where the system did not answer', owner, null, true, true],
    ['lives where its start was never known', { ...owner, processStart: '' }, '5', true, true],
    ['is dead where there is no process of its number', owner, null, false, false],
    ['is dead where only its exit code is left of it', owner, '', true, false],
  ])('%s', (_, who, startNow, isThere, lives) => {
    expect(ownerLives(who, startNow, isThere)).toBe(lives)
  })
})

it('the number that a Mac was made with is read from what ioreg says', () => {
  const text = '+-o Mac14,2  <class IOPlatformExpertDevice>\n    {\n      "IOPlatformUUID" = "A1-B2"\n    }\n'
  expect([platformUuid(text), platformUuid('')]).toEqual(['A1-B2', ''])
})
