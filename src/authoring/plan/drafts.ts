import { draftOf, draftWriter, openCriteria, type Draft } from '../../backlog/draft.ts'
import { milestoneNamer, milestoneParts } from '../../backlog/milestone.ts'
import type { Task } from '../../backlog/model.ts'
import { inOrder } from '../../backlog/order.ts'
import { parseTask } from '../../backlog/parse.ts'
import { fileIn } from '../../backlog/task-folders.ts'
import { digitsIn } from '../../backlog/ids.ts'
import type { TaskVocabulary } from '../../backlog/vocabulary.ts'
import { changeBetween } from '../../history/task-change.ts'
import type { TaskAnswer } from './answers.ts'
import { milestoneNumber, requirementNamed } from './checks.ts'
import { keyOf, lineText, type Requirement } from './documents.ts'
import { digestOf, type Plan } from './plan-file.ts'

/** A planned task whose file is not written yet. */
export interface PlanDraft {
  readonly key: string
  readonly id: string
  readonly file: string
  readonly text: string
  readonly task: Task
}

/** What drafts are made with. */
export interface DraftContext {
  readonly slug: string
  readonly dir: string
  readonly vocabulary: TaskVocabulary
  readonly requirements: readonly Requirement[]
  /** The tasks that stay as they are. */
  readonly others: readonly Task[]
  /** The plan's earlier tasks: their drafts keep the numbers. */
  readonly open: readonly WrittenTask[]
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
  const { others, vocabulary } = context
  const ordered = inPlanOrder(tasks)
  const wanted = context.verifyTasks ? withChecks(ordered, context.requirements) : ordered
  const places = placesFor(wanted, context)
  const ids = new Map([
    ...others.map(({ id }) => [keyOf(id), id] as const),
    ...places.map(({ key, id }) => [keyOf(key), id] as const),
  ])
  const textOf = draftWriter(others, vocabulary)
  return Promise.all(
    wanted.map(async (planned, index) => {
      const { key, id, file } = places[index]!
      const text = textOf(id, draftIn(planned, { id, ids, context }))
      return { key, id, file, text, task: await parseTask({ file, text }, vocabulary) }
    }),
  )
}

/** A task to be written, from the agent or from ralph. */
interface TaskToWrite extends TaskAnswer {
  readonly provenance: 'agent' | 'system'
}

/** Dependencies come first; otherwise milestones in their order, and tasks in the order of the answer. */
function inPlanOrder(tasks: readonly TaskAnswer[]): readonly TaskToWrite[] {
  const byKey = new Map(tasks.map((task) => [keyOf(task.key), task]))
  const seen = new Set<TaskAnswer>()
  const placed: TaskToWrite[] = []
  const visit = (task: TaskAnswer | undefined): void => {
    // Lint reports tasks that wait for each other.
    if (!task || seen.has(task)) return
    seen.add(task)
    for (const need of task.depends) visit(byKey.get(keyOf(need)))
    placed.push({ ...task, provenance: 'agent' })
  }
  const inMilestones = tasks.toSorted((a, b) => milestoneNumber(a.milestone) - milestoneNumber(b.milestone))
  for (const task of inMilestones) visit(task)
  return placed
}

