import type { Usage } from '../base/nouns.ts'
import type { AnswerShape } from './port.ts'

/** A question to an agent outside of a task: the agent only reads, and answers in a fixed shape. */
export interface AgentQuestion {
  /** The name of its logs, and of it on the screen. */
  readonly id: string
  /** The document that it is about. */
  readonly file: string
  readonly prompt: string
  readonly answer: AnswerShape
  readonly env: Readonly<Record<string, string>>
  /** How often it has been asked, and may be. */
  readonly time: number
  readonly most: number
}

/** The result of a question. */
export type AgentReply =
  | {
      readonly kind: 'answered'
      readonly text: string
      readonly agent: string
      readonly model: string | null
      readonly usage: Usage
      readonly seconds: number
    }
  /** `asks`: the agent itself reported that it needs a person. */
  | {
      readonly kind: 'stopped'
      readonly why: 'interrupted' | 'budget' | 'asks' | 'failed'
      readonly reason: string
    }
