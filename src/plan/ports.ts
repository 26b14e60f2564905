import type { AgentQuestion, AgentReply } from '../agent/question.ts'
import type { Diagnostic } from '../base/diagnostic.ts'
import type { Surroundings } from '../prompt/locate.ts'
import type { Task, Tier } from '../task/model.ts'
import type { TaskVocabulary } from '../task/vocabulary.ts'
import type { Mistake, Phase } from './answers.ts'
import type { Changes } from './changes.ts'
import type { Choice } from './decision-file.ts'
import type { NoteStore, PlanCommit } from './note.ts'

/** What is asked of planning. */
export interface PlanOptions {
  /** Take the recommendations, and what is proposed to the backlog. */
  readonly yes: boolean
  readonly research: boolean
  readonly dryRun: boolean
}

/** Where plans and their documents stand, relative to the root. */
export interface PlanPlaces {
  readonly root: string
  readonly plans: string
  readonly decisions: string
  /** The task folder. */
  readonly tasks: string
}

/** The file in which other tools find the tasks of plans. */
export const EXPORT_FILE = 'implementation.json'

/** Everything that planning touches: all of it handed in. */
export interface PlanPorts {
  readonly places: PlanPlaces
  readonly vocabulary: TaskVocabulary
  readonly fromProduces: Readonly<Record<Tier, number | null>>
  /** How many tokens a prompt may have. */
  readonly promptBudget: number
  readonly backlog: () => Promise<readonly Task[]>
  readonly lint: (tasks: readonly Task[]) => Promise<readonly Diagnostic[]>
  /** The highest number of a task on any branch, and in any worktree. */
  readonly highest: () => Promise<number>
  /** Every file that git knows, or that is new and not ignored, relative to the root. */
  readonly files: () => Promise<readonly string[]>
  /** The texts by which other tools know of these tasks and hear what becomes of them, by path. */
  readonly exported: (tasks: readonly Task[]) => Promise<ReadonlyMap<string, string>>
  readonly isIgnored: Surroundings['isIgnored']
  readonly schemaOf: (phase: Phase) => Promise<object>
  readonly ask: (question: AgentQuestion) => Promise<AgentReply>
  /** Commits these paths as they are; null where that is not wanted. */
  readonly commit: ((commit: PlanCommit) => Promise<Committed>) | null
  readonly note: NoteStore
  /** Ends what an agent of a dead planning has left, and says what differs from the tree that it began with. */
  readonly putInOrder: (work: object) => Promise<readonly string[]>
  /** Tells those that look on how far planning is. */
  readonly mirror: (progress: PlanProgress) => Promise<void>
  /** Keeps a long wish where the agent can read it; its path, relative to the root. */
  readonly keepWish: (slug: string, wish: string) => string
  /** Asks a person, one decision at a time; null where nobody is there. */
  readonly decide: ((open: OpenDecision) => Promise<Choice | 'later'>) | null
  /** Asks whether the backlog is to be changed so; null where nobody is there. */
  readonly confirm: ((changes: Changes) => Promise<boolean>) | null
  readonly emit: (event: PlanEvent) => void
  readonly now: () => Date
  /** Called between two side effects; a test ends the process there. */
  readonly checkpoint: (name: PlanCheckpoint) => void
}

/** The points between two effects of planning. */
export type PlanCheckpoint = 'begun' | 'answered' | 'writing-noted' | 'file-written' | 'written' | 'committed'

/** The commit's name, or why git did not make it. */
export type Committed = { readonly commit: string } | { readonly problem: string }

/** In the phases that others know. */
export interface PlanProgress {
  readonly phase: 'research' | 'decisions' | 'planning' | 'planning_complete'
  readonly request: string
  readonly tasks: readonly string[]
}

/** A decision that waits for a person. */
export interface OpenDecision {
  readonly file: string
  readonly title: string
  readonly options: readonly { readonly title: string; readonly consequences: string }[]
  readonly recommended: string | null
  readonly why: string
  readonly number: number
  readonly of: number
}

/** What happens while a plan is made, beside what its agents do. */
export type PlanEvent =
  | { readonly type: 'phase-started'; readonly slug: string; readonly phase: Phase; readonly tokens: number }
  | { readonly type: 'prompt'; readonly phase: Phase; readonly text: string }
  | {
      readonly type: 'answer-refused'
      readonly phase: Phase
      readonly mistakes: readonly Mistake[]
      /** How often it is asked again. */
      readonly left: number
    }
  | {
      readonly type: 'phase-finished'
      readonly phase: Phase | 'aborted'
      readonly files: readonly string[]
      readonly commit: string | null
    }
  | { readonly type: 'warning'; readonly message: string }
