import { USUAL_FOLDERS } from '../../src/backlog/task-folders.ts'
import type { Agent, AgentEnd, AgentEvent, AgentRequest, AgentChoice } from '../../src/agents/port.ts'
import { Control } from '../../src/engine/control.ts'
import { runFolder } from '../../src/engine/folder.ts'
import { openLogs } from '../../src/engine/journal.ts'
import type { Programs, RunOptions, RunPorts, WritePrompt } from '../../src/engine/ports.ts'
import { gateRunner } from '../../src/engine/gates/run.ts'
import { openHome } from '../../src/engine/slot/home.ts'
import { Readying, type Needs } from '../../src/engine/slot/ready.ts'
import { Slot } from '../../src/engine/slot/slot.ts'
import { branchTasks } from '../../src/cli/setup/start-run.ts'
import type { RunEvent } from '../../src/engine/events/event.ts'
import type { Gate, GateResult, Usage } from '../../src/base/nouns.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import { openGit } from '../../src/git/door.ts'
import type { Git } from '../../src/git/git.ts'
import { findRepository } from '../../src/git/repository.ts'
import { startProcess } from '../../src/process/start.ts'
import { newMark, withMark } from '../../src/process/mark.ts'
import { tierOf } from '../../src/backlog/select/tier.ts'
import { NO_ORIGINS } from '../../src/backlog/origin.ts'
import { TASK_VOCABULARY } from '../../src/backlog/vocabulary.ts'
import { doorOf, ENV } from '../repository.ts'

export type Deed = (request: AgentRequest) => Promise<Said | void> | Said | void

/** How an agent ends; what is not said is as a contented agent's. */
export interface Said {
  readonly end?: AgentEnd
  readonly message?: string
  readonly usage?: Partial<Usage>
  readonly events?: readonly AgentEvent[]
  /** One, if not said. */
  readonly toolCalls?: number
  /** The conversation, of an agent that can go on with one. */
  readonly session?: string
}

/** An agent that does what the test says, in this process. */
export function agentOf(deed: Deed, name = 'fake'): Agent {
  return {
    name,
    resumes: true,
    async run(request, emit) {
      emit({ type: 'started', pid: process.pid })
      const said = (await deed(request)) ?? {}
      for (const event of said.events ?? []) emit(event)
      const usage = { ...UNKNOWN_USAGE, ...said.usage }
      const finalMessage = said.message ?? `Did ${request.task.id}.`
      const end = said.end ?? { kind: 'done' }
      const toolCalls = said.toolCalls ?? 1
      const sessionId = said.session ?? null
      if (sessionId !== null) emit({ type: 'session', session: sessionId })
      return { end, finalMessage, usage, sessionId, model: null, denied: [], toolCalls, seconds: 1 }
    },
  }
}

export interface Harness {
  readonly root: string
  readonly deed?: Deed
  /** Sees each call of git, as a benchmark does. */
  readonly counted?: (git: Git) => Git
  /** Hears of each event as it happens. */
  readonly hear?: (event: RunEvent) => void
  readonly options?: Partial<RunOptions>
  readonly ports?: Partial<RunPorts> & Partial<Programs> & { readonly prompt?: WritePrompt }
  /** What the configuration says of workspaces of ralph's own. */
  readonly own?: Partial<Needs>
  /** Whether a gate of that name passes, in that folder; `gates` in the options name them. */
  readonly gate?: (gate: Gate, cwd: string) => Promise<boolean> | Partial<GateResult> | boolean
}

export const OPTIONS: RunOptions = {
  task: null,
  loop: true,
  maxTasks: null,
  jobs: 1,
  branch: null,
  overlap: 'wait',
  retries: 3,
  onFailure: 'block',
  byHand: false,
  budget: null,
  maxCostPerTask: null,
  maxTokens: null,
  maxTokensPerTask: null,
  maxTurns: null,
  timeoutSeconds: null,
  stallSeconds: 300,
  askSeconds: 3600,
  checkCriteria: false,
  gates: [],
  gatesChanged: { action: 'report', paths: [] },
  tests: { paths: [], changed: 'check', new: 'warn', limitSeconds: 300 },
  baseline: 'off',
  subject: '{id}: {title}',
  progress: null,
  push: false,
  maxAddedTasks: 20,
}

