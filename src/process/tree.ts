import { thisMachine, type Machine } from './machine.ts'
import { isBefore, remainsOf, type StartedProcess } from './remains.ts'
import { bearsMark, commandOf, readProcess, readProcessTable, type ProcessEntry } from './table.ts'
import { sleep } from './sleep.ts'

/** By what the processes of a run are found that may be dead: its mark, which only Linux shows, and what it has noted. */
export interface RunTrace {
  readonly mark: string
  readonly processes: readonly StartedProcess[]
}

/**
 * Everything that one process has started, followed while it runs. A process belongs to it by any of: its mark; a
 * parent that belongs; a session (on macOS: a group) that one that belongs has begun. So what calls `setsid`, what
 * loses its parent and what clears its environment is found, unless it does all three between two looks. Where marks
 * cannot be read, the first two between two looks are enough to escape.
 */
export class ProcessTree {
  readonly #mark: string
  readonly #root: number | undefined
  /** What a run that may be dead has noted, until the first look tells what there still is of it. */
  #noted: readonly StartedProcess[] = []
  /** Those of the last look, and the sessions that they keep from being used by strangers. */
  #members: ReadonlyMap<number, string> = new Map()
  #sessions: ReadonlySet<number>
  readonly #strangers = new Map<number, string>()
  /** The root's start, in Linux's ticks: what started before it cannot belong. */
  readonly #since: number

  /** With no root, what bears the mark is all there is to begin from. */
  constructor(mark: string, root?: number) {
    this.#mark = mark
    this.#root = root
    this.#sessions = new Set(root === undefined ? [] : [root])
    this.#since = Number((root !== undefined && readProcess(root)?.startedAt) || 0)
  }

  /** All that a run has started. */
  static ofRun({ mark, processes }: RunTrace): ProcessTree {
    const tree = new ProcessTree(mark)
    tree.#noted = processes
    return tree
  }

  /** Those alive now. */
  async look(): Promise<readonly ProcessEntry[]> {
    const table = await readProcessTable()
    if (this.#noted.length > 0) this.#recall(table, await thisMachine())
    const spared = ancestry(table, process.pid)
    const belongs = deadParents(table, this.#members)
    for (const entry of table)
      if (!spared.has(entry.pid) && this.#knows(entry)) belongs.set(entry.pid, entry.startedAt)
    addDescendants(table, belongs, spared)
    this.#members = belongs
    const members = table.filter(({ pid }) => belongs.has(pid))
    // A session is theirs only where one of them began it: git runs in that of the person's terminal.
    const sessions = members.map(({ session }) => session)
    this.#sessions = new Set(
      sessions.filter((session) => this.#sessions.has(session) || belongs.has(session)),
    )
    return members
  }

  /** What there still is of what was noted is told from strangers once: after that it is followed like all else. */
  #recall(table: readonly ProcessEntry[], { boot }: Machine): void {
    const { members, groups } = remainsOf(this.#noted, { table, boot })
    this.#members = members
    this.#sessions = groups
    this.#noted = []
  }

  #knows({ pid, session, startedAt }: ProcessEntry): boolean {
    if (this.#members.get(pid) === startedAt || this.#sessions.has(session)) return true
    // One that was handed the terminal leads no session.
    if (pid === this.#root) return true
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
  const belongs = new Map([[pid, '']])
  addDescendants(table, belongs, new Set())
  const living = table.filter((entry) => belongs.has(entry.pid))
  return Promise.all(living.map(describe))
}

/** What is alive of all that a run has started. */
export async function livingOf(run: RunTrace): Promise<readonly LivingProcess[]> {
  return Promise.all((await ProcessTree.ofRun(run).look()).map(describe))
}

/** Ends what a dead run has left; returns what it found. */
export async function endLeftovers(run: RunTrace, graceSeconds = 2): Promise<readonly LivingProcess[]> {
  const found = await livingOf(run)
  if (found.length > 0) await ProcessTree.ofRun(run).end(graceSeconds)
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

/** Of those that belonged, who is dead and still named as a parent: Windows never gives an orphan another one. */
function deadParents(
  table: readonly ProcessEntry[],
  members: ReadonlyMap<number, string>,
): Map<number, string> {
  const living = new Set(table.map(({ pid }) => pid))
  const named = new Set(table.map(({ parent }) => parent))
  return new Map([...members].filter(([pid]) => named.has(pid) && !living.has(pid)))
}

/** Adds to those that belong, with their starts, what is below them. A number of a dead parent may have been given anew: none began before its parent. */
function addDescendants(
  table: readonly ProcessEntry[],
  belongs: Map<number, string>,
  spared: ReadonlySet<number>,
): void {
  const children = new Map<number, ProcessEntry[]>()
  for (const entry of table) {
    const siblings = children.get(entry.parent)
    if (siblings) siblings.push(entry)
    else children.set(entry.parent, [entry])
  }
  // A map's iteration goes on through what is added meanwhile.
  for (const [parent, startedAt] of belongs) {
    for (const child of children.get(parent) ?? [])
      if (!spared.has(child.pid) && !isBefore(child.startedAt, startedAt))
        belongs.set(child.pid, child.startedAt)
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
