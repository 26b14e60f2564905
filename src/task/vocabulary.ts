import {
  type FieldName,
  FIELD_NAMES,
  type SectionName,
  SECTION_NAMES,
  type Status,
  STATUSES,
} from './model.ts'

/** Which words mean which field and section, so that one reader serves tasks, disciplines and features. */
export interface Vocabulary<F extends string = string, S extends string = string> {
  /** By the key as `wordKey` gives it. */
  readonly fields: ReadonlyMap<string, F>
  readonly sections: ReadonlyMap<string, S>
  /** Sections that may also be given as a field of the block, by name. */
  readonly fieldSections: ReadonlySet<S>
  /** Sections that are read as a list of products. */
  readonly lists: ReadonlySet<S>
}

/** The words of a task file: its fields and sections, and the three statuses. */
export interface TaskVocabulary extends Vocabulary<FieldName, SectionName> {
  readonly statuses: ReadonlyMap<string, Status>
  /** What a team calls a status, where it has a word of its own: edits write that. */
  readonly ownStatuses: ReadonlyMap<Status, string>
}

/** A team's own words, as its config names them. */
export interface Aliases {
  readonly fields?: Readonly<Record<string, readonly string[]>> | undefined
  readonly statuses?: Readonly<Record<string, readonly string[]>> | undefined
  readonly sections?: Readonly<Record<string, readonly string[]>> | undefined
}

const FIELD_SYNONYMS: Partial<Record<FieldName, readonly string[]>> = {
  Depends: ['Dependencies', 'Depends on', 'DependsOn', 'Blocked by', 'BlockedBy'],
  'PRD Reference': ['PRD References', 'PRDReference', 'PRD'],
  Touches: ['Touch'],
  Tags: ['Tag'],
}

const SECTION_SYNONYMS: Partial<Record<SectionName, readonly string[]>> = {
  'Acceptance Criteria': ['AC', 'Acceptance', 'DoD', 'Definition of Done', 'Done when'],
  Hints: ['Hint'],
  Comments: ['Comment'],
}

/** Case, and whether words are joined by spaces, underscores or hyphens, make no difference to a key. */
export function wordKey(word: string): string {
  return word
    .normalize('NFC')
    .replace(/[\s_-]+/g, ' ')
    .trim()
    .toLowerCase()
}

/** The words of a task file, with a team's own added. */
export function taskVocabulary(aliases: Aliases = {}): TaskVocabulary {
  const fields = wordMap(FIELD_NAMES, FIELD_SYNONYMS)
  const sections = wordMap(SECTION_NAMES, SECTION_SYNONYMS)
  const statuses = wordMap<Status>(STATUSES, {})
  const ownStatuses = new Map<Status, string>()
  for (const name of FIELD_NAMES) addWords(fields, name, aliases.fields?.[name])
  for (const name of SECTION_NAMES) addWords(sections, name, aliases.sections?.[name])
  for (const status of STATUSES) {
    const words = aliases.statuses?.[status]
    addWords(statuses, status, words)
    if (words?.[0] !== undefined) ownStatuses.set(status, words[0])
  }
  const fieldSections = new Set<SectionName>(['Produces', 'Hints', 'Acceptance Criteria', 'Completion Notes'])
  return { fields, sections, statuses, ownStatuses, fieldSections, lists: new Set<SectionName>(['Produces']) }
}

/** Each name under its own word and its synonyms. */
export function wordMap<N extends string>(
  names: readonly N[],
  synonyms: Partial<Record<N, readonly string[]>>,
): Map<string, N> {
  const words = new Map<string, N>()
  for (const name of names) addWords(words, name, [name, ...(synonyms[name] ?? [])])
  return words
}

function addWords<N extends string>(words: Map<string, N>, name: N, added: readonly string[] = []): void {
  for (const word of added) words.set(wordKey(word), name)
}

/** The vocabulary of a team that has named no words of its own. */
export const TASK_VOCABULARY: TaskVocabulary = taskVocabulary()
