import type { AgentLimits, Permission, Session } from '../agent/port.ts'
import { scriptIn } from '../agent/providers/script.ts'
import type { McpServer } from '../base/mcp-server.ts'
import type { Gate } from '../events/gate.ts'
import type { Base } from '../git/head.ts'
import type { SignalResource } from '../signal/signal.ts'
import type { Task } from '../task/model.ts'
import type { Situation } from './decide.ts'

/**
 * All that an attempt needs, as plain data: it could be written as JSON and read on another machine, and the attempt
 * would be the same. It is made in one place, for a run and for what previews one.
 */
export interface Job {
  readonly version: 1
  readonly task: JobTask
  /** Counts every attempt at the task that is kept. */
  readonly attempt: number
  /** Names the candidate: of an attempt that another has overtaken it is another one. */
  readonly token: string
  readonly base: Base
  readonly from: From
  readonly agent: AgentChoice
  readonly tier: string
  readonly limits: AgentLimits
  readonly prompt: string
  /** Where a person drives the agent's own interactive program: the conversation that they go on with; else null. */
  readonly byHand: Session | null
  /** What its agent can read on demand. */
  readonly resources: readonly SignalResource[]
  /** How long it may wait for a person's answer. */
  readonly askSeconds: number
  readonly gates: readonly Gate[]
  readonly gatesChanged: GatesChanged
  /** What follows from how it ends. */
  readonly situation: Omit<Situation, 'now'>
  readonly backlog: JobBacklog
  /** Files that gates and hooks themselves leave behind or change: no agent's work. */
  readonly gateOutput: readonly string[]
}

/** Where an attempt begins: at its base, or with what an earlier one has left. */
export type From =
  { readonly kind: 'base' } | { readonly kind: 'record'; readonly commit: string; readonly tree: string }

/** What an attempt has to know of its task. */
interface JobTask {
  readonly id: string
  readonly title: string
  /** Relative to the project's root. */
  readonly file: string
  /** The paths under Produces; null where the task does not say, empty where it says that there are none. */
  readonly produces: readonly string[] | null
  /** The script under `## Script`, for the embedded agent. */
  readonly script: string | null
}

/** An agent, and how a task's settings have it work. */
export interface AgentChoice {
  readonly name: string
  /** With its version, where that is known: `claude 2.1.326`. */
  readonly label: string
  readonly model: string | null
  readonly permission: Permission
  readonly mcpServers: Readonly<Record<string, McpServer>>
}

/** What to do where the work changes what decides the gates. */
export interface GatesChanged {
  readonly action: 'report' | 'refuse'
  /** More files that decide them, as patterns. */
  readonly paths: readonly string[]
}

/** What the work may not do to the backlog. */
interface JobBacklog {
  /** The task folder inside the project. */
  readonly folder: string
  /** The numbers that are taken. */
  readonly numbers: readonly number[]
  /** What any task is to produce: such a file is no gate output. */
  readonly produced: readonly string[]
  /** Files of other tools' backlogs that are kept in step. */
  readonly origins: readonly string[]
  /** How many tasks the work may add. */
  readonly mayAdd: number
}

/** The log of an attempt, relative to the project's root. */
export function logOf({ task, attempt }: Pick<Job, 'task' | 'attempt'>): string {
  return `.ralph/logs/${task.id}-${attempt}.log`
}

/** What an attempt at it has to know of a task. */
export function jobTaskOf(task: Task): JobTask {
  const { id, title, file, produces } = task
  const paths = produces?.flatMap(({ path }) => (path === null ? [] : [path])) ?? null
  return { id, title, file, produces: paths, script: scriptOf(task) }
}

function scriptOf({ sections, source }: Task): string | null {
  const section = sections.find(({ title }) => title.trim().toLowerCase() === 'script')
  return section ? scriptIn(source.slice(section.bodySpan.start, section.bodySpan.end)) : null
}
