import {
  type FieldName,
  FIELD_NAMES,
  type SectionName,
  SECTION_NAMES,
  type Status,
  STATUSES,
  type Tier,
  TIERS,
} from './model.ts'
import { type TaskIds, USUAL_IDS } from './ids.ts'

/** The words for fields and sections, so that one reader serves tasks, disciplines and features. */
export interface Vocabulary<F extends string = string, S extends string = string> {
  /** By normalised key: see `wordKey`. */
  readonly fields: ReadonlyMap<string, F>
  readonly sections: ReadonlyMap<string, S>
  /** Sections that a field of the block may replace. */
  readonly fieldSections: ReadonlySet<S>
  /** Sections that are read as a list of products. */
  readonly lists: ReadonlySet<S>
}

/** The words of a task file: its fields and sections, the three statuses and the three tiers. */
export interface TaskVocabulary extends Vocabulary<FieldName, SectionName> {
  readonly statuses: ReadonlyMap<string, Status>
  readonly tiers: ReadonlyMap<string, Tier>
  readonly ids: TaskIds
  /** Words for tasks that are named and not needed. */
  readonly others: ReadonlySet<string>
  /** The team's own words, which edits use in files that have them. */
  readonly own: OwnWords
  /** How the backlog's tasks spell each status, if known. */
  readonly spelled?: ReadonlyMap<Status, string>
}

/** The first word of the team for each thing. */
interface OwnWords {
  readonly fields: ReadonlyMap<FieldName, string>
  readonly statuses: ReadonlyMap<Status, string>
  readonly sections: ReadonlyMap<SectionName, string>
}

/** A team's own words from the configuration. */
export type Aliases = {
  readonly [Kind in 'fields' | 'statuses' | 'sections' | 'tiers']?:
    Readonly<Record<string, readonly string[]>> | undefined
}

/** What other tools and teams write; aliases win over it. */
const TIER_SYNONYMS: Readonly<Record<Tier, readonly string[]>> = {
  Light: ['low', 'small', 'simple', 'easy', 'S', '1'],
  Standard: ['medium', 'moderate', 'normal', 'M', '2'],
  Heavy: ['high', 'large', 'complex', 'hard', 'L', 'XL', '3'],
}

