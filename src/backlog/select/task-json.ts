import type { TaskJson, UnderWay } from '../json.ts'
import type { TaskState } from './selection.ts'
import type { TierChoice } from './tier.ts'
import { partsOf } from '../ids.ts'
import type { Facts } from '../model.ts'

/** The facts in the JSON. */
export const JSON_FACTS = [
  'title',
  'milestone',
  'depends',
  'touches',
  'produces',
  'prdReference',
  'testPolicy',
  'completed',
  'commit',
  'cost',
  'fields',
] as const

type JsonTask = Facts<(typeof JSON_FACTS)[number]>

/** A task as JSON in every command: see docs/json.md. */
export function taskJson<T extends JsonTask>(
  state: TaskState<T>,
  tierOf: (task: T) => TierChoice,
  underWay?: ReadonlyMap<string, UnderWay>,
): TaskJson {
  const { task, eligible, waiting } = state
  const { tier, source, maxTurns, timeoutSeconds } = tierOf(task)
  const unknown = task.fields.filter((field) => field.name === null)
  return {
    id: task.id,
    number: partsOf(task.number).first,
    title: task.title,
    file: task.file,
    status: task.status,
    milestone: task.milestone,
    depends: task.depends.map((dependency) => dependency.id),
    touches: task.touches,
    produces: (task.produces ?? []).map((product) => product.text),
    prdReference: task.prdReference,
    tier,
    tierSource: source,
    maxTurns,
    timeoutSeconds,
    testPolicy: task.testPolicy,
    eligible,
    waiting,
    completed: task.completed,
    commit: task.commit,
    cost: task.cost,
    fields: Object.fromEntries(unknown.map((field) => [field.key, field.value])),
    ...(underWay && { underWay: underWay.get(task.id) ?? null }),
  }
}
