import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { parseGlob } from '../../base/glob.ts'
import { dayText } from '../../base/time.ts'
import { compareNumbers } from '../../backlog/ids.ts'
import type { Task } from '../../backlog/model.ts'
import { inOrder } from '../../backlog/order.ts'
import { readOrigin } from '../../backlog/origin.ts'
import type { Answers, Mistake, Phase, TaskAnswer } from './answers.ts'
import { checkDecisions, checkRequirements, checkResearch, checkTasks, type CheckContext } from './checks.ts'
import { converse, type Answered } from './converse.ts'
import {
  decisionFileName,
  decisionText,
  nextDecision,
  openDecisions,
  settleDecisions,
  type OpenFile,
} from './decisions.ts'
import { keyOf, readRequirements, requirementsText, researchText } from './documents.ts'
import {
  changesOf,
  draftTasks,
  isNothing,
  withMilestones,
  writtenTasks,
  type Changes,
  type DraftContext,
  type PlanDraft,
  type WrittenTask,
} from './drafts.ts'
import type { Took } from './write-phase.ts'
import { digestOf, type Plan } from './plan-file.ts'
import { EXPORT_FILE, type PlanPorts } from './ports.ts'

/** The result of a phase. */
export interface Made {
  readonly kind: 'made'
  /** The plan, in its next phase. */
  readonly plan: Plan
  readonly texts: ReadonlyMap<string, string | null>
  readonly took: Took | null
  readonly open: readonly OpenFile[]
  readonly changes?: Changes
}

/** Why a phase has no result. `proposed`: the changes to the backlog wait for a confirmation. */
export type NotMade =
  { readonly kind: 'proposed'; readonly changes: Changes } | Exclude<Answered<Phase>, { kind: 'answered' }>

/** Computes one phase of a plan. Writes nothing. */
export function makePhase(phase: Phase, plan: Plan, ports: PlanPorts): Promise<Made | NotMade> {
  switch (phase) {
    case 'research':
      return research(plan, ports)
    case 'decisions':
      return decide(plan, ports)
    case 'requirements':
      return specify(plan, ports)
    case 'tasks':
      return divide(plan, ports)
  }
}

async function research(plan: Plan, ports: PlanPorts): Promise<Made | NotMade> {
  const check = (answer: Answers['research']): Iterable<Mistake> => checkResearch(answer, plan)
  const answered = await converse('research', { plan, check }, ports)
  if (answered.kind !== 'answered') return answered
  const { answer, took } = answered
  const says = answer.findings.length + answer.unknown.length > 0
  const text = researchText(plan.title, answer, dayText(ports.now()))
  return {
    kind: 'made',
    plan: { ...plan, status: answer.small ? 'requirements' : 'decisions' },
    texts: new Map(says ? [[`${ports.places.plans}/${plan.slug}/research.md`, text]] : []),
    took,
    open: [],
  }
}

async function decide(plan: Plan, ports: PlanPorts): Promise<Made | NotMade> {
  // If they were asked before, their files count.
  if (plan.decisions.length > 0)
    return settle(plan, { files: plan.decisions.map(({ file }) => file), proposed: [], took: null }, ports)
  const answered = await converse('decisions', { plan, check: checkDecisions }, ports)
  if (answered.kind !== 'answered') return answered
  const { desk, places } = ports
  const first = nextDecision(desk.list(places.decisions))
  const proposed = answered.answer.decisions.map((decision, index) => {
    const file = `${places.decisions}/${decisionFileName(first + index, decision.question)}`
    return [file, decisionText(decision, { date: dayText(ports.now()), plan: plan.slug })] as const
  })
  for (const [file, text] of proposed) desk.lay(file, text)
  return settle(plan, { files: proposed.map(([file]) => file), proposed, took: answered.took }, ports)
}

async function settle(
  plan: Plan,
  decisions: {
    files: readonly string[]
    proposed: readonly (readonly [string, string])[]
    took: Took | null
  },
  ports: PlanPorts,
): Promise<Made> {
  const { files, proposed, took } = decisions
  const { desk, options } = ports
  const settled = await settleDecisions(files, ports)
  const open = openDecisions(files, desk)
  const status = open.length === 0 || options.dryRun ? 'requirements' : 'decisions'
  return {
    kind: 'made',
    plan: { ...plan, status, decisions: desk.known(files) },
    texts: new Map([...proposed, ...settled]),
    took,
    open,
  }
}

async function specify(plan: Plan, ports: PlanPorts): Promise<Made | NotMade> {
  const { desk, places } = ports
  const file = `${places.plans}/${plan.slug}/requirements.md`
  const answered = await converse('requirements', { plan, check: checkRequirements }, ports)
  if (answered.kind !== 'answered') return answered
  const text = requirementsText(answered.answer, await readRequirements(desk.read(file) ?? ''))
  const specs = desk.known(plan.specs.map((spec) => spec.file))
  const decisions = desk.known(plan.decisions.map((decision) => decision.file))
  return {
    kind: 'made',
    plan: { ...plan, status: 'tasks', specs, decisions },
    texts: new Map([[file, text]]),
    took: answered.took,
    open: [],
  }
}

