import { parseGlob } from '../../base/glob.ts'
import { whyOutside } from '../../base/paths.ts'
import { productOf } from '../../backlog/products.ts'
import { TIERS, type Task, type Tier } from '../../backlog/model.ts'
import type { Mistake, TaskAnswer } from './answers.ts'
import { criteriaMistakes, repeatedKeys } from './check.ts'
import { keyOf, type Requirement } from './documents.ts'

/** What planned tasks are checked against. */
export interface TasksContext {
  readonly requirements: readonly Requirement[]
  /** The backlog without tasks of this plan that the answer may replace. */
  readonly others: readonly Task[]
  /** The numbers of requirements that remaining tasks cover already. */
  readonly covered: ReadonlySet<string>
  /** Whether a path, relative to the root, or a pattern has a file. */
  readonly exists: (path: string) => boolean
  /** The least number of outputs for a tier; null if outputs never lead to it. */
  readonly fromProduces: Readonly<Record<Tier, number | null>>
}

/** Finds mistakes in well-formed tasks, except those that lint finds in their files, such as cycles. */
export function checkTasks(tasks: readonly TaskAnswer[], context: TasksContext): readonly Mistake[] {
  const isAllDone = context.requirements.every(({ number }) => context.covered.has(number))
  if (tasks.length === 0 && !isAllDone) return [{ path: 'tasks', message: 'there are no tasks' }]
  return [
    ...repeatedKeys(tasks, 'tasks'),
    ...tasks.flatMap((task, index) => ownMistakes(task, `tasks[${index}]`, context)),
    ...needs(tasks, context.others),
    ...coverage(tasks, context),
    ...shared(tasks, context.others),
    ...touched(tasks, context),
  ]
}

function ownMistakes(
  { criteria, produces, touches, complexity }: TaskAnswer,
  path: string,
  { fromProduces }: TasksContext,
): readonly Mistake[] {
  const stray = [
    ...touches.map((file, at) => [file, `${path}.touches[${at}]`] as const),
    ...produces.map((file, at) => [file, `${path}.produces[${at}]`] as const),
  ].flatMap(([file, where]): Mistake[] => {
    const wrong = whyOutside(file)
    return wrong === null ? [] : [{ path: where, message: `"${file}" ${wrong}` }]
  })
  return [
    ...criteriaMistakes(criteria, `${path}.criteria`),
    ...stray,
    ...sizeMistakes({ produces, criteria, complexity }, path, fromProduces),
  ]
}

/** Larger tasks fit no tier's turns and time. */
const MOST = { produces: 15, criteria: 20 }

function sizeMistakes(
  answer: Pick<TaskAnswer, 'produces' | 'criteria' | 'complexity'>,
  path: string,
  from: TasksContext['fromProduces'],
): readonly Mistake[] {
  const { produces, complexity } = answer
  const higher = complexity ? TIERS.slice(TIERS.indexOf(complexity) + 1) : []
  const tier = higher.find((one) => produces.length >= (from[one] ?? Infinity))
  if (tier) {
    const message = `with ${produces.length} outputs it is ${tier}, not ${complexity}: make it that, or split it`
    return [{ path: `${path}.complexity`, message }]
  }
  return (['produces', 'criteria'] as const).flatMap((what) => {
    const count = answer[what].length
    const message = `${count} are more than a task can have (${MOST[what]}): split it`
    return count > MOST[what] ? [{ path: `${path}.${what}`, message }] : []
  })
}

/** Each task that another one needs must exist, and be of no later milestone. */
function needs(tasks: readonly TaskAnswer[], others: readonly Task[]): readonly Mistake[] {
  const planned = new Map(tasks.map((task) => [keyOf(task.key), task]))
  const ids = new Set(others.map(({ id }) => keyOf(id)))
  return tasks.flatMap(({ depends, milestone }, index) =>
    depends.flatMap((need, at): Mistake[] => {
      const needed = planned.get(keyOf(need))
      if (!needed && !ids.has(keyOf(need)))
        return [{ path: `tasks[${index}].depends[${at}]`, message: `there is no task "${need}"` }]
      if (!needed || milestoneNumber(needed.milestone) <= milestoneNumber(milestone)) return []
      const message = `it comes after "${needed.key}", which is of a later milestone (${needed.milestone})`
      return [{ path: `tasks[${index}].milestone`, message }]
    }),
  )
}

