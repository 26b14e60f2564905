import type { Usage } from '../events/usage.ts'
import type { AnswerShape } from './port.ts'

/** Something that an agent is asked, and that is no task: it only reads, and answers in a shape. */
export interface AgentQuestion {
  /** Names its logs, and it in what is shown. */
  readonly id: string
  /** The document that it is about. */
  readonly file: string
  readonly prompt: string
  readonly answer: AnswerShape
  readonly env: Readonly<Record<string, string>>
  /** Which time it is asked, and how often it may be. */
  readonly time: number
  readonly most: number
}

/** What came of it. */
export type AgentReply =
  | {
      readonly kind: 'answered'
      readonly text: string
      readonly agent: string
      readonly model: string | null
      readonly usage: Usage
      readonly seconds: number
    }
  /** `asks`: the agent itself said that it needs somebody. */
  | {
      readonly kind: 'stopped'
      readonly why: 'interrupted' | 'budget' | 'asks' | 'failed'
      readonly reason: string
    }
