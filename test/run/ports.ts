import type { Agent, AgentEnd, AgentEvent, AgentRequest } from '../../src/agent/port.ts'
import type { Usage } from '../../src/events/usage.ts'
import { newMark, withMark } from '../../src/process/mark.ts'
import { endMarked } from '../../src/process/tree.ts'
import type { Gate, GateResult } from '../../src/events/gate.ts'
import { listAttempts } from '../../src/git/attempts.ts'
import { openGit } from '../../src/git/door.ts'
import { findRepository } from '../../src/git/repository.ts'
import { attemptRecord } from '../../src/git/record.ts'
import { openCheckout } from '../../src/workspace/checkout.ts'
import type { RunOptions, RunPorts } from '../../src/run/ports.ts'
import { runFolder } from '../../src/run/run-folder.ts'
import { openTaskFolder } from '../../src/run/source.ts'
import { UNKNOWN_USAGE } from '../../src/events/usage.ts'
import { tierOf } from '../../src/select/tier.ts'
import { blockTask, completeTask } from '../../src/task/finish.ts'
import { TASK_VOCABULARY } from '../../src/task/vocabulary.ts'
import { ENV } from '../git/bare-git.ts'

export type Deed = (request: AgentRequest) => Promise<Said | void> | Said | void

/** How an agent ends; what is not said is as a contented agent's. */
export interface Said {
  readonly end?: AgentEnd
  readonly message?: string
  readonly usage?: Partial<Usage>
  readonly events?: readonly AgentEvent[]
}

/** An agent that does what the test says, in this process. */
export function agentOf(deed: Deed, name = 'fake'): Agent {
  return {
    name,
    async *run(request) {
      yield { type: 'started', pid: process.pid, sessionId: null, model: null }
      const said = (await deed(request)) ?? {}
      yield* said.events ?? []
      const usage = { ...UNKNOWN_USAGE, ...said.usage }
      const finalMessage = said.message ?? `Did ${request.task.id}.`
      const end = said.end ?? { kind: 'done' }
      yield {
        type: 'finished',
        outcome: { end, finalMessage, usage, sessionId: null, model: null, denied: [], seconds: 1 },
      }
    },
  }
}

export interface Harness {
  readonly root: string
  readonly deed?: Deed
  readonly options?: Partial<RunOptions>
  readonly ports?: Partial<RunPorts>
  /** Whether a gate of that name passes; `gates` in the options name them. */
  readonly gate?: (gate: Gate) => Partial<GateResult> | boolean
}

export const OPTIONS: RunOptions = {
  task: null,
  loop: true,
  maxTasks: null,
  retries: 3,
  onFailure: 'block',
  budget: null,
  maxCostPerTask: null,
  maxTurns: null,
  timeoutSeconds: null,
  stallSeconds: 300,
  gates: [],
  baseline: 'off',
  subject: '{id}: {title}',
  progress: null,
  push: false,
  commitTasks: false,
  logBytes: 1_000_000,
}

export async function makePorts({ root, deed, ports, gate }: Harness): Promise<RunPorts> {
  const door = openGit({ cwd: root, env: ENV })
  const repository = await findRepository(door)
  if (!repository) throw new Error('no repository')
  const mark = newMark()
  const git = openGit({ cwd: repository.root, env: withMark(ENV, mark) })
  const agent = agentOf(deed ?? (() => undefined))
  const choice = {
    agent,
    label: agent.name,
    model: null,
    permission: { level: 'edit' as const },
    mcpServers: {},
  }
  return {
    workspace: openCheckout(git, repository, root),
    repository,
    source: await openTaskFolder({ root, dir: 'docs/tasks', vocabulary: TASK_VOCABULARY }),
    edits: { complete: completeTask, block: blockTask },
    folder: runFolder(root),
    attempts: async () => (await listAttempts(git)).flatMap((kept) => attemptRecord(kept) ?? []),
    tierOf: (task) => tierOf(task),
    agentsFor: async () => [choice],
    prompt: async ({ task }) => task.source,
    runGate: async (one) => gateResult(one, gate?.(one) ?? true),
    mark,
    sealer: null,
    ask: null,
    askToCommit: null,
    warnings: [],
    push: async () => ({ problem: 'no remote' }),
    endLeftovers: async (dead) => (await endMarked(dead)).map(({ command }) => command),
    now: () => new Date(),
    sleep: async () => undefined,
    checkpoint: () => undefined,
    env: ENV,
    signal: new AbortController().signal,
    killSignal: new AbortController().signal,
    pid: process.pid,
    ...ports,
  }
}

export function gateOf(name: string, more: Partial<Gate> = {}): Gate {
  return { name, command: `run ${name}`, required: true, timeoutSeconds: 60, ...more }
}

function gateResult(gate: Gate, told: Partial<GateResult> | boolean): GateResult {
  const failed = told === false || (typeof told === 'object' && told.verdict !== 'passed')
  return {
    gate,
    verdict: failed ? 'failed' : 'passed',
    seconds: 0.1,
    reason: failed ? 'exit code 1' : 'passed',
    excerpt: failed ? 'error: it does not work' : '',
    fingerprint: failed ? 'same' : '',
    ...(typeof told === 'object' ? told : {}),
  }
}
