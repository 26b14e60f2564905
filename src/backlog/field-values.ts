import { parseDuration } from '../base/time.ts'
import type { FieldName, FieldValues } from './model.ts'
import { isNone, splitPaths, splitReferences, splitTags } from './values.ts'
import { lookUpMarked, type TaskVocabulary, wordKey } from './vocabulary.ts'

/** The field of a value, and how to read it from plain text; the text is empty without such a field. */
interface FieldReader<T> {
  readonly field: FieldName
  readonly read: (text: string, vocabulary: TaskVocabulary) => T
}

/** How to read the values of a task's fields. */
export const VALUE_READERS: { readonly [K in keyof FieldValues]: FieldReader<FieldValues[K]> } = {
  milestone: { field: 'Milestone', read: readText },
  prdReference: { field: 'PRD Reference', read: splitReferences },
  touches: { field: 'Touches', read: splitPaths },
  context: { field: 'Context', read: splitPaths },
  complexity: { field: 'Complexity', read: (text, { tiers }) => lookUpMarked(tiers, text) ?? null },
  discipline: { field: 'Discipline', read: readText },
  feature: { field: 'Feature', read: readText },
  agent: { field: 'Agent', read: readText },
  model: { field: 'Model', read: readText },
  turns: { field: 'Turns', read: readCount },
  timeoutSeconds: { field: 'Timeout', read: readDuration },
  priority: { field: 'Priority', read: readText },
  tags: { field: 'Tags', read: splitTags },
  review: { field: 'Review', read: readText },
  testPolicy: { field: 'Tests', read: readTestPolicy },
  provenance: { field: 'Provenance', read: readText },
  origin: { field: 'Origin', read: readText },
  completed: { field: 'Completed', read: readText },
  commit: { field: 'Commit', read: readText },
  cost: { field: 'Cost', read: readText },
}

const VALUE_NAMES = Object.keys(VALUE_READERS) as (keyof FieldValues)[]

/** Reads the values of a task from the plain text of each field; the text is empty without such a field. */
export function readValues(raw: (field: FieldName) => string, vocabulary: TaskVocabulary): FieldValues {
  const values: Partial<Record<keyof FieldValues, unknown>> = {}
  for (const name of VALUE_NAMES) {
    const { field, read } = VALUE_READERS[name]
    values[name] = read(raw(field), vocabulary)
  }
  return values as FieldValues
}

function readText(text: string): string | null {
  return text === '' || isNone(text) ? null : text
}

function readCount(text: string): number | null {
  return text !== '' && /^\d{1,6}$/.test(text.trim()) ? Number(text) || null : null
}

function readTestPolicy(text: string): FieldValues['testPolicy'] {
  const word = wordKey(text)
  return word === 'keep' || word === 'may change' ? word : null
}

function readDuration(text: string): number | null {
  return text === '' ? null : (parseDuration(text) ?? null)
}
