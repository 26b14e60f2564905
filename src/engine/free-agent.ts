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

/** The first agent without a limit, after waiting for one if all have limits; null if the wait was ended. */
export async function freeAgent(
  { ports, ledger, emit }: Waiting,
  choices: readonly AgentChoice[],
  { id, over }: { id: string; over: AbortSignal },
): Promise<AgentChoice | null> {
  for (;;) {
    if (over.aborted) return null
    const now = ports.now()
    const limits = choices.map((choice) => ({ choice, ...ledger.limitOf(choice.name) }))
    const free = limits.find(({ until }) => until <= now)
    if (free) return free.choice
    const [first] = limits.toSorted((one, other) => one.until.getTime() - other.until.getTime())
    const { until, reason } = first!
    emit({ type: 'waiting', id, until: until.toISOString(), reason })
    // In short steps: while a laptop sleeps, timers stop and the clock goes on.
    while (!over.aborted && ports.now() < until)
      await ports.sleep(Math.min(until.getTime() - ports.now().getTime(), 30_000), over)
  }
}
