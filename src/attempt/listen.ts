import type { AgentEvent, AgentOutcome } from '../agent/port.ts'
import { unreachable } from '../base/errors.ts'
import type { AttemptPlan } from './job.ts'
import type { Happening } from '../events/event.ts'
import { gatherText } from './gather-text.ts'
import { cappedLog } from '../run/journal.ts'
import type { Run } from '../run/run.ts'

/** Runs the agent and passes on what it does; ends with how it ended. */
export async function* listen(run: Run, plan: AttemptPlan): AsyncGenerator<Happening, AgentOutcome> {
  const { ports, options } = run
  const { task, choice } = plan
  const prompt = await ports.prompt({
    task,
    tasks: ports.source.tasks(),
    attempts: plan.earlier,
    gates: options.gates,
    failedBefore: run.failedBefore,
  })
  const log = cappedLog(`${ports.workspace.root}/${plan.log}`, options.logBytes)
  try {
    const events = choice.agent.run({
      prompt,
      cwd: ports.workspace.root,
      env: plan.env,
      model: choice.model,
      limits: plan.limits,
      permission: choice.permission,
      gateCommands: options.gates.map((gate) => gate.command),
      mcpServers: choice.mcpServers,
      task: {
        id: task.id,
        file: task.file,
        attempt: plan.number,
        notesFile: `${ports.folder.results}/${task.id}-${plan.number}.notes.md`,
        script: plan.script,
      },
      signal: ports.signal,
      killSignal: ports.killSignal,
      log: (chunk) => log.write(chunk),
    })
    for await (const event of gatherText(events)) {
      if (event.type === 'finished') return event.outcome
      if (event.type === 'usage') run.flight.update({ usage: event.usage })
      yield happening(task.id, event)
    }
  } finally {
    log.close()
  }
  throw new Error(`the agent ${choice.label} ended without saying how`)
}

function happening(id: string, event: Exclude<AgentEvent, { type: 'finished' }>): Happening {
  switch (event.type) {
    case 'started':
      return { ...event, type: 'agent-started', id }
    case 'text':
      return { ...event, type: 'agent-text', id }
    case 'tool':
      return { type: 'agent-tool', id, name: event.name, summary: event.summary, status: event.status }
    case 'usage':
      return { ...event, type: 'agent-usage', id }
    case 'retrying':
      return { ...event, type: 'agent-retrying', id }
    case 'warning':
      return { ...event }
    default:
      return unreachable(event)
  }
}
