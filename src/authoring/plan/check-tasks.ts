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

/** Finds mistakes in well-formed tasks, except those that lint finds in their files. */
export function checkTasks(tasks: readonly TaskAnswer[], context: TasksContext): readonly Mistake[] {
  const isAllDone = context.requirements.every(({ number }) => context.covered.has(number))
  if (tasks.length === 0 && !isAllDone) return [{ path: 'tasks', message: 'there are no tasks' }]
  const graph = new TaskGraph(tasks, context.others)
  return [
    ...repeatedKeys(tasks, 'tasks'),
    ...tasks.flatMap((task, index) => ownMistakes(task, `tasks[${index}]`, context)),
    ...graph.unknown,
    ...graph.cycles(),
    ...coverage(tasks, context),
    ...milestoneOrder(tasks, graph),
    ...shared(tasks, graph, context.others),
    ...touched(tasks, context),
  ]
}

function ownMistakes(
  { criteria, produces, touches, complexity, milestone }: TaskAnswer,
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
    ...sizeMistakes({ produces, criteria, complexity: complexity ?? null }, path, fromProduces),
    ...(/^\d+(?:\.\d+)*(?:\s*[—–:.·-]\s*|\s+)\S/.test(milestone.trim())
      ? []
      : [
          {
            path: `${path}.milestone`,
            message: `"${milestone}" is not a number and a name, such as 1 — Login`,
          },
        ]),
  ]
}

/** Larger tasks fit no tier's turns and time. */
const MOST = { produces: 15, criteria: 20 }

function sizeMistakes(
  {
    produces,
    criteria,
    complexity,
  }: {
    readonly produces: readonly string[]
    readonly criteria: readonly string[]
    readonly complexity: Tier | null
  },
  path: string,
  from: TasksContext['fromProduces'],
): readonly Mistake[] {
  const higher = complexity === null ? [] : TIERS.slice(TIERS.indexOf(complexity) + 1)
  const isOf = higher.find((tier) => from[tier] !== null && produces.length >= (from[tier] ?? Infinity))
  if (isOf)
    return [
      {
        path: `${path}.complexity`,
        message: `with ${produces.length} outputs it is ${isOf}, not ${complexity}: make it that, or split it`,
      },
    ]
  return (['produces', 'criteria'] as const).flatMap((what) => {
    const count = what === 'produces' ? produces.length : criteria.length
    return count > MOST[what]
      ? [
          {
            path: `${path}.${what}`,
            message: `${count} are more than a task can have (${MOST[what]}): split it`,
          },
        ]
      : []
  })
}

/** The order between the tasks of an answer. */
class TaskGraph {
  readonly #tasks: readonly TaskAnswer[]
  readonly #needs = new Map<string, readonly string[]>()
  readonly #others = new Map<string, Task>()
  /** References to tasks that do not exist. */
  readonly unknown: readonly Mistake[]

  constructor(tasks: readonly TaskAnswer[], others: readonly Task[]) {
    this.#tasks = tasks
    for (const other of others) this.#others.set(keyOf(other.id), other)
    const keys = new Set(tasks.map(({ key }) => keyOf(key)))
    for (const { key, depends } of tasks)
      this.#needs.set(
        keyOf(key),
        depends.map(keyOf).filter((need) => keys.has(need)),
      )
    this.unknown = tasks.flatMap(({ depends }, index) =>
      depends.flatMap((need, at) =>
        keys.has(keyOf(need)) || this.#others.has(keyOf(need))
          ? []
          : [{ path: `tasks[${index}].depends[${at}]`, message: `there is no task "${need}"` }],
      ),
    )
  }

  /** All tasks that must come before one, by key. */
  before(key: string): ReadonlySet<string> {
    const found = new Set<string>()
    const ahead = [...(this.#needs.get(keyOf(key)) ?? [])]
    for (let need = ahead.pop(); need !== undefined; need = ahead.pop()) {
      if (found.has(need)) continue
      found.add(need)
      ahead.push(...(this.#needs.get(need) ?? []))
    }
    return found
  }

  cycles(): readonly Mistake[] {
    const inCycle = this.#tasks.filter(({ key }) => this.before(key).has(keyOf(key)))
    const [first] = inCycle
    if (!first) return []
    const path = `tasks[${this.#tasks.indexOf(first)}].depends`
    return [{ path, message: `these wait for each other: ${inCycle.map(({ key }) => key).join(', ')}` }]
  }
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

function milestoneOrder(tasks: readonly TaskAnswer[], graph: TaskGraph): readonly Mistake[] {
  const names = new Map<number, string>()
  return tasks.flatMap(({ key, milestone }, index): Mistake[] => {
    const number = milestoneNumber(milestone)
    const name = names.get(number) ?? milestone.trim()
    names.set(number, name)
    const before = graph.before(key)
    const later = tasks.find(
      (other) => before.has(keyOf(other.key)) && milestoneNumber(other.milestone) > number,
    )
    return [
      ...(name === milestone.trim()
        ? []
        : [{ path: `tasks[${index}].milestone`, message: `milestone ${number} is "${name}" elsewhere` }]),
      ...(later
        ? [
            {
              path: `tasks[${index}].milestone`,
              message: `it comes after "${later.key}", which is of a later milestone (${later.milestone})`,
            },
          ]
        : []),
    ]
  })
}

/** Two tasks that create the same file must be in order. */
function shared(tasks: readonly TaskAnswer[], graph: TaskGraph, others: readonly Task[]): readonly Mistake[] {
  const makers = new Map<string, TaskAnswer[]>()
  const ofOthers = new Map<string, Task>()
  for (const other of others) {
    if (other.status === 'DONE') continue
    for (const { path } of other.produces ?? []) if (path !== null) ofOthers.set(path, other)
  }
  return tasks.flatMap((task, index) =>
    pathsOf(task.produces).flatMap((path): Mistake[] => {
      const before = makers.get(path) ?? []
      makers.set(path, [...before, task])
      const rival = before.find(
        (other) =>
          !graph.before(task.key).has(keyOf(other.key)) && !graph.before(other.key).has(keyOf(task.key)),
      )
      const other = ofOthers.get(path)
      const isAfter = other && task.depends.some((need) => keyOf(need) === keyOf(other.id))
      return [
        ...(rival
          ? [
              {
                path: `tasks[${index}].produces`,
                message: `"${rival.key}" makes ${path} too, and neither depends on the other`,
              },
            ]
          : []),
        ...(other && !isAfter
          ? [
              {
                path: `tasks[${index}].produces`,
                message: `${other.id} makes ${path} too, and is not done: depend on it`,
              },
            ]
          : []),
      ]
    }),
  )
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