/** Checks that every requirement has a task, and that every task has an existing requirement. */
function coverage(
  tasks: readonly TaskAnswer[],
  { requirements, covered: before }: TasksContext,
): readonly Mistake[] {
  const covered = new Set(requirements.filter(({ number }) => before.has(number)))
  const mistakes: Mistake[] = []
  for (const [index, { requirements: named }] of tasks.entries()) {
    if (named.length === 0)
      mistakes.push({ path: `tasks[${index}].requirements`, message: 'no requirement asks for this task' })
    for (const [at, name] of named.entries()) {
      const found = requirementNamed(requirements, name)
      if (found) covered.add(found)
      else
        mistakes.push({
          path: `tasks[${index}].requirements[${at}]`,
          message: `there is no requirement "${name}"`,
        })
    }
  }
  const open = requirements.filter((requirement) => !covered.has(requirement))
  return [
    ...mistakes,
    ...open.map(({ key, title }) => ({
      path: 'tasks',
      message: `no task covers the requirement "${key}" (${title})`,
    })),
  ]
}

/** The requirement with that key or number: `login`, `§2`, `2`. */
export function requirementNamed(
  requirements: readonly Requirement[],
  name: string,
): Requirement | undefined {
  const number = /^§?\s*(\d+(?:\.\d+)*)$/.exec(name.trim())?.[1]
  return (
    requirements.find(({ key }) => keyOf(key) === keyOf(name)) ??
    requirements.find((requirement) => requirement.number === number)
  )
}

/** The number at the start of a milestone's name; Infinity if it has none. */
export function milestoneNumber(milestone: string): number {
  return Number(/^\s*(\d+(?:\.\d+)?)/.exec(milestone)?.[1] ?? Infinity)
}

/** Two tasks that create the same file must be in order. */
function shared(tasks: readonly TaskAnswer[], others: readonly Task[]): readonly Mistake[] {
  const makers = new Map<string, TaskAnswer[]>()
  const open = others.filter(({ status }) => status !== 'DONE')
  return tasks.flatMap((task, index) =>
    pathsOf(task.produces).flatMap((file): Mistake[] => {
      const before = makers.get(file) ?? []
      makers.set(file, [...before, task])
      const rival = before.find((other) => !isAfter(task, other, tasks) && !isAfter(other, task, tasks))
      const other = open.findLast(({ produces }) => produces?.some(({ path }) => path === file))
      const needsOther = other && task.depends.some((need) => keyOf(need) === keyOf(other.id))
      const path = `tasks[${index}].produces`
      return [
        ...(rival
          ? [{ path, message: `"${rival.key}" makes ${file} too, and neither depends on the other` }]
          : []),
        ...(other && !needsOther
          ? [{ path, message: `${other.id} makes ${file} too, and is not done: depend on it` }]
          : []),
      ]
    }),
  )
}

/** Whether a task needs another one, by whichever others. */
function isAfter(task: TaskAnswer, other: TaskAnswer, tasks: readonly TaskAnswer[]): boolean {
  const before = new Set([task])
  for (const { depends } of before) {
    const needed = new Set(depends.map(keyOf))
    for (const one of tasks) if (needed.has(keyOf(one.key))) before.add(one)
  }
  return before.has(other)
}

/** Files in Touches must exist, or be created by a task. */
function touched(tasks: readonly TaskAnswer[], { exists, others }: TasksContext): readonly Mistake[] {
  const made = [
    ...tasks.flatMap(({ produces }) => pathsOf(produces)),
    ...others.flatMap(({ produces }) => (produces ?? []).flatMap(({ path }) => path ?? [])),
  ]
  const isMade = (path: string): boolean => {
    const folder = path.replace(/\/*$/, '/')
    const glob = parseGlob(path)
    return made.some((one) => {
      const plain = one.replace(/\/+$/, '')
      return (
        plain === path.replace(/\/+$/, '') ||
        plain.startsWith(folder) ||
        path.startsWith(`${plain}/`) ||
        (glob?.matches(plain) ?? false)
      )
    })
  }
  return tasks.flatMap(({ touches }, index) =>
    touches.flatMap((path, at) =>
      whyOutside(path) !== null || exists(path) || isMade(path)
        ? []
        : [
            {
              path: `tasks[${index}].touches[${at}]`,
              message: `there is no ${path}, and no task produces it`,
            },
          ],
    ),
  )
}

/** The paths among a task's products; others only a person can check (`Tests`). */
function pathsOf(produces: readonly string[]): readonly string[] {
  return produces.flatMap(
    (text) => productOf({ inlineText: (raw) => raw.replaceAll('`', '') }, text).path ?? [],
  )
}
