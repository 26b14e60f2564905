import * as v from 'valibot'
import { about, type Read } from '../base/schema.ts'

const texts = v.array(v.string())

const underWay = v.object({
  run: v.string(),
  attempt: about('Among those that count; null before the first.', v.nullable(v.number())),
  workspace: v.nullable(v.number()),
  worker: v.nullable(v.string()),
})
/** A run that works on a task now, and where. */
export type UnderWay = Read<typeof underWay>

export const taskJson = v.object({
  id: v.string(),
  number: v.number(),
  title: v.string(),
  file: v.string(),
  status: about('Null if the file has no clear status.', v.nullable(v.picklist(['TODO', 'DONE', 'BLOCKED']))),
  milestone: v.nullable(v.string()),
  depends: texts,
  touches: texts,
  produces: texts,
  prdReference: texts,
  tier: v.string(),
  tierSource: v.picklist(['explicit', 'detected']),
  maxTurns: v.number(),
  timeoutSeconds: v.number(),
  testPolicy: v.exactOptional(
    about('What the task says of tests that are there.', v.nullable(v.picklist(['keep', 'may change']))),
  ),
  eligible: v.boolean(),
  waiting: about(
    'Why it is not eligible, each reason with its `kind`.',
    v.array(v.looseObject({ kind: v.string() })),
  ),
  completed: v.nullable(v.string()),
  commit: v.nullable(v.string()),
  cost: v.nullable(v.string()),
  fields: about('The fields that ralph does not know.', v.record(v.string(), v.string())),
  underWay: v.optional(
    about('In next, list and show: the run that works on it now; null if none does.', v.nullable(underWay)),
  ),
})
/** A task as JSON in every command: see docs/json.md. */
export type TaskJson = Read<typeof taskJson>