export const FIELD_SYNONYMS: Partial<Record<FieldName, readonly string[]>> = {
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

/** The section that a heading names. A Blocked heading may contain the reason: `Blocked: no key`. */
export function sectionNamed<S extends string>(
  { sections }: Pick<Vocabulary<string, S>, 'sections'>,
  title: string,
): S | undefined {
  const named = lookUp(sections, title.trim().replace(/[:：]$/, ''))
  const blocked = sections.get('blocked')
  if (named !== undefined || blocked === undefined) return named
  const [word = ''] = title.replace(SIGNS_BEFORE, '').split(/\s*(?:[:：—–(（.!]|\s-\s)/, 1)
  return lookUp(sections, word) === blocked ? blocked : undefined
}

// Punctuation, arrows, dingbats and emoji.
const SIGNS_BEFORE = /^(?:[\s!-/:-@[-`{-~\u2000-\u2bff]|\ufe0f|[\ud83c-\ud83e][\udc00-\udfff])+/

/**
 * Whether a key, a heading or a line is about needs, by its words up to the first id. Such a text that is not read as
 * Depends must not be ignored.
 */
export function speaksOfNeeds(
  { fields, ids }: Pick<TaskVocabulary, 'fields' | 'ids'>,
  text: string,
): boolean {
  const [before = ''] = text.slice(0, LONGEST_OPENING).split(ids.regex('<named>'), 1)
  const words = before.replace(SIGNS_BEFORE, '').replace(SIGNS_AFTER, '')
  return lookUp(fields, words) === 'Depends' || NEEDS.has(wordKey(words))
}

const LONGEST_OPENING = 80
const SIGNS_AFTER = /[\s!-/:-@[-`{-~：\u2000-\u2bff]+$/

const NEEDS_WORDS =
  'dep, deps, depend, depend on, dependency, depends upon, dependent on, needs, need, requires, require, required, ' +
  'prerequisite, prerequisites, prereq, prereqs, after, waits for, wait for, waits on, blocked on, blockers, ' +
  'predecessor, predecessors'
const NEEDS = new Set(NEEDS_WORDS.split(', '))

/** Whether a key or a heading may name other tasks without needing them. */
export function namesOthers(others: ReadonlySet<string>, text: string): boolean {
  return others.has(wordKey(text.replace(SIGNS_BEFORE, '').replace(SIGNS_AFTER, '')))
}

const OTHERS_WORDS =
  'related, related to, related task, related tasks, see, see also, parent, parents, parent task, epic, story, child, children, ' +
  'subtask, subtasks, sub tasks, blocks, blocking, unblocks, enables, unlocks, required by, needed by, next, follow up, ' +
  'follow ups, followup, followups, supersedes, superseded by, replaces, replaced by, duplicate of, duplicates, split from, ' +
  'split into, conflicts with, parallel, parallel with, in parallel with, refs, references, origin, id, task, task id'
/** The key in `aliases` for the words under which tasks are named and not needed. */
export const RELATED = 'Related'
export const OTHERS: ReadonlySet<string> = new Set(OTHERS_WORDS.split(', '))

/** Normalises a key: case does not matter, nor whether spaces, underscores or hyphens join its words. */
export function wordKey(word: string): string {
  // Normalizing loads tables that an ASCII word does not need.
  const normal = /^[\0-\x7f]*$/.test(word) ? word : word.normalize('NFC')
  return normal
    .replace(/[\s_-]+/g, ' ')
    .trim()
    .toLowerCase()
}

/** Looks a word up. A backlog has few keys, thousands of times, so each is normalised once. */
export function lookUp<N extends string>(words: ReadonlyMap<string, N>, word: string): N | undefined {
  let meanings = MEANINGS.get(words)
  if (meanings === undefined) MEANINGS.set(words, (meanings = new Map()))
  let meaning = meanings.get(word)
  if (meaning === undefined) {
    meaning = words.get(wordKey(word)) ?? null
    if (meanings.size < MOST_MEANINGS) meanings.set(word, meaning)
  }
  return (meaning as N | null) ?? undefined
}

/** The same for a word with symbols around it, or a remark after it: `✅ DONE`, `heavy (cross-package)`, `DONE — in #12`. */
export function lookUpMarked<N extends string>(words: ReadonlyMap<string, N>, text: string): N | undefined {
  const meaning = lookUp(words, text)
  if (meaning !== undefined || text.length > LONGEST_OPENING) return meaning
  const bare = withoutRemark(text)
  const word = bare.replace(MARKS, '')
  const named = lookUp(words, word)
  // A negative symbol contradicts any word but `blocked`.
  return wordKey(word) !== 'blocked' && SAYS_NO.test(bare) ? undefined : named
}

/** A text without what stands in brackets, or after a dash, at its end. */
export function withoutRemark(text: string): string {
  return text.replace(/\s*[(（][^()（）]*[)）]\s*$|\s*[—–]+\s.*$/s, '')
}

// Dingbats, symbols and emoji.
const MARK = String.raw`(?:[\s\u2300-\u27bf\u2b00-\u2bff]|\ufe0f|[\ud83c-\ud83e][\udc00-\udfff])+`
const MARKS = new RegExp(`^${MARK}|${MARK}$`, 'g')
const SAYS_NO = /[\u26d4\u2716-\u2718\u274c\u274e]|\ud83d\udeab/

const MEANINGS = new WeakMap<ReadonlyMap<string, string>, Map<string, string | null>>()
const MOST_MEANINGS = 5000

/** The vocabulary of a task file, with a team's own words added. */
export function taskVocabulary(aliases: Aliases = {}, ids: TaskIds = USUAL_IDS): TaskVocabulary {
  const fields = wordMap(FIELD_NAMES, FIELD_SYNONYMS)
  const sections = wordMap(SECTION_NAMES, SECTION_SYNONYMS)
  const statuses = wordMap(STATUSES, {})
  const tiers = wordMap(TIERS, TIER_SYNONYMS)
  addAliases(tiers, TIERS, aliases.tiers)
  return {
    fields,
    sections,
    statuses,
    tiers,
    ids,
    others: new Set([...OTHERS, ...(aliases.fields?.[RELATED] ?? []).map(wordKey)]),
    own: {
      fields: addAliases(fields, FIELD_NAMES, aliases.fields),
      statuses: addAliases(statuses, STATUSES, aliases.statuses),
      sections: addAliases(sections, SECTION_NAMES, aliases.sections),
    },
    fieldSections: new Set<SectionName>(['Produces', 'Hints', 'Acceptance Criteria', 'Completion Notes']),
    lists: new Set<SectionName>(['Produces']),
  }
}

/** Adds a team's words, and returns its first word for each thing. */
function addAliases<N extends string>(
  words: Map<string, N>,
  names: readonly N[],
  aliases: Readonly<Record<string, readonly string[]>> = {},
): Map<N, string> {
  const own = new Map<N, string>()
  for (const name of names) {
    const [first] = aliases[name] ?? []
    if (first !== undefined) own.set(name, first)
    addWords(words, name, aliases[name])
  }
  return own
}

/** Maps each name and its synonyms to the name. */
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

/** The vocabulary without a team's own words. */
export const TASK_VOCABULARY: TaskVocabulary = taskVocabulary()
