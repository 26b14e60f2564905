import { decoded } from './byte-text.ts'
import { scanInlineText } from '../markdown/inline.ts'
import { type FieldName, FIELD_NAMES, type SectionName, type Status } from './model.ts'
import {
  lookUp,
  lookUpMarked,
  namesOthers,
  sectionNamed,
  speaksOfNeeds,
  type TaskVocabulary,
} from './vocabulary.ts'

/**
 * What the words of a plain file mean, asked by their bytes. A backlog has a handful of keys, statuses and headings,
 * thousands of times: each is decoded and looked up once.
 */
export interface PlainWords {
  /** What `- **Key**:` begins; null where only the parser can tell. */
  readonly key: (bytes: string) => KeyMeaning | null
  /** The value of a field as plain text; null where only the parser can tell. */
  readonly text: (bytes: string) => string | null
  /** Null for what is none, or what only the parser can tell. */
  readonly status: (bytes: string) => Status | null
  readonly title: (bytes: string) => SectionName | 'another' | 'unclear'
}

/** What the key of a field means. */
export interface KeyMeaning {
  /** What stands before the value, as bytes. */
  readonly start: string
  readonly name: FieldName | null
  readonly key: string
  /** Another for each name, none where there is no name: to notice one that is given twice. */
  readonly bit: number
  /** Ids in its value may be dependencies, which only the definition can tell. */
  readonly mayNeed: boolean
  /** It stands for a section, as `- **Produces**: …` does. */
  readonly isSection: boolean
}

/** The plain words of a vocabulary: always the same for the same one. */
export const plainWords = perVocabulary((vocabulary): PlainWords => ({
  key: remembered((bytes) => keyMeaning(bytes, vocabulary)),
  text: remembered(plainText),
  status: remembered((bytes) => {
    const word = plainText(bytes)
    return (word !== null && lookUpMarked(vocabulary.statuses, word)) || null
  }),
  title: remembered((bytes) => {
    const title = plainText(bytes)
    if (title === null) return 'unclear'
    return (
      sectionNamed(vocabulary, title) ?? (speaksOfNeeds(vocabulary.fields, title) ? 'unclear' : 'another')
    )
  }),
}))

/** What is made once for a vocabulary, and kept as long as that is. */
export function perVocabulary<T>(make: (vocabulary: TaskVocabulary) => T): (vocabulary: TaskVocabulary) => T {
  const made = new WeakMap<TaskVocabulary, { readonly value: T }>()
  return (vocabulary) => {
    let known = made.get(vocabulary)
    if (known === undefined) made.set(vocabulary, (known = { value: make(vocabulary) }))
    return known.value
  }
}

/** Makes the reader of a value, by what it makes of the plain text; null where only the parser can tell. */
export function textReader<T>(read: (text: string) => T): (bytes: string) => { readonly value: T } | null {
  return remembered((bytes) => {
    const text = plainText(bytes)
    return text === null ? null : { value: read(text) }
  })
}

/** What stands in a file, by its bytes, as plain text; null where only the parser can tell. */
export function plainText(bytes: string): string | null {
  return scanInlineText(decoded(bytes).trim())
}

function keyMeaning(start: string, vocabulary: TaskVocabulary): KeyMeaning | null {
  const key = decoded(start.slice('- **'.length, -'**:'.length))
  if (!IS_ASCII_KEY.test(key) && !IS_PLAIN_KEY.test(key)) return null
  const section = lookUp(vocabulary.sections, key)
  const isSection = section !== undefined && vocabulary.fieldSections.has(section)
  const name = isSection ? null : (lookUp(vocabulary.fields, key) ?? null)
  if (name === null && speaksOfNeeds(vocabulary.fields, key)) return null
  const mayNeed = name === null && !isSection && !namesOthers(vocabulary.others, key)
  return { start, name, key, isSection, mayNeed, bit: name === null ? 0 : 1 << FIELD_NAMES.indexOf(name) }
}

// Letters and digits, and between them spaces: nothing that could be more to Markdown than a word.
// The first says the same of most; to make the second costs a millisecond.
const IS_ASCII_KEY = /^[A-Za-z0-9](?:[A-Za-z0-9 ]{0,38}[A-Za-z0-9])?$/
const IS_PLAIN_KEY = /^[\p{L}\p{N}](?:[\p{L}\p{N} ]{0,38}[\p{L}\p{N}])?$/u

function remembered<T>(read: (bytes: string) => T): (bytes: string) => T {
  const known = new Map<string, T>()
  return (bytes) => {
    const found = known.get(bytes)
    if (found !== undefined) return found
    const own = ownBytes(bytes)
    const made = read(own)
    if (known.size < MOST_REMEMBERED) known.set(own, made)
    return made
  }
}

const MOST_REMEMBERED = 1000

/** A part of a source would keep all of that in memory. */
function ownBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('latin1')
}
