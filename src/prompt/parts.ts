/** The parts of a prompt in their order; each is a slot of a team's own template by this name. */
export const PART_NAMES = [
  'persona',
  'skills',
  'conventions',
  'rules',
  'feature',
  'knowledge',
  'prd',
  'files',
  'milestone',
  'task',
  'acceptance',
  'produces',
  'hints',
  'comments',
  'attempts',
  'prerequisites',
  'instructions',
] as const
export type PartName = (typeof PART_NAMES)[number]

/** What each part says; an empty text leaves it out. */
export type PartTexts = Readonly<Record<PartName, string>>

/** A prompt as it is sent, and what it is made of. */
export interface Prompt {
  readonly text: string
  /** Those that are in the text, in its order. */
  readonly parts: readonly PromptPart[]
  /** Tokens, estimated. */
  readonly estimate: number
}

/** One part with its size; `template` stands for what a team's template adds of its own. */
export interface PromptPart {
  readonly name: PartName | 'template'
  readonly text: string
  readonly tokens: number
  readonly bytes: number
}
