import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent, AgentEnd, AgentEvent, AgentRequest, Usage } from '../../src/agent/port.ts'
import type { Gate, GateResult } from '../../src/gates/gate.ts'
import { listAttempts } from '../../src/git/attempts.ts'
import { openGit } from '../../src/git/door.ts'
import { findRepository } from '../../src/git/repository.ts'
import { attemptRecord } from '../../src/run/attempt-record.ts'
import { openCheckout } from '../../src/run/checkout.ts'
import type { RunEvent } from '../../src/run/events.ts'
import { runLoop } from '../../src/run/loop.ts'
import type { RunOptions, RunPorts } from '../../src/run/ports.ts'
import { runFolder } from '../../src/run/run-folder.ts'
import { openTaskFolder } from '../../src/run/source.ts'
import { UNKNOWN_USAGE } from '../../src/run/usage.ts'
import { tierOf } from '../../src/select/tier.ts'
import { TASK_VOCABULARY } from '../../src/task/vocabulary.ts'
import { ENV, makeRepository } from '../git/repository.ts'
import { edits } from './edits.ts'

/** A task file in the ordinary style. */
export function taskText(
  id: string,
  more: { depends?: string; milestone?: string; rest?: string } = {},
): string {
  const fields = [`- **Status**: TODO`]
  if (more.milestone) fields.push(`- **Milestone**: ${more.milestone}`)
  fields.push(`- **Depends**: ${more.depends ?? 'none'}`)
  return `# ${id}: Do ${id}\n\n${fields.join('\n')}\n\n## Description\nDo it.\n${more.rest ?? ''}`
}

/** A repository with these tasks, each as its file's text. */
export function makeProject(
  tasks: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
): string {
  const taskFiles = Object.entries(tasks).map(([id, text]) => [`docs/tasks/${id}.md`, text])
  return makeRepository({
    'README.md': '# shop\n',
    '.gitignore': '.ralph/\n',
    ...Object.fromEntries(taskFiles),
    ...files,
  })
}

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
  const git = openGit({ cwd: repository.root, env: ENV })
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
    edits,
    folder: runFolder(root),
    attempts: async () => (await listAttempts(git)).flatMap((kept) => attemptRecord(kept) ?? []),
    tierOf: (task) => tierOf(task),
    agentsFor: async () => [choice],
    prompt: async ({ task }) => task.source,
    runGate: async (one) => gateResult(one, gate?.(one) ?? true),
    sealer: null,
    ask: null,
    askToCommit: null,
    push: async () => ({ problem: 'no remote' }),
    endLeftovers: async () => [],
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

/** Runs to the end; gives all that happened. */
export async function runAll(harness: Harness): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = []
  const ports = await makePorts(harness)
  for await (const event of runLoop({ ...OPTIONS, ...harness.options }, ports)) events.push(event)
  return events
}

/** The events of one kind. */
export function those<Type extends RunEvent['type']>(
  events: readonly RunEvent[],
  type: Type,
): readonly Extract<RunEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type)
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

export function read(root: string, path: string): string | null {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : null
}
