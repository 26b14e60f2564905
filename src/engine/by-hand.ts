import type { AgentOutcome } from '../agent/port.ts'
import { writtenNotes } from '../agent/providers/plain-output.ts'
import type { Happening } from '../events/event.ts'
import { UNKNOWN_USAGE } from '../events/usage.ts'
import type { Job } from './job.ts'
import type { AttemptPorts, Emit } from './ports.ts'
import { withRequest } from './run-agent.ts'

/** Starts the agent's interactive program for a person, in the attempt's workspace; leaving it means that the work is done. */
export async function driveAgent(
  job: Job,
  ports: AttemptPorts,
  emit: Emit<Happening>,
): Promise<AgentOutcome> {
  const { task, agent: choice, byHand: session } = job
  const agent = await ports.work.agent(choice)
  const { terminal } = ports
  if (session === null || terminal === null || !agent.byHand)
    throw new Error(`${choice.name} cannot be driven by hand here`)
  const sessionId = typeof session === 'object' ? session.id : null
  return withRequest(job, ports, { servers: {}, ends: [] }, async (request) => {
    emit({ type: 'taken-over', id: task.id, agent: choice.name, session: sessionId })
    const withdraw = ports.control.offer(() => `you drive ${task.id} already, in the terminal of its run`)
    const driven = agent.byHand!(request, { session, terminal }).finally(withdraw)
    const { end, code, seconds } = await driven
    emit({ type: 'handed-back', id: task.id, code, seconds })
    return { ...UNKNOWN, end, finalMessage: writtenNotes(request) ?? '', sessionId, seconds }
  })
}

/** What is not known of a program that owns the terminal. */
const UNKNOWN: Pick<AgentOutcome, 'usage' | 'model' | 'denied'> = {
  usage: UNKNOWN_USAGE,
  model: null,
  denied: [],
}
