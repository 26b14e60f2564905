import { parseGlob } from '../../base/glob.ts'
import { whyOutside } from '../../base/paths.ts'
import { productOf } from '../../backlog/products.ts'
import { TIERS, type Task, type Tier } from '../../backlog/model.ts'
import type { Answers, Mistake, TaskAnswer } from './answers.ts'
import { isOnWeb, keyOf, type Requirement } from './documents.ts'

/** Finds mistakes in the findings of a plan that may use the web, or not. */
export function* checkResearch(
  { findings }: Answers['research'],
  { web }: { web: boolean },
): Iterable<Mistake> {
  const message = 'this plan is made without the web: name a file of the repository'
  for (const [index, { source }] of findings.entries())
    if (!web && isOnWeb(source)) yield { path: `findings[${index}].source`, message }
}

/** Finds mistakes in proposed decisions. */
export function* checkDecisions({ decisions }: Answers['decisions']): Iterable<Mistake> {
  yield* repeatedKeys(decisions, 'decisions')
  for (const [index, { options, recommended }] of decisions.entries()) {
    const path = `decisions[${index}]`
    const titles = new Set(options.map(({ title }) => title.trim().toLowerCase()))
    if (options.length < 2) yield { path: `${path}.options`, message: 'a decision has two options or more' }
    else if (titles.size < options.length)
      yield { path: `${path}.options`, message: 'two options have one title' }
    if (options.length >= 2 && options[recommended] === undefined)
      yield {
        path: `${path}.recommended`,
        message: `there is no option ${recommended}: they are 0 to ${options.length - 1}`,
      }
  }
}

/** Finds mistakes in requirements. */
export function* checkRequirements({ sections }: Answers['requirements']): Iterable<Mistake> {
  if (sections.length === 0) yield { path: 'sections', message: 'there are no requirements' }
  yield* repeatedKeys(sections, 'sections')
  for (const [index, { criteria }] of sections.entries())
    yield* criteriaMistakes(criteria, `sections[${index}].criteria`)
}

function* repeatedKeys(things: readonly { key: string }[], name: string): Iterable<Mistake> {
  const seen = new Set<string>()
  for (const [index, { key }] of things.entries()) {
    if (seen.has(keyOf(key)))
      yield { path: `${name}[${index}].key`, message: `"${key}" is the key of another one, too` }
    seen.add(keyOf(key))
  }
}

/** Finds criteria that nobody can check. */
function* criteriaMistakes(criteria: readonly string[], path: string): Iterable<Mistake> {
  if (criteria.length === 0) yield { path, message: 'there is nothing by which anybody can check it' }
  for (const [index, criterion] of criteria.entries())
    if (isVague(criterion))
      yield {
        path: `${path}[${index}]`,
        message: `"${criterion.trim()}" cannot be checked: say what a test or a person would see`,
      }
}

const FILLER =
  'a all and are as be been code do does everything feature function functionality has have in implementation in is it its looks must of runs should solution system task that the thing this to very will with work working works'
const PRAISE =
  'clean correct correctly expected fast fine good great high nice performant proper properly quality ready right robust secure tbd todo well'
const [SAYS_NOTHING, PRAISES] = [new Set(`${FILLER} ${PRAISE}`.split(' ')), new Set(PRAISE.split(' '))]

/** Whether it is general praise, or empty. */
function isVague(criterion: string): boolean {
  const words = criterion.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  if (words.length === 0) return true
  return words.some((word) => PRAISES.has(word)) && words.every((word) => SAYS_NOTHING.has(word))
}