/** Who does every task of a test. */
export function choiceOf(name: string, more: Partial<AgentChoice> = {}): AgentChoice {
  return {
    name,
    label: name,
    model: null,
    permission: { level: 'edit' },
    mcpServers: {},
    hasTools: false,
    takesSchema: false,
    ...more,
  }
}

/** Has these agents do every task: the first, and who goes on while it waits. */
export function doneBy(
  ...agents: readonly [Agent, ...Agent[]]
): Pick<RunPorts, 'agentsFor'> & Pick<Programs, 'agent'> {
  const [first, ...others] = agents.map(({ name }) => choiceOf(name))
  return {
    agentsFor: async () => [first!, ...others],
    agent: async ({ name }) => agents.find((agent) => agent.name === name)!,
  }
}

export async function makePorts({ root, deed, ports, gate, own, counted }: Harness): Promise<RunPorts> {
  const door = doorOf(root)
  const repository = await findRepository(door)
  if (!repository) throw new Error('no repository')
  const mark = newMark()
  const git = openGit({ cwd: repository.root, env: withMark(ENV, mark) })
  const home = await openHome(counted?.(git) ?? git, repository, root)
  const agent = agentOf(deed ?? (() => undefined))
  const folder = runFolder(root, repository)
  const { prompt, ...others } = ports ?? {}
  const real = gateRunner(startProcess)
  // Hooks are git's own affair: they really run.
  const runGate: Programs['runGate'] = async (one, context) =>
    one.name === 'hooks' ? real(one, context) : gateResult(one, (await gate?.(one, context.cwd)) ?? true)
  const programs: Programs = {
    agent: others.agent ?? (async () => agent),
    runGate: others.runGate ?? runGate,
    runInstall: others.runInstall ?? runGate,
  }
  const needs = { prepare: null, copy: [], link: [], keep: [], ...own }
  const readying = new Readying(home, needs)
  const slots = new Map<number, Slot>()
  const where = { folders: USUAL_FOLDERS, words: TASK_VOCABULARY, unread: () => null }
  return {
    home,
    slots: {
      folder: ownFolder(root),
      readying,
      get(number) {
        const slot =
          slots.get(number) ?? new Slot(number, { home, folder: ownFolder(root), readying, env: ENV })
        slots.set(number, slot)
        return slot
      },
      closeOrigin: async () => null,
      programs: async () => programs,
      prompt: () =>
        prompt ?? (async ({ task }) => ({ text: task.source, estimate: 0, warnings: [], resources: [] })),
      origins: async () => NO_ORIGINS,
    },
    source: branchTasks(home, where),
    workers: null,
    secrets: { values: [], allow: [] },
    origins: [],
    folder,
    logs: openLogs(folder, 1_000_000),
    tierOf: (task) => tierOf(task),
    agentsFor: async () => [choiceOf(agent.name)],
    reviewersFor: async () => [],
    sandbox: { on: false, reason: null },
    mark,
    sealer: null,
    ask: null,
    terminal: null,
    server: null,
    draftTask: async () => ({ problem: 'no tasks here' }),
    warnings: [],
    onStarted: () => () => undefined,
    now: () => new Date(),
    sleep: async () => undefined,
    checkpoint: () => undefined,
    env: ENV,
    control: new Control(),
    pid: process.pid,
    ...others,
  }
}

/** Beside the repository of a test, and gone with it. */
export function ownFolder(root: string): string {
  return `${root}.own`
}

export function gateOf(name: string, more: Partial<Gate> = {}): Gate {
  return { name, command: `run ${name}`, required: true, timeoutSeconds: 60, ...more }
}

/** What a gate, or an installation, found: whether it passed, or what a test says of it. */
export function gateResult(gate: Gate, told: Partial<GateResult> | boolean): GateResult {
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
