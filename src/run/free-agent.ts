import type { AgentChoice } from '../attempt/job.ts'
import type { Emit } from '../attempt/ports.ts'
import type { Happening } from '../events/event.ts'
import type { Ledger } from './ledger.ts'
import type { RunPorts } from './ports.ts'

/** What waiting for an agent needs to know. */
interface Waiting {
  readonly ports: Pick<RunPorts, 'now' | 'sleep'>
  readonly ledger: Ledger
  readonly emit: Emit<Happening>
}

/** The first agent that no limit holds back, waiting for one where all are; null where somebody ended the wait. */
export async function freeAgent(
  { ports, ledger, emit }: Waiting,
  choices: readonly AgentChoice[],
  { id, over }: { readonly id: string; readonly over: AbortSignal },
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
    // In short steps: a laptop that sleeps stops the timer, not the clock.
    while (!over.aborted && ports.now() < until)
      await ports.sleep(Math.min(until.getTime() - ports.now().getTime(), 30_000), over)
  }
}
