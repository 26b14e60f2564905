import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { UserError } from '../base/errors.ts'
import { isAlive, readProcessTable } from '../process/table.ts'

/** Who holds the lock: a pid alone may have been given to somebody else since. */
export interface LockOwner {
  readonly pid: number
  readonly processStart: string
  readonly host: string
  readonly since: string
}

/** Held by one run in a checkout. */
export interface Lock {
  release(): void
}

/** Takes the lock, or throws with who holds it. A dead owner's lock is taken over, by exactly one of those who try. */
export async function takeLock(
  path: string,
  me: { readonly pid: number; readonly now: Date },
): Promise<Lock> {
  const own = await describe(me)
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, JSON.stringify(own) + '\n')
  try {
    await enter(path, draft)
    return { release: () => releaseOwn(path, own) }
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Who holds the lock, and whether they live; null where nobody does. */
export async function lockOwner(path: string): Promise<{ owner: LockOwner; alive: boolean } | null> {
  const owner = readOwner(path)
  return owner && { owner, alive: await ownerLives(owner) }
}

/** A link is made whole or not at all, and never over another: so the lock is never seen half written. */
async function enter(path: string, draft: string): Promise<void> {
  if (tryLink(draft, path)) return
  const owner = readOwner(path)
  if (owner && (await ownerLives(owner))) throw busy(owner, path)
  // Several may have found the same dead owner. The right to take its lock away is a lock too, named after it.
  const right = `${path}.after-${nameOf(owner)}`
  await enter(right, draft)
  try {
    // Somebody else may have had the right, and be done.
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
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

function releaseOwn(path: string, own: LockOwner): void {
  const owner = readOwner(path)
  if (owner?.pid === own.pid && owner.since === own.since) unlinkSync(path)
}

function readOwner(path: string): LockOwner | null {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isOwner(read) ? read : null
  } catch {
    return null
  }
}

function isOwner(read: unknown): read is LockOwner {
  return (
    typeof read === 'object' && read !== null && 'pid' in read && 'processStart' in read && 'since' in read
  )
}

async function describe({ pid, now }: { pid: number; now: Date }): Promise<LockOwner> {
  return { pid, processStart: await startOf(pid), host: hostname(), since: now.toISOString() }
}

/** Another machine's processes cannot be looked at: they count as alive. */
async function ownerLives(owner: LockOwner): Promise<boolean> {
  if (owner.host !== hostname()) return true
  if (owner.processStart !== '') return (await startOf(owner.pid)) === owner.processStart
  return isAlive(owner.pid)
}

async function startOf(pid: number): Promise<string> {
  const entry = (await readProcessTable()).find((process) => process.pid === pid)
  return entry?.startedAt ?? ''
}

function busy(owner: LockOwner | null, path: string): UserError {
  const who = owner
    ? `process ${owner.pid}${owner.host === hostname() ? '' : ` on ${owner.host}`}`
    : 'another process'
  return new UserError(
    `another ralph is at work here: ${who}${owner ? `, since ${owner.since}` : ''}`,
    `Wait for it, or run ralph in a worktree of its own. If that process is no ralph, remove ${path}`,
  )
}
