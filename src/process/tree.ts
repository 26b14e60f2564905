import { isBefore, remainsOf, type StartedProcess } from './started.ts'
import {
  bearsMark,
  commandOf,
  readProcess,
  readProcessTable,
  thisMachine,
  type Machine,
  type ProcessEntry,
} from './table.ts'
import { sleep } from './sleep.ts'

/**
 * What identifies the processes of a run that may be dead: its mark, which only Linux shows, and the processes that
 * it noted.
 */
export interface RunTrace {
  readonly mark: string
  readonly processes: readonly StartedProcess[]
}

/**
 * Everything that one process has started, followed while it runs. A process belongs to it by any of: its mark; a
 * parent that belongs; a session (on macOS: a group) that a member has begun. So a process that calls `setsid`,
 * loses its parent or clears its environment is found, unless it does all three between two reads of the table. Where marks
 * cannot be read, the first two between two reads are enough to escape.
 */
export class ProcessTree {
  readonly #mark: string
  readonly #root: number | undefined
  /** What a run that may be dead has noted, until the first read shows what is left of it. */
  #noted: readonly StartedProcess[] = []
  /** The members of the last read, whose sessions no unrelated process can have. */
  #members: ReadonlyMap<number, string> = new Map()
  #sessions: ReadonlySet<number>
  readonly #strangers = new Map<number, string>()
  /** The root's start, in Linux's ticks: what started earlier cannot belong. */
  readonly #since: number

  /** Without a root, the mark is the only starting point. */
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

  /** The members that are alive now. */
  async read(): Promise<readonly ProcessEntry[]> {
    const table = await readProcessTable()
    if (this.#noted.length > 0) this.#recall(table, await thisMachine())
    const spared = ancestry(table, process.pid)
    const belongs = deadParents(table, this.#members)
    for (const entry of table)
      if (!spared.has(entry.pid) && this.#knows(entry)) belongs.set(entry.pid, entry.startedAt)
    addDescendants(table, belongs, spared)
    this.#members = belongs
    const members = table.filter(({ pid }) => belongs.has(pid))
    // A session is theirs only if a member began it: git runs in the session of the person's terminal.
    const sessions = members.map(({ session }) => session)
    this.#sessions = new Set(
      sessions.filter((session) => this.#sessions.has(session) || belongs.has(session)),
    )
    return members
  }

  /** Separates what is left of noted processes from unrelated ones, once: after that they are followed like the others. */
  #recall(table: readonly ProcessEntry[], { boot }: Machine): void {
    const { members, groups } = remainsOf(this.#noted, { table, boot })
    this.#members = members
    this.#sessions = groups
    this.#noted = []
  }

  #knows({ pid, session, startedAt }: ProcessEntry): boolean {
    if (this.#members.get(pid) === startedAt || this.#sessions.has(session)) return true
    // A process that got the person's terminal leads no session.
    if (pid === this.#root) return true
    if (Number(startedAt) < this.#since || this.#strangers.get(pid) === startedAt) return false
    if (bearsMark(pid, this.#mark)) return true
    this.#strangers.set(pid, startedAt)
    return false
  }

  /**
   * Ends all that is alive: TERM, then KILL for what is left after the grace period. Without one it is KILL
   * at once. Returns what could not be ended.
   */
  async end(graceSeconds: number, signal?: AbortSignal): Promise<readonly ProcessEntry[]> {
    let living = await this.read()
    if (graceSeconds > 0 && !signal?.aborted) {
      for (const { pid } of living) sendSignal(pid, 'SIGTERM')
      living = await this.#awaitEnd(living, graceSeconds * 1000, signal)
    }
    // A tree that starts processes while it dies needs several rounds.
    for (let round = 0; living.length > 0 && round < 20; round++) {
      for (const { pid } of living) sendSignal(pid, 'SIGKILL')
      living = await this.#awaitEnd(living, 200)
    }
    return living
  }

  /** Waits by polling at growing intervals: the system does not report the end of a process that is not our child. */
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
      living = await this.read()
    }
    return living
  }
}

/** A process, as shown to a person. */
export type LivingProcess = Awaited<ReturnType<typeof describe>>

/** The process and all its living descendants, parents before children; empty if it is gone. */
export async function livingTree(pid: number): Promise<readonly LivingProcess[]> {
  const table = await readProcessTable()
  const belongs = new Map([[pid, '']])
  addDescendants(table, belongs, new Set())
  const living = table.filter((entry) => belongs.has(entry.pid))
  return Promise.all(living.map(describe))
}

/** The living processes of a run. */
export async function livingOf(run: RunTrace): Promise<readonly LivingProcess[]> {
  return Promise.all((await ProcessTree.ofRun(run).read()).map(describe))
}

/** Ends what a dead run has left; returns the commands of what it found. */
export async function endLeftovers(run: RunTrace): Promise<readonly string[]> {
  const found = await livingOf(run)
  if (found.length > 0) await ProcessTree.ofRun(run).end(LEFTOVER_SECONDS)
  return found.map(({ command }) => command)
}

const LEFTOVER_SECONDS = 2

async function describe({ pid, parent }: ProcessEntry) {
  return { pid, parent, command: await commandOf(pid) }
}

/** The process itself and its ancestors: ralph never ends the process that started it. */
function ancestry(table: readonly ProcessEntry[], pid: number): Set<number> {
  const parents = new Map(table.map((entry) => [entry.pid, entry.parent]))
  const line = new Set<number>()
  for (let at: number | undefined = pid; at && !line.has(at); at = parents.get(at)) line.add(at)
  return line
}

/** Dead members that are still named as parents: Windows gives an orphan no new parent. */
function deadParents(
  table: readonly ProcessEntry[],
  members: ReadonlyMap<number, string>,
): Map<number, string> {
  const living = new Set(table.map(({ pid }) => pid))
  const named = new Set(table.map(({ parent }) => parent))
  return new Map([...members].filter(([pid]) => named.has(pid) && !living.has(pid)))
}

/**
 * Adds the descendants of members, with their starts. A dead parent's number may have been reused: no child began
 * before its parent.
 */
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
  // A map's iteration includes what is added meanwhile.
  for (const [parent, startedAt] of belongs) {
    for (const child of children.get(parent) ?? [])
      if (!spared.has(child.pid) && !isBefore(child.startedAt, startedAt))
        belongs.set(child.pid, child.startedAt)
  }
}

/** Sends a signal; a process that has ended, or is another user's, is ignored. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    return
  }
}
