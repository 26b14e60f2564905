import type { AgentChoice, AgentLimits, Conversation, Reviewer, Session } from '../agents/port.ts'
import { scriptIn } from '../agents/providers/command.ts'
import type { Gate } from '../base/nouns.ts'
import type { Base } from '../git/head.ts'
import type { SignalResource } from '../agents/signal/signal.ts'
import type { TaskNumber } from '../backlog/ids.ts'
import type { Task } from '../backlog/model.ts'
import type { Situation } from './decide.ts'

/**
 * All that an attempt needs, as plain data: it can be written as JSON and read on another machine, for the same
 * attempt. It is made in one place, for runs and previews.
 */
export interface Job {
  readonly version: 1
  readonly task: JobTask
  /** The number of this attempt among all that are kept. */
  readonly attempt: number
  /** Part of the candidate's name: it differs for an attempt that replaces a lost one. */
  readonly token: string
  readonly base: Base
  readonly from: From
  readonly agent: AgentChoice
  readonly tier: string
  readonly limits: AgentLimits
  readonly prompt: string
  /** The agent's conversation to go on with, and what to say there instead of the prompt; null for a new one. */
  readonly resume: (Conversation & { readonly prompt: string }) | null
  /** If a person drives the agent's interactive program: the conversation to continue; else null. */
  readonly byHand: Session | null
  /** What its agent can read by its tools. */
  readonly resources: readonly SignalResource[]
  /** How long it may wait for a person's answer. */
  readonly askSeconds: number
  readonly gates: readonly Gate[]
  readonly gatesChanged: GatesChanged
  readonly tests: JobTests
  readonly review: JobReview
  /** What `decide` needs to know when it ends. */
  readonly situation: Omit<Situation, 'now'>
  readonly backlog: JobBacklog
}

/** Where an attempt begins: at its base, or with the work of an earlier one. */
export type From =
  { readonly kind: 'base' } | { readonly kind: 'record'; readonly commit: string; readonly tree: string }

/** What an attempt needs to know of its task. */
interface JobTask {
  readonly id: string
  readonly title: string
  /** Relative to the project's root. */
  readonly file: string
  /** The paths under Produces; null if the task names none, empty if it says that there are none. */
  readonly produces: readonly string[] | null
  /** The script under `## Script`, for the embedded agent. */
  readonly script: string | null
}

/** What to do if the work changes files that decide the gates. */
export interface GatesChanged {
  readonly action: 'report' | 'refuse'
  /** Patterns of more files that decide them. */
  readonly paths: readonly string[]
}

/** What may happen to the project's tests. */
export interface TestPolicy {
  /** Patterns of the files of tests; empty for what is usual. */
  readonly paths: readonly string[]
  /** `check`: an attempt may change tests, but not weaken them; `report`: it may do both; `refuse`: neither. */
  readonly changed: 'check' | 'report' | 'refuse'
  /** What follows if new tests do not fail without the change. */
  readonly new: 'warn' | 'require' | 'off'
  /** If the tests take longer, they do not run once more for the witness. */
  readonly limitSeconds: number
}

/** Who reviews the work, and by what. */
interface JobReview {
  /** Each reviewer with those that replace it. */
  readonly by: readonly Reviewer[]
  /** The task's file. */
  readonly text: string
  readonly criteria: readonly string[]
  /** How often reviewers have refused earlier attempts. */
  readonly failedBefore: number
}

/** What the witness needs to know of the project's tests. */
interface JobTests {
  readonly policy: TestPolicy
  /** The gates that passed on the untouched code. */
  readonly green: readonly string[]
  /** How many tests each gate ran on it, as far as it says. */
  readonly before: Readonly<Record<string, number>>
  /** The output of earlier failures. */
  readonly failedBefore: string
}

/** The limits for changes to the backlog. */
interface JobBacklog {
  /** The task numbers that are in use. */
  readonly numbers: readonly TaskNumber[]
  /** Files of other tools' backlogs that ralph keeps in sync. */
  readonly origins: readonly string[]
  /** How many tasks the work may add. */
  readonly mayAdd: number
}

/** The log of an attempt, relative to the project's root. */
export function logOf({ task, attempt }: Pick<Job, 'task' | 'attempt'>): string {
  return `.ralph/logs/${task.id}-${attempt}.log`
}

/** The part of a task that an attempt needs. */
export function jobTaskOf(task: Task): JobTask {
  const { id, title, file, produces } = task
  const paths = produces?.flatMap(({ path }) => (path === null ? [] : [path])) ?? null
  // Words alone (`Tests`) name no path, but do not say that nothing has to change.
  const isUnclear = paths?.length === 0 && produces!.length > 0
  return { id, title, file, produces: isUnclear ? null : paths, script: scriptOf(task) }
}

function scriptOf({ sections, source }: Task): string | null {
  const section = sections.find(({ title }) => title.trim().toLowerCase() === 'script')
  return section ? scriptIn(source.slice(section.bodySpan.start, section.bodySpan.end)) : null
}
