import { splitPaths } from '../backlog/values.ts'
import { wordMap, type Vocabulary } from '../backlog/vocabulary.ts'
import { readDocument, type DocumentProblem, type Mention } from './document.ts'

/** The domain of tasks: one file of `docs/features`. */
export interface Feature {
  /** The file's name without its ending, as in tasks. */
  readonly name: string
  readonly title: string
  /** Documents to include. */
  readonly knowledge: readonly string[]
  /** Source files for every task of the feature. */
  readonly context: readonly string[]
  readonly acronym: string | null
  /** Includes all other text of the author. */
  readonly description: string
  readonly mentions: readonly Mention[]
  /** The problems of the file. */
  readonly problems: readonly DocumentProblem[]
}

/** Reads the text of a feature's file. */
export async function readFeature(name: string, source: string): Promise<Feature> {
  const document = await readDocument(name, source, VOCABULARY)
  const knowledge = splitPaths(document.field('Knowledge') ?? '')
  const context = splitPaths(document.field('Context') ?? '')
  return {
    name,
    title: document.title,
    knowledge,
    context,
    acronym: document.field('Acronym'),
    description: [document.body('Description'), document.rest].filter((text) => text !== '').join('\n\n'),
    mentions: [
      ...document.mentions('path', 'Knowledge', knowledge),
      ...document.mentions('path', 'Context', context),
    ],
    problems: document.problems,
  }
}

const FIELDS = ['Knowledge', 'Context', 'Acronym'] as const
const SECTIONS = ['Description'] as const

const VOCABULARY: Vocabulary<(typeof FIELDS)[number], (typeof SECTIONS)[number]> = {
  fields: wordMap(FIELDS, {}),
  sections: wordMap(SECTIONS, {}),
  fieldSections: new Set(),
  lists: new Set(),
}
