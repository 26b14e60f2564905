import { draftOf, draftWriter, openCriteria } from '../../backlog/draft.ts'
import { milestoneNamer, milestoneParts } from '../../backlog/milestone.ts'
import type { Task } from '../../backlog/model.ts'
import { inOrder } from '../../backlog/order.ts'
import { parseTask } from '../../backlog/parse.ts'
import { fileIn } from '../../backlog/task-folders.ts'
import { idOf } from '../../backlog/values.ts'
import type { TaskVocabulary } from '../../backlog/vocabulary.ts'
import type { TaskAnswer } from './answers.ts'
import { milestoneNumber, requirementNamed } from './check-tasks.ts'
import { keyOf, lineText, type Requirement } from './documents.ts'

/** A planned task whose file is not written yet. */
export interface PlanDraft {
  readonly key: string
  readonly id: string
  readonly file: string
  readonly text: string
  readonly task: Task
  /** The numbers of the requirements that it covers. */
  readonly requirements: readonly string[]
}

/** What drafts are made with. */
export interface DraftContext {
  readonly slug: string
  readonly dir: string
  readonly vocabulary: TaskVocabulary
  readonly requirements: readonly Requirement[]
  /** The tasks that stay as they are. */
  readonly others: readonly Task[]
  /** The files of the plan's earlier tasks, by key: they keep their numbers. */
  readonly known: ReadonlyMap<string, { readonly id: string; readonly file: string }>
  /** The highest task number on any branch. */
  readonly highest: number
  /** Whether to add a task at the end of each milestone that checks it as a whole. */
  readonly verifyTasks: boolean
  /** The path of the file for other tools with the same tasks; null if there is none. */
  readonly origin: string | null
}

/** The tasks with milestones that have an order and differ from those of other tasks. */
export function withMilestones(tasks: readonly TaskAnswer[], others: readonly Task[]): readonly TaskAnswer[] {
  const existing = others.flatMap(({ milestone }) => milestone ?? [])
  const numbered = existing.filter((milestone) => milestoneParts(milestone).number !== '')
  const nameOf = milestoneNamer(numbered, { numbered: true })
  const wanted = [...new Set(tasks.map(({ milestone }) => milestone.trim()))]
  // Those without a number come last, in order of first appearance.
  const ordered = wanted.toSorted((a, b) => milestoneNumber(a) - milestoneNumber(b) || 0)
  const names = new Map(ordered.map((milestone) => [milestone, nameOf(milestone)]))
  return tasks.map((task) => ({ ...task, milestone: names.get(task.milestone.trim()) ?? task.milestone }))
}

/** The files of an answer's tasks, numbered so that each comes after its dependencies, and milestones follow each other. */
export async function draftTasks(
  tasks: readonly TaskAnswer[],
  context: DraftContext,
): Promise<readonly PlanDraft[]> {
  const ordered = inPlanOrder(tasks)
  const wanted = context.verifyTasks ? withChecks(ordered, context) : ordered
  const ids = new Map(context.others.map(({ id }) => [keyOf(id), id]))
  const numbered = numbersFor(wanted, context)
  for (const { key, id } of numbered) ids.set(keyOf(key), id)
  const drafts: PlanDraft[] = []
  for (const [index, { id, file }] of numbered.entries()) {
    const planned = wanted[index]!
    const text = draftText(planned, { id, ids, context })
    const task = await parseTask({ file, text }, context.vocabulary)
    const requirements = numbersOf(planned, context)
    drafts.push({ key: planned.key, id, file, text, task, requirements })
  }
  return drafts
}

/** A task to be written, from the agent or from ralph. */
interface TaskToWrite extends TaskAnswer {
  readonly provenance: 'agent' | 'system'
}