/** What planned tasks are checked against. */
export interface CheckContext {
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
export function* checkTasks(tasks: readonly TaskAnswer[], context: CheckContext): Iterable<Mistake> {
  const isAllDone = context.requirements.every(({ number }) => context.covered.has(number))
  if (tasks.length === 0 && !isAllDone) return yield { path: 'tasks', message: 'there are no tasks' }
  yield* repeatedKeys(tasks, 'tasks')
  for (const [index, task] of tasks.entries()) {
    const path = `tasks[${index}]`
    yield* criteriaMistakes(task.criteria, `${path}.criteria`)
    for (const what of ['touches', 'produces'] as const)
      for (const [at, file] of task[what].entries()) {
        const wrong = whyOutside(file)
        if (wrong !== null) yield { path: `${path}.${what}[${at}]`, message: `"${file}" ${wrong}` }
      }
    yield* sizeMistakes(task, path, context)
  }
  yield* missingNeeds(tasks, context)
  yield* coverageMistakes(tasks, context)
  yield* sharedProducts(tasks, context)
  yield* missingFiles(tasks, context)
}

/** Larger tasks fit no tier's turns and time. */
const MOST = { produces: 15, criteria: 20 }

function* sizeMistakes(task: TaskAnswer, path: string, { fromProduces }: CheckContext): Iterable<Mistake> {
  const { produces, complexity } = task
  const higher = complexity ? TIERS.slice(TIERS.indexOf(complexity) + 1) : []
  const tier = higher.find((one) => produces.length >= (fromProduces[one] ?? Infinity))
  if (tier)
    return yield {
      path: `${path}.complexity`,
      message: `with ${produces.length} outputs it is ${tier}, not ${complexity}: make it that, or split it`,
    }
  for (const what of ['produces', 'criteria'] as const)
    if (task[what].length > MOST[what])
      yield {
        path: `${path}.${what}`,
        message: `${task[what].length} are more than a task can have (${MOST[what]}): split it`,
      }
}

/** Each task that another one needs must exist, and be of no later milestone. */
function* missingNeeds(tasks: readonly TaskAnswer[], { others }: CheckContext): Iterable<Mistake> {
  const planned = new Map(tasks.map((task) => [keyOf(task.key), task]))
  const ids = new Set(others.map(({ id }) => keyOf(id)))
  for (const [index, { depends, milestone }] of tasks.entries())
    for (const [at, need] of depends.entries()) {
      const needed = planned.get(keyOf(need))
      if (!needed && !ids.has(keyOf(need)))
        yield { path: `tasks[${index}].depends[${at}]`, message: `there is no task "${need}"` }
      if (needed && milestoneNumber(needed.milestone) > milestoneNumber(milestone))
        yield {
          path: `tasks[${index}].milestone`,
          message: `it comes after "${needed.key}", which is of a later milestone (${needed.milestone})`,
        }
    }
}

/** Checks that every requirement has a task, and that every task has an existing requirement. */
function* coverageMistakes(
  tasks: readonly TaskAnswer[],
  { requirements, covered: before }: CheckContext,
): Iterable<Mistake> {
  const covered = new Set(requirements.filter(({ number }) => before.has(number)))
  for (const [index, { requirements: named }] of tasks.entries()) {
    const path = `tasks[${index}].requirements`
    if (named.length === 0) yield { path, message: 'no requirement asks for this task' }
    for (const [at, name] of named.entries()) {
      const found = requirementNamed(requirements, name)
      if (found) covered.add(found)
      else yield { path: `${path}[${at}]`, message: `there is no requirement "${name}"` }
    }
  }
  for (const requirement of requirements)
    if (!covered.has(requirement))
      yield {
        path: 'tasks',
        message: `no task covers the requirement "${requirement.key}" (${requirement.title})`,
      }
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
function* sharedProducts(tasks: readonly TaskAnswer[], { others }: CheckContext): Iterable<Mistake> {
  const makers = new Map<string, TaskAnswer[]>()
  for (const [index, task] of tasks.entries())
    for (const file of pathsOf(task.produces)) {
      const path = `tasks[${index}].produces`
      const before = makers.get(file) ?? []
      makers.set(file, [...before, task])
      const rival = before.find((other) => !isAfter(task, other, tasks) && !isAfter(other, task, tasks))
      if (rival) yield { path, message: `"${rival.key}" makes ${file} too, and neither depends on the other` }
      const open = others.findLast(
        ({ status, produces }) => status !== 'DONE' && produces?.some((product) => product.path === file),
      )
      if (open && !task.depends.some((need) => keyOf(need) === keyOf(open.id)))
        yield { path, message: `${open.id} makes ${file} too, and is not done: depend on it` }
    }
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
function* missingFiles(tasks: readonly TaskAnswer[], { exists, others }: CheckContext): Iterable<Mistake> {
  const products = [
    ...tasks.flatMap(({ produces }) => pathsOf(produces)),
    ...others.flatMap(({ produces }) => (produces ?? []).flatMap(({ path }) => path ?? [])),
  ].map((path) => path.replace(/\/+$/, ''))
  const isProduced = (path: string): boolean => {
    const plain = path.replace(/\/+$/, '')
    const glob = parseGlob(path)
    return products.some(
      (product) =>
        product === plain ||
        product.startsWith(`${plain}/`) ||
        path.startsWith(`${product}/`) ||
        (glob?.matches(product) ?? false),
    )
  }
  for (const [index, { touches }] of tasks.entries())
    for (const [at, path] of touches.entries())
      if (whyOutside(path) === null && !exists(path) && !isProduced(path))
        yield {
          path: `tasks[${index}].touches[${at}]`,
          message: `there is no ${path}, and no task produces it`,
        }
}

/** The paths among a task's products; others only a person can check (`Tests`). */
function pathsOf(produces: readonly string[]): readonly string[] {
  return produces.flatMap((text) => productOf(text, (raw) => raw.replaceAll('`', '')).path ?? [])
}