async function divide(plan: Plan, ports: PlanPorts): Promise<Made | NotMade> {
  const { options } = ports
  const context = await tasksContext(plan, ports)
  let drafts: readonly PlanDraft[] = []
  const check = async ({ tasks: answered }: Answers['tasks']): Promise<Iterable<Mistake>> => {
    const tasks = ownTasks(answered, context)
    const mistakes = [...checkTasks(tasks, context)]
    if (mistakes.length > 0) return mistakes
    drafts = await draftTasks(tasks, context)
    return lintMistakes(drafts, tasks, { ...context, lint: ports.lint })
  }
  const answered = await converse('tasks', { plan, check }, ports)
  if (answered.kind !== 'answered') return answered
  const changes = changesOf(drafts, context)
  const isAgain = plan.tasks.length > 0 && !isNothing(changes)
  if (isAgain && !options.yes && !options.dryRun && !(await ports.confirm?.(changes)))
    return { kind: 'proposed', changes }
  // The file for other tools has those of other plans, too.
  const exported = inOrder([...context.others, ...drafts.map(({ task }) => task)]).filter(
    ({ origin }) => readOrigin(origin)?.path === EXPORT_FILE,
  )
  return {
    kind: 'made',
    plan: donePlan(plan, drafts, context),
    texts: new Map([
      ...changes.drop.map(({ file }) => [file, null] as const),
      ...changes.add.map(({ file, text }) => [file, text] as const),
      ...changes.change.map(({ draft }) => [draft.file, draft.text] as const),
      ...(plan.exports ? await ports.exported(exported) : []),
    ]),
    took: answered.took,
    open: [],
    changes,
  }
}

/** What the tasks of a plan are checked and made with. */
interface TasksContext extends CheckContext, DraftContext {
  readonly backlog: readonly Task[]
  /** The tasks that the plan may not change any more. */
  readonly stay: readonly WrittenTask[]
}

async function tasksContext(plan: Plan, ports: PlanPorts): Promise<TasksContext> {
  const { desk, places, vocabulary, fromProduces } = ports
  const backlog = await ports.backlog()
  const files = await ports.files()
  const written = writtenTasks(plan, backlog)
  const open = written.filter(({ stays }) => stays === null)
  const stay = written.filter(({ stays }) => stays !== null)
  return {
    slug: plan.slug,
    dir: places.tasks,
    vocabulary,
    fromProduces,
    requirements: await readRequirements(desk.read(`${places.plans}/${plan.slug}/requirements.md`) ?? ''),
    backlog,
    open,
    stay,
    others: backlog.filter((task) => !open.some((one) => one.task === task)),
    covered: new Set(stay.flatMap(({ task }) => numbersIn(task, plan.slug))),
    highest: await ports.highest(),
    verifyTasks: plan.verifyTasks,
    origin: plan.exports ? EXPORT_FILE : null,
    exists(path) {
      const glob = parseGlob(path)
      return glob ? files.some((file) => glob.matches(file)) : existsSync(join(places.root, path))
    },
  }
}

/** The numbers of the requirements of a plan that a task covers. */
function numbersIn({ prdReference }: Task, slug: string): readonly string[] {
  return prdReference.flatMap((reference) => {
    const [, plan, number] = /^(\S+) §(\d+(?:\.\d+)*)$/.exec(reference) ?? []
    return plan === slug && number !== undefined ? [number] : []
  })
}

/** The answer's tasks without those that stay, which the others refer to by id. */
function ownTasks(tasks: readonly TaskAnswer[], { stay, others }: TasksContext): readonly TaskAnswer[] {
  const ids = new Map(stay.map(({ key, task }) => [keyOf(key), task.id]))
  const own = tasks.filter(({ key }) => !ids.has(keyOf(key)))
  const named = own.map((task) => ({
    ...task,
    depends: task.depends.map((need) => ids.get(keyOf(need)) ?? need),
  }))
  return withMilestones(named, others)
}

/** Lint problems that the backlog does not have yet, with the keys of planned tasks, which are all that the agent knows. */
async function lintMistakes(
  drafts: readonly PlanDraft[],
  tasks: readonly TaskAnswer[],
  { backlog, others, vocabulary, lint }: TasksContext & Pick<PlanPorts, 'lint'>,
): Promise<readonly Mistake[]> {
  const name = ({ file, rule, message }: Diagnostic): string => `${file} ${rule} ${message}`
  const before = new Set((await lint(backlog)).map(name))
  const after = await lint(inOrder([...others, ...drafts.map(({ task }) => task)]))
  const keys = new Map(drafts.map(({ id, key }) => [id, key]))
  return after.flatMap((diagnostic) => {
    const { file, line, column, severity, rule, message } = diagnostic
    const isMistake = severity === 'error' || rule === 'bad-milestone'
    if (!isMistake || before.has(name(diagnostic))) return []
    const draft = drafts.find((one) => one.file === file)
    const index = tasks.findIndex(({ key }) => key === draft?.key)
    const path = index < 0 ? 'tasks' : `tasks[${index}]`
    const said = message.replaceAll(vocabulary.ids.regex('<id>', 'gi'), (id) => keys.get(id) ?? id)
    return [{ path, message: `${file}:${line}:${column} ${rule}: ${said}` }]
  })
}

function donePlan(plan: Plan, drafts: readonly PlanDraft[], { stay, requirements }: TasksContext): Plan {
  const digests = new Map(plan.tasks.map(({ id, digest }) => [id, digest]))
  const all = [
    ...stay.map(({ key, task }) => ({ key, task, digest: digests.get(task.id) ?? '' })),
    ...drafts.map(({ key, task, text }) => ({ key, task, digest: digestOf(text) })),
  ].toSorted((a, b) => compareNumbers(a.task.number, b.task.number))
  return {
    ...plan,
    status: 'done',
    coverage: requirements.map(({ number, title }) => ({
      requirement: `§${number} ${title}`,
      tasks: all.flatMap(({ task }) => (numbersIn(task, plan.slug).includes(number) ? [task.id] : [])),
    })),
    tasks: all.map(({ task, key, digest }) => ({ id: task.id, key, digest })),
  }
}
