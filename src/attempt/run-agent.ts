import type { AgentEvent, AgentOutcome, AgentRequest, AnswerShape } from '../agent/port.ts'
import { unreachable } from '../base/errors.ts'
import type { Happening } from '../events/event.ts'
import { INSIDE_VARIABLE } from '../base/names.ts'
import { ATTEMPT_COMMITTER } from '../git/head.ts'
import { gatherText } from './gather-text.ts'
import type { Job } from './job.ts'
import type { AttemptPorts, Emit } from './ports.ts'

/** What everything that an attempt starts finds in its environment. */
export function attemptEnvironment({
  env,
  workspace,
}: Pick<AttemptPorts, 'env' | 'workspace'>): Readonly<Record<string, string | undefined>> {
  return { ...env, ...ATTEMPT_COMMITTER, [INSIDE_VARIABLE]: workspace.root }
}

/** Of a job what its agent is asked; more of it where it is asked for an answer, not for work. */
export type AgentJob = Pick<Job, 'task' | 'agent' | 'attempt' | 'prompt' | 'limits' | 'gates'> & {
  readonly answer?: AnswerShape
  readonly env?: Readonly<Record<string, string>>
}

/** What running an agent touches. */
export type AgentPorts = Pick<
  AttemptPorts,
  'workspace' | 'agent' | 'logs' | 'env' | 'signal' | 'killSignal' | 'control'
>

/** Runs the agent of a job and emits what it does; how it ended. */
export async function runAgent(
  job: AgentJob,
  ports: AgentPorts,
  emit: Emit<Happening>,
): Promise<AgentOutcome> {
  const { task, agent: choice, attempt } = job
  const agent = await ports.agent(choice)
  const log = ports.logs.open(`${task.id}-${attempt}.log`)
  const request = agentRequest(job, {
    cwd: ports.workspace.root,
    env: { ...attemptEnvironment(ports), ...job.env },
    notesFile: ports.logs.result(`${task.id}-${attempt}.notes.md`),
    signal: AbortSignal.any([ports.signal, ports.control.skipped]),
    killSignal: ports.killSignal,
    log: (chunk) => log.write(chunk),
  })
  try {
    const events = agent.run(request)
    for await (const event of gatherText(events)) {
      if (event.type !== 'finished') {
        emit(happening(task.id, event))
        continue
      }
      emit({ type: 'agent-usage', id: task.id, usage: event.outcome.usage })
      return event.outcome
    }
  } finally {
    log.close()
  }
  throw new Error(`the agent ${choice.label} ended without saying how`)
}

/** What the agent of a job is asked: the same for an attempt, and for what previews one. */
export function agentRequest(
  job: AgentJob,
  at: Pick<AgentRequest, 'cwd' | 'env' | 'signal' | 'killSignal' | 'log'> & { readonly notesFile: string },
): AgentRequest {
  const { task, agent, attempt, prompt, limits, gates, answer } = job
  const { notesFile, ...rest } = at
  return {
    ...rest,
    prompt,
    model: agent.model,
    limits,
    permission: agent.permission,
    gateCommands: gates.map(({ command }) => command),
    mcpServers: agent.mcpServers,
    ...(answer ? { answer } : {}),
    task: { id: task.id, file: task.file, attempt, notesFile, script: task.script },
  }
}

function happening(id: string, event: Exclude<AgentEvent, { type: 'finished' }>): Happening {
  switch (event.type) {
    case 'started':
      return { type: 'agent-started', id, pid: event.pid }
    case 'text':
      return { type: 'agent-text', id, text: event.text }
    case 'tool':
      return { type: 'agent-tool', id, name: event.name, summary: event.summary, status: event.status }
    case 'usage':
      return { type: 'agent-usage', id, usage: event.usage }
    case 'retrying':
      return { type: 'agent-retrying', id, reason: event.reason, until: event.until?.toISOString() ?? null }
    case 'warning':
      return { type: 'warning', message: event.message }
    default:
      return unreachable(event)
  }
}
