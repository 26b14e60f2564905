import { scanInlineText } from './markdown/inline.ts'
import {
  type TaskVocabulary,
  lookUp,
  lookUpMarked,
  namesOthers,
  sectionNamed,
  speaksOfNeeds,
} from './vocabulary.ts'

/** The meaning of a field's key. */
export type KeyMeaning = NonNullable<ReturnType<typeof keyMeaning>>

/**
 * The meanings of a plain file's words in a vocabulary, by their bytes; null if only the parser can decide. A backlog has
 * few keys, statuses and headings, thousands of times: each is decoded and looked up once.
 */
export const plainWords = perVocabulary((vocabulary) => ({
  key: remembered((bytes) => keyMeaning(bytes, vocabulary)),
  /** The value of a field as plain text. */
  text: remembered(plainText),
  /** Null for no status, too. */
  status: remembered((bytes) => {
    const word = plainText(bytes)
    return (word !== null && lookUpMarked(vocabulary.statuses, word)) || null
  }),
  /** The section that a heading names; `another` is the author's own. */
  title: remembered((bytes) => {
    const title = plainText(bytes)
    const name = title === null ? null : sectionNamed(vocabulary, title)
    if (title === null || name) return name ?? null
    return speaksOfNeeds(vocabulary, title) ? null : 'another'
  }),
}))

/** Memoizes a function of a vocabulary, for as long as the vocabulary exists. */
export function perVocabulary<T>(make: (vocabulary: TaskVocabulary) => T): (vocabulary: TaskVocabulary) => T {
  const made = new WeakMap<TaskVocabulary, { readonly value: T }>()
  return (vocabulary) => {
    let known = made.get(vocabulary)
    if (known === undefined) made.set(vocabulary, (known = { value: make(vocabulary) }))
    return known.value
  }
}

/** Makes a reader of bytes from a reader of plain text; it returns null if only the parser can decide. */
export function textReader<T>(read: (text: string) => T): (bytes: string) => { readonly value: T } | null {
  return remembered((bytes) => {
    const text = plainText(bytes)
    return text === null ? null : { value: read(text) }
  })
}

/** Bytes of a file as plain text; null if only the parser can decide. */
export function plainText(bytes: string): string | null {
  return scanInlineText(decoded(bytes).trim())
}

function keyMeaning(bytes: string, vocabulary: TaskVocabulary) {
  const { sections, fieldSections, fields, others } = vocabulary
  const key = decoded(bytes)
  if (!IS_ASCII_KEY.test(key) && !IS_PLAIN_KEY.test(key)) return null
  const section = lookUp(sections, key)
  /** Whether it stands for a section, as in `- **Produces**: …`. */
  const isSection = section !== undefined && fieldSections.has(section)
  const name = isSection ? null : (lookUp(fields, key) ?? null)
  if (name === null && speaksOfNeeds(vocabulary, key)) return null
  /** Whether ids in its value may be dependencies, which only the full reader can decide. */
  const mayNeed = name === null && !isSection && !namesOthers(others, key)
  return { name, key, isSection, mayNeed }
}

// Letters and digits with spaces between them: Markdown gives them no other meaning. The first pattern covers most
// keys; compiling the second takes a millisecond.
const IS_ASCII_KEY = /^[A-Za-z0-9](?:[A-Za-z0-9 ]{0,38}[A-Za-z0-9])?$/
const IS_PLAIN_KEY = /^[\p{L}\p{N}](?:[\p{L}\p{N} ]{0,38}[\p{L}\p{N}])?$/u

/** Memoizes a reader of bytes, for as many as a backlog has in common. */
export function remembered<T>(read: (bytes: string) => T): (bytes: string) => T {
  const known = new Map<string, T>()
  return (bytes) => {
    const found = known.get(bytes)
    if (found !== undefined) return found
    const own = ownCopy(bytes)
    const made = read(own)
    if (known.size < MOST_REMEMBERED) known.set(own, made)
    return made
  }
}

const MOST_REMEMBERED = 1000

/**
 * Task files are scanned as bytes, each as one unit of a string: all of their structure is ASCII, and most of the
 * rest is never shown. What is shown is decoded here.
 */
export function decoded(bytes: string): string {
  return BEYOND_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes
}

const BEYOND_ASCII = /[^\0-\x7f]/

/** Decodes into a new string. */
export function ownText(bytes: string): string {
  return BEYOND_ASCII.test(bytes) ? decoded(bytes) : ownCopy(bytes)
}

/** A new string of the same units: a part of another string would keep all of that in memory. */
function ownCopy(bytes: string): string {
  // The engine copies both into one new string; that takes half of the time of the way through a buffer.
  return ` ${bytes}`.slice(1)
}