/** Dependencies come first; otherwise milestones in their order, and tasks in the order of the answer. */
function inPlanOrder(tasks: readonly TaskAnswer[]): readonly TaskToWrite[] {
  const byKey = new Map(tasks.map((task) => [keyOf(task.key), task]))
  const seen = new Set<TaskAnswer>()
  const placed: TaskAnswer[] = []
  const visit = (task: TaskAnswer | undefined): void => {
    // Lint reports tasks that wait for each other.
    if (!task || seen.has(task)) return
    seen.add(task)
    for (const need of task.depends) visit(byKey.get(keyOf(need)))
    placed.push(task)
  }
  const inMilestones = tasks.toSorted((a, b) => milestoneNumber(a.milestone) - milestoneNumber(b.milestone))
  for (const task of inMilestones) visit(task)
  return placed.map((task) => ({ ...task, provenance: 'agent' }))
}

/** Adds a task at the end of each milestone. */
function withChecks(tasks: readonly TaskToWrite[], { requirements }: DraftContext): readonly TaskToWrite[] {
  const milestones = [...new Set(tasks.map(({ milestone }) => milestone))]
  return milestones.flatMap((milestone) => {
    const own = tasks.filter((task) => task.milestone === milestone)
    return [...own, checkOf(milestone, own, requirements)]
  })
}

function checkOf(
  milestone: string,
  tasks: readonly TaskToWrite[],
  requirements: readonly Requirement[],
): TaskToWrite {
  const covered = new Set(
    tasks.flatMap(({ requirements: named }) =>
      named.flatMap((name) => requirementNamed(requirements, name) ?? []),
    ),
  )
  const names = tasks.map(({ title }) => title).join('; ')
  return {
    key: `check-${milestoneNumber(milestone)}`,
    title: `Check ${milestone} as a whole`,
    milestone,
    description:
      `The tasks of this milestone were done one by one (${names}). Check that together they do what the requirements ask ` +
      'for: go through each criterion, look for what fell between two tasks, and mend what is missing.',
    criteria: [...covered].flatMap(({ criteria }) => criteria),
    touches: [],
    produces: [],
    depends: tasks.map(({ key }) => key),
    requirements: [...covered].map(({ key }) => key),
    complexity: 'Standard',
    provenance: 'system',
  }
}

/** Tasks that the plan has written before keep their number and file; the others get the next ones. */
function numbersFor(
  tasks: readonly TaskToWrite[],
  { known, highest, others, dir }: DraftContext,
): readonly { readonly key: string; readonly id: string; readonly file: string }[] {
  const digits = (inOrder(others).at(-1)?.id.length ?? 'T-001'.length) - 'T-'.length
  let number = highest
  return tasks.map(({ key }) => {
    const before = known.get(keyOf(key))
    if (before) return { key, ...before }
    const id = idOf(++number, digits)
    return { key, id, file: fileIn(dir, `${id}.md`) }
  })
}

function draftText(
  task: TaskToWrite,
  {
    id,
    ids,
    context,
  }: { readonly id: string; readonly ids: ReadonlyMap<string, string>; readonly context: DraftContext },
): string {
  const { milestone, description, criteria, hints, depends, complexity, discipline, feature } = task
  const needed = depends.flatMap((need) => ids.get(keyOf(need)) ?? [])
  const { origin } = context
  const draft = draftOf({
    title: task.title,
    milestone,
    depends: [...new Set(needed)].toSorted(),
    prdReference: numbersOf(task, context).map((number) => `${context.slug} §${number}`),
    touches: task.touches,
    complexity: complexity ?? undefined,
    discipline: discipline ?? null,
    feature: feature ?? null,
    tags: task.tags ?? [],
    provenance: task.provenance,
    origin: origin === null ? undefined : { path: origin, key: id },
    description,
    criteria: openCriteria(criteria.map((criterion) => criterion.replace(/^\s*\[[ xX]\]\s+/, ''))),
    hints: (hints ?? []).map((hint) => `- ${lineText(hint)}`).join('\n'),
    // A check may change nothing.
    produces: task.provenance === 'system' ? ['none'] : task.produces,
  })
  return draftWriter(context.others, context.vocabulary)(id, draft)
}

function numbersOf({ requirements: named }: TaskAnswer, { requirements }: DraftContext): readonly string[] {
  const numbers = named.flatMap((name) => requirementNamed(requirements, name)?.number ?? [])
  return [...new Set(numbers)]
}
