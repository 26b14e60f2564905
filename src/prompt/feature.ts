import { splitPaths } from '../backlog/values.ts'
import { wordMap, type Vocabulary } from '../backlog/vocabulary.ts'
import { readDocument } from './document.ts'

/** The domain of tasks: one file of `docs/features`. */
export type Feature = Awaited<ReturnType<typeof readFeature>>

/** Reads the text of a feature's file. */
export async function readFeature(name: string, source: string) {
  const document = await readDocument(name, source, VOCABULARY)
  const knowledge = splitPaths(document.field('Knowledge') ?? '')
  const context = splitPaths(document.field('Context') ?? '')
  return {
    // The file's name without its ending, as in tasks.
    name,
    title: document.title,
    // Documents to include, and source files for every task of the feature.
    knowledge,
    context,
    acronym: document.field('Acronym'),
    // With all other text of the author.
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
