import { randomBytes } from 'node:crypto'
import { linkSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { UserError, codeOf } from '../base/errors.ts'
import { isAlive, startOf, thisMachine, type Machine } from './table.ts'
import { parsedJson } from '../base/text.ts'
import { textAt } from '../base/read-file.ts'

/** The holder of the lock: a pid alone may belong to another process by now. */
export interface LockOwner extends Machine {
  readonly pid: number
  readonly processStart: string
  readonly since: string
}

/** Takes the lock, or throws naming its holder. If several find a dead owner's lock, exactly one takes it over. */
export async function takeLock(path: string, { pid, now }: { pid: number; now: Date }) {
  const [machine, processStart] = await Promise.all([thisMachine(), startOf(pid)])
  const own = { pid, processStart: processStart ?? '', ...machine, since: now.toISOString() }
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, JSON.stringify(own) + '\n')
  try {
    await enter(path, draft)
    return { release: () => releaseOwn(path, own) }
  } finally {
    rmSync(draft, { force: true })
  }
}

/** The holder of the lock, whether it lives, and whether its processes can be seen from here; null if there is none. */
export async function lockOwner(path: string) {
  const owner = readOwner(path)
  if (!owner) return null
  const place = placeOf(owner, await thisMachine())
  if (place === 'here')
    return {
      owner,
      alive: ownerLives(owner, await startOf(owner.pid), isAlive(owner.pid)),
      visible: true,
    }
  // Processes of another machine cannot be seen: they count as alive.
  return { owner, alive: place === 'elsewhere', visible: false }
}

/**
 * Whether a lock's owner ran here, in this process namespace; here, before the system's last start, so that it is dead; or
 * elsewhere. A host's name alone proves little: it changes with the network, and two machines may share one.
 */
export function placeOf(owner: Machine, here: Machine): 'here' | 'before' | 'elsewhere' {
  const isSame = (one: string, other: string): boolean => one === other || one === '' || other === ''
  if (owner.boot !== '' && owner.boot === here.boot)
    return isSame(owner.pids, here.pids) ? 'here' : 'elsewhere'
  const isMachine = owner.id !== '' && here.id !== '' ? owner.id === here.id : owner.host === here.host
  if (!isMachine) return 'elsewhere'
  return isSame(owner.boot, here.boot) ? 'here' : 'before'
}

/** A link is made whole or not at all, and never replaces another: so nobody reads a half-written lock. */
async function enter(path: string, draft: string): Promise<void> {
  if (tryLink(draft, path)) return
  const held = await lockOwner(path)
  if (held?.alive) throw busy(held.owner, path)
  const owner = held?.owner ?? null
  // Several may have found the same dead owner. The right to remove its lock is a lock too, named after it.
  const right = `${path}.after-${nameOf(owner)}`
  await enter(right, draft)
  try {
    // Another process may have had the right and finished.
    if (nameOf(readOwner(path)) !== nameOf(owner)) throw busy(readOwner(path), path)
    rmSync(path, { force: true })
    if (!tryLink(draft, path)) throw busy(readOwner(path), path)
  } finally {
    rmSync(right, { force: true })
  }
}

function nameOf(owner: LockOwner | null): string {
  return owner ? `${owner.pid}-${owner.since.replaceAll(/\W/g, '')}` : 'nobody'
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

function releaseOwn(path: string, own: LockOwner): void {
  const owner = readOwner(path)
  if (owner?.pid === own.pid && owner.since === own.since) unlinkSync(path)
}

function readOwner(path: string): LockOwner | null {
  const read = parsedJson(textAt(path)) as Omit<LockOwner, keyof Machine> | null | undefined
  return typeof read?.pid === 'number' && typeof read.since === 'string' ? { ...UNKNOWN, ...read } : null
}

/** The fields that an earlier version of ralph did not write. */
const UNKNOWN: Machine = { host: '', id: '', boot: '', pids: '' }

/** If either start is unknown, for example because `ps` failed, it counts as alive when any process has that number. */
export function ownerLives({ processStart }: LockOwner, startNow: string | null, isThere: boolean): boolean {
  return processStart === '' || startNow === null ? isThere : startNow === processStart
}

function busy(owner: LockOwner | null, path: string): UserError {
  const who = owner ? `process ${owner.pid} on ${owner.host}` : 'another process'
  return new UserError(
    `another ralph is at work here: ${who}${owner ? `, since ${owner.since}` : ''}`,
    `Wait for it, or run ralph in a worktree of its own. If that process is no ralph, remove ${path}`,
  )
}
