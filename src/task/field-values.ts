import { parseDuration } from '../base/duration.ts'
import { type FieldName, type FieldValues, TIERS } from './model.ts'
import { isNone, splitPaths, splitReferences, splitTags } from './values.ts'
import { lookUp, wordMap } from './vocabulary.ts'

/** What the fields mean, by their values as plain text; an empty one stands for a field that is not there. */
export function readValues(raw: (name: FieldName) => string): FieldValues {
  const text = (name: FieldName): string | null => {
    const value = raw(name)
    return value === '' || isNone(value) ? null : value
  }
  return {
    milestone: text('Milestone'),
    prdReference: splitReferences(raw('PRD Reference')),
    touches: splitPaths(raw('Touches')),
    context: splitPaths(raw('Context')),
    complexity: lookUp(TIER_WORDS, raw('Complexity')) ?? null,
    discipline: text('Discipline'),
    feature: text('Feature'),
    agent: text('Agent'),
    model: text('Model'),
    turns: readCount(raw('Turns')),
    timeoutSeconds: readDuration(raw('Timeout')),
    priority: text('Priority'),
    tags: splitTags(raw('Tags')),
    provenance: text('Provenance'),
    completed: text('Completed'),
    commit: text('Commit'),
    cost: text('Cost'),
  }
}

const TIER_WORDS = wordMap(TIERS, {})

function readCount(value: string): number | null {
  return value !== '' && /^\d{1,6}$/.test(value.trim()) ? Number(value) || null : null
}

function readDuration(value: string): number | null {
  return value === '' ? null : (parseDuration(value) ?? null)
}
