import type { AgentChoice } from '../agents/port.ts'
import type { Happening } from './events/event.ts'
import type { Ledger } from './ledger.ts'
import type { Emit, RunPorts } from './ports.ts'

/** What waiting for an agent uses. */
interface Waiting {
  readonly ports: Pick<RunPorts, 'now' | 'sleep'>
  readonly ledger: Ledger
  readonly emit: Emit<Happening>
}

/** An agent that may begin, or why none can in this run; null if the wait was ended. */
export type FreeAgent = AgentChoice | { readonly unable: string } | null

/** The first agent without a limit, after waiting for the earliest if all have limits. */
export async function freeAgent(
  { ports, ledger, emit }: Waiting,
  choices: readonly AgentChoice[],
  { id, over }: { id: string; over: AbortSignal },
): Promise<FreeAgent> {
  for (;;) {
    if (over.aborted) return null
    const now = ports.now()
    const limits = choices.map((choice) => ({ choice, ...ledger.limitOf(choice.name) }))
    const free = limits.find(({ until }) => until !== null && until <= now)
    if (free) return free.choice
    const ends = limits.flatMap(({ until, reason }) => (until === null ? [] : [{ until, reason }]))
    const [first] = ends.toSorted((one, other) => one.until.getTime() - other.until.getTime())
    if (!first) return { unable: [...new Set(limits.map(({ reason }) => reason))].join('; ') }
    const { until, reason } = first
    emit({ type: 'waiting', id, until: until.toISOString(), reason })
    // In short steps: while a laptop sleeps, timers stop and the clock goes on.
    while (!over.aborted && ports.now() < until)
      await ports.sleep(Math.min(until.getTime() - ports.now().getTime(), 30_000), over)
  }
}
