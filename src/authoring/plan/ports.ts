import type { AgentQuestion, AgentReply } from '../../agents/port.ts'
import type { Diagnostic } from '../../base/diagnostic.ts'
import type { Surroundings } from '../../prompt/files.ts'
import type { Task, Tier } from '../../backlog/model.ts'
import type { TaskVocabulary } from '../../backlog/vocabulary.ts'
import type { Mistake, Phase } from './answers.ts'
import type { Changes } from './drafts.ts'
import type { Choice, Choices } from './decisions.ts'
import type { Desk } from './desk.ts'
import type { NoteStore, PlanCommit } from './write-phase.ts'

/** The options of planning. */
interface PlanOptions {
  /** Whether to accept the recommendations and the proposed changes to the backlog. */
  readonly yes: boolean
  readonly dryRun: boolean
}

/** The folders of plans and their documents, relative to the root. */
export interface PlanPlaces {
  readonly root: string
  readonly plans: string
  readonly decisions: string
  /** The task folder. */
  readonly tasks: string
}

/** The file in which other tools find the tasks of plans. */
export const EXPORT_FILE = 'implementation.json'

/** Everything that planning uses, all of it passed in. */
export interface PlanPorts {
  readonly places: PlanPlaces
  readonly desk: Desk
  readonly options: PlanOptions
  readonly vocabulary: TaskVocabulary
  readonly fromProduces: Readonly<Record<Tier, number | null>>
  /** The most tokens in a prompt. */
  readonly promptBudget: number
  readonly backlog: () => Promise<readonly Task[]>
  readonly lint: (tasks: readonly Task[]) => Promise<readonly Diagnostic[]>
  /** The highest task number on any branch, and in any worktree. */
  readonly highest: () => Promise<number>
  /** Every file that git tracks, or that is new and not ignored, relative to the root. */
  readonly files: () => Promise<readonly string[]>
  /** The texts of the files for other tools with these tasks and their status, by path. */
  readonly exported: (tasks: readonly Task[]) => Promise<ReadonlyMap<string, string>>
  readonly isIgnored: Surroundings['isIgnored']
  readonly ask: (question: AgentQuestion) => Promise<AgentReply>
  /** Commits these paths as they are; null if nothing is to be committed. */
  readonly commit: ((commit: PlanCommit) => Promise<Committed>) | null
  readonly note: NoteStore
  /** Ends what an agent of a killed planning has left, and undoes what it had done to git. */
  readonly recoverAgent: (work: object) => Promise<void>
  /** Reports the progress to other programs. */
  readonly mirror: (progress: PlanProgress) => Promise<void>
  /** Stores a long wish where the agent can read it; returns its path, relative to the root. */
  readonly keepWish: (slug: string, wish: string) => string
  /** Asks a person, one decision at a time; null if nobody is there. */
  readonly decide: ((open: OpenDecision) => Promise<Choice | 'later'>) | null
  /** Asks whether to make these changes to the backlog; null if nobody is there. */
  readonly confirm: ((changes: Changes) => Promise<boolean>) | null
  readonly emit: (event: PlanEvent) => void
  readonly now: () => Date
  /** Called between two side effects; a test ends the process there. */
  readonly checkpoint: (name: PlanCheckpoint) => void
}

/** The points between two effects of planning. */
type PlanCheckpoint = 'begun' | 'answered' | 'writing-noted' | 'file-written' | 'written' | 'committed'

/** The commit's hash, or why git did not make it. */
export type Committed = { readonly commit: string } | { readonly problem: string }

/** With the phases that other programs know. */
export interface PlanProgress {
  readonly phase: 'research' | 'decisions' | 'planning' | 'planning_complete'
  readonly request: string
  readonly tasks: readonly string[]
}

/** A decision that waits for a person. */
interface OpenDecision extends Choices {
  readonly title: string
  readonly number: number
  readonly of: number
}

/** The events of planning, besides those of its agents. */
export type PlanEvent =
  | { readonly type: 'phase-started'; readonly slug: string; readonly phase: Phase; readonly tokens: number }
  | { readonly type: 'prompt'; readonly phase: Phase; readonly text: string }
  | {
      readonly type: 'answer-refused'
      readonly phase: Phase
      readonly mistakes: readonly Mistake[]
      /** How often it will still be asked. */
      readonly left: number
    }
  | {
      readonly type: 'phase-finished'
      readonly phase: Phase | 'aborted'
      readonly files: readonly string[]
      readonly commit: string | null
    }
  | { readonly type: 'warning'; readonly message: string }