/** Adds a task at the end of each milestone. */
function withChecks(
  tasks: readonly TaskToWrite[],
  requirements: readonly Requirement[],
): readonly TaskToWrite[] {
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
  const covered = new Set(tasks.flatMap((task) => requirementsOf(task, requirements)))
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
function placesFor(tasks: readonly TaskToWrite[], { open, highest, others, dir, vocabulary }: DraftContext) {
  const known = new Map(open.map(({ key, task }) => [keyOf(key), task]))
  const digits = digitsIn(inOrder(others).at(-1)?.id ?? 'T-001')
  let number = highest
  return tasks.map(({ key }) => {
    const before = known.get(keyOf(key))
    const id = before?.id ?? vocabulary.ids.idOf(++number, digits)
    return { key, id, file: before?.file ?? fileIn(dir, `${id}.md`) }
  })
}

function draftIn(
  task: TaskToWrite,
  { id, ids, context }: { id: string; ids: ReadonlyMap<string, string>; context: DraftContext },
): Draft {
  const { depends, criteria, hints, complexity, discipline, feature, tags, provenance } = task
  const { slug, origin, requirements } = context
  const needed = depends.flatMap((need) => ids.get(keyOf(need)) ?? [])
  const numbers = new Set(requirementsOf(task, requirements).map(({ number }) => number))
  return draftOf({
    title: task.title,
    milestone: task.milestone,
    depends: [...new Set(needed)].toSorted(),
    prdReference: [...numbers].map((number) => `${slug} §${number}`),
    touches: task.touches,
    complexity: complexity ?? undefined,
    discipline: discipline ?? null,
    feature: feature ?? null,
    tags: tags ?? [],
    provenance,
    origin: origin === null ? undefined : { path: origin, key: id },
    description: task.description,
    criteria: openCriteria(criteria.map((criterion) => criterion.replace(/^\s*\[[ xX]\]\s+/, ''))),
    hints: (hints ?? []).map((hint) => `- ${lineText(hint)}`).join('\n'),
    // A check may change nothing.
    produces: provenance === 'system' ? ['none'] : task.produces,
  })
}

function requirementsOf(
  { requirements: named }: TaskAnswer,
  requirements: readonly Requirement[],
): readonly Requirement[] {
  return named.flatMap((name) => requirementNamed(requirements, name) ?? [])
}

/** A task that a plan has written. */
export interface WrittenTask {
  readonly key: string
  readonly task: Task
  /** Why the plan may not change it any more: it is DONE, blocked or edited by hand; null if it may. */
  readonly stays: string | null
}

/** The tasks that a plan has written, without those that are gone. */
export function writtenTasks(
  { tasks }: Pick<Plan, 'tasks'>,
  backlog: readonly Task[],
): readonly WrittenTask[] {
  return tasks.flatMap(({ id, key, digest }) => {
    const task = backlog.find((one) => one.id === id)
    if (!task) return []
    const edited = digestOf(task.source) === digest ? null : 'edited by hand'
    return [{ key, task, stays: task.status === 'TODO' ? edited : (task.status ?? 'unclear') }]
  })
}

/** The changes of a plan to the backlog. */
export type Changes = ReturnType<typeof changesOf>

/** The changes by these drafts to the tasks that the plan has written. */
export function changesOf(
  drafts: readonly PlanDraft[],
  { open, stay }: { open: readonly WrittenTask[]; stay: readonly WrittenTask[] },
) {
  const before = new Map(open.map(({ key, task }) => [keyOf(key), task]))
  const kept = new Set(drafts.map(({ key }) => keyOf(key)))
  return {
    add: drafts.filter(({ key }) => !before.has(keyOf(key))),
    change: drafts.flatMap((draft) => {
      const task = before.get(keyOf(draft.key))
      const change = task && changeBetween(task, draft.task)
      return change ? [{ ...change, draft }] : []
    }),
    drop: open.flatMap(({ key, task }) => (kept.has(keyOf(key)) ? [] : [task])),
    stay,
  }
}

/** Whether nothing would be written. */
export function isNothing({ add, change, drop }: Changes): boolean {
  return add.length + change.length + drop.length === 0
}

/** The same as JSON. */
export function changesJson({ add, change, drop, stay }: Changes): object {
  const named = ({ id, file, title }: Task): object => ({ id, file, title })
  return {
    add: add.map(({ task }) => named(task)),
    change: change.map(({ draft, fields, sections }) => ({ ...named(draft.task), fields, sections })),
    drop: drop.map(named),
    stay: stay.map(({ task, stays }) => ({ ...named(task), why: stays })),
  }
}
