import { bearsMark, commandOf, readProcess, readProcessTable, type ProcessEntry } from './table.ts'
import { sleep } from './sleep.ts'

/**
 * Everything that one process has started, followed while it runs. A process belongs to it by any of:
 * its mark; a parent that belongs; a session that one that belongs has begun. So what calls `setsid`, what loses its
 * parent and what clears its environment is found, unless it does all three between two looks.
 */
export class ProcessTree {
  readonly #mark: string
  /** Those of the last look, and the sessions that they keep from being used by strangers. */
  #members = new Map<number, string>()
  #sessions: Set<number>
  readonly #strangers = new Map<number, string>()
  /** The root's start, in Linux's ticks: what started before it cannot belong. */
  readonly #since: number

  /** With no root, what bears the mark is all there is to begin from. */
  constructor(mark: string, root?: number) {
    this.#mark = mark
    this.#sessions = new Set(root === undefined ? [] : [root])
    this.#since = Number((root !== undefined && readProcess(root)?.startedAt) || 0)
  }

  /** Those alive now. */
  async look(): Promise<readonly ProcessEntry[]> {
    const table = await readProcessTable()
    const spared = ancestry(table, process.pid)
    const belongs = new Set<number>()
    for (const entry of table) if (!spared.has(entry.pid) && this.#knows(entry)) belongs.add(entry.pid)
    addDescendants(table, belongs, spared)
    const members = table.filter((entry) => belongs.has(entry.pid))
    this.#members = new Map(members.map((entry) => [entry.pid, entry.startedAt]))
    // A session is theirs only where one of them began it: git runs in that of the person's terminal.
    const sessions = members.map(({ session }) => session)
    this.#sessions = new Set(
      sessions.filter((session) => this.#sessions.has(session) || belongs.has(session)),
    )
    return members
  }

  #knows({ pid, session, startedAt }: ProcessEntry): boolean {
    if (this.#members.get(pid) === startedAt || this.#sessions.has(session)) return true
    if (Number(startedAt) < this.#since || this.#strangers.get(pid) === startedAt) return false
    if (bearsMark(pid, this.#mark)) return true
    this.#strangers.set(pid, startedAt)
    return false
  }

  /**
   * Ends all that is alive: TERM, then KILL for what is left after the grace. Without a grace it is KILL
   * at once. What it returns could not be ended.
   */
  async end(graceSeconds: number, signal?: AbortSignal): Promise<readonly ProcessEntry[]> {
    let living = await this.look()
    if (graceSeconds > 0 && !signal?.aborted) {
      for (const { pid } of living) sendSignal(pid, 'SIGTERM')
      living = await this.#awaitEnd(living, graceSeconds * 1000, signal)
    }
    // A tree that forks as it dies needs more than one round.
    for (let round = 0; living.length > 0 && round < 20; round++) {
      for (const { pid } of living) sendSignal(pid, 'SIGKILL')
      living = await this.#awaitEnd(living, 200)
    }
    return living
  }

  /** Nobody tells when a process that is not our child ends, so this asks, at growing intervals. */
  async #awaitEnd(
    living: readonly ProcessEntry[],
    milliseconds: number,
    signal?: AbortSignal,
  ): Promise<readonly ProcessEntry[]> {
    const until = performance.now() + milliseconds
    const over = () => performance.now() >= until || signal?.aborted === true
    let pause = 2
    while (living.length > 0 && !over()) {
      await sleep(Math.min(pause, until - performance.now()), signal)
      pause = Math.min(pause * 2, 50)
      living = await this.look()
    }
    return living
  }
}

/** A process and those below it, for a person to see. */
export interface LivingProcess {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

/** The process and all its descendants that are alive, parents before children; empty where it is gone. */
export async function livingTree(pid: number): Promise<readonly LivingProcess[]> {
  const table = await readProcessTable()
  const belongs = new Set([pid])
  addDescendants(table, belongs, new Set())
  const living = table.filter((entry) => belongs.has(entry.pid))
  return Promise.all(living.map(describe))
}

/** What is alive of all that was started with that mark. */
export async function livingWithMark(mark: string): Promise<readonly LivingProcess[]> {
  return Promise.all((await new ProcessTree(mark).look()).map(describe))
}

/** Ends what a dead run has left; returns what it found. */
export async function endMarked(mark: string, graceSeconds = 2): Promise<readonly LivingProcess[]> {
  const found = await livingWithMark(mark)
  if (found.length > 0) await new ProcessTree(mark).end(graceSeconds)
  return found
}

async function describe({ pid, parent }: ProcessEntry): Promise<LivingProcess> {
  return { pid, parent, command: await commandOf(pid) }
}

/** The process itself and its forebears: whoever started us is never ours to end. */
function ancestry(table: readonly ProcessEntry[], pid: number): Set<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]))
  const line = new Set<number>()
  for (let at: number | undefined = pid; at && !line.has(at); at = parents.get(at)) line.add(at)
  return line
}

function addDescendants(table: readonly ProcessEntry[], belongs: Set<number>, spared: Set<number>): void {
  const children = new Map<number, number[]>()
  for (const { pid, parent } of table) {
    const siblings = children.get(parent)
    if (siblings) siblings.push(pid)
    else children.set(parent, [pid])
  }
  // A set's iteration goes on through what is added meanwhile.
  for (const pid of belongs) {
    for (const child of children.get(pid) ?? []) if (!spared.has(child)) belongs.add(child)
  }
}

/** It may have ended by itself, or be another user's: both are no news. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    return
  }
}
