/** The parts of a prompt in their order; each name is a slot of a team's template. */
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

/** The text of each part; an empty part is left out. */
export type PartTexts = Readonly<Record<PartName, string>>

/** A prompt as it is sent, with its parts. */
export interface Prompt {
  readonly text: string
  /** The parts in the text, in order. */
  readonly parts: readonly PromptPart[]
  /** Tokens, estimated. */
  readonly estimate: number
}

/** One part with its size; `template` is the text of a team's template itself. */
export interface PromptPart {
  readonly name: PartName | 'template'
  readonly text: string
  readonly tokens: number
  readonly bytes: number
}
