import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { parseGlob } from '../../base/glob.ts'
import type { Task } from '../../backlog/model.ts'
import { inOrder } from '../../backlog/order.ts'
import { readOrigin } from '../../backlog/origin.ts'
import type { Answers, Mistake, Phase, TaskAnswer } from './answers.ts'
import { changesOf, isNothing, writtenTasks, type Changes, type Written } from './changes.ts'
import { checkDecisions, checkRequirements, checkResearch } from './check.ts'
import { checkTasks } from './check-tasks.ts'
import { converse, type Answered } from './converse.ts'
import { decisionFileName, decisionText, nextDecision } from './decision-file.ts'
import { knownNow, type Desk } from './desk.ts'
import { keyOf, readRequirements, requirementsText, researchText } from './documents.ts'
import { draftTasks, withMilestones, type PlanDraft, type DraftContext } from './drafts.ts'
import type { Took } from './note.ts'
import { digestOf, type Plan } from './plan-file.ts'
import { EXPORT_FILE, type PlanOptions, type PlanPorts } from './ports.ts'
import { settleDecisions, type OpenFile, type Settled } from './settle.ts'

/** The input of a phase. */
interface Scene {
  readonly plan: Plan
  readonly desk: Desk
  readonly options: PlanOptions
}

/** The result of a phase, or why it has none. */
export type PhaseEnd =
  | {
      readonly kind: 'made'
      /** The plan, in its next phase. */
      readonly plan: Plan
      readonly texts: ReadonlyMap<string, string | null>
      readonly took: Took | null
      readonly open: readonly OpenFile[]
      readonly changes?: Changes
    }
  | { readonly kind: 'proposed'; readonly changes: Changes }
  | Exclude<Answered<Phase>, { kind: 'answered' }>

/** Computes one phase of a plan. Writes nothing. */
export function makePhase(phase: Phase, scene: Scene, ports: PlanPorts): Promise<PhaseEnd> {
  switch (phase) {
    case 'research':
      return research(scene, ports)
    case 'decisions':
      return decide(scene, ports)
    case 'requirements':
      return specify(scene, ports)
    case 'tasks':
      return divide(scene, ports)
  }
}

async function research({ plan, desk }: Scene, ports: PlanPorts): Promise<PhaseEnd> {
  const check = (answer: Answers['research']): readonly Mistake[] => checkResearch(answer, plan)
  const answered = await converse('research', { plan, desk, check }, ports)
  if (answered.kind !== 'answered') return answered
  const { answer, took } = answered
  const says = answer.findings.length + answer.unknown.length > 0
  const text = researchText(plan.title, answer, { date: dateOf(ports) })
  return {
    kind: 'made',
    plan: { ...plan, status: answer.small ? 'requirements' : 'decisions' },
    texts: new Map(says ? [[`${ports.places.plans}/${plan.slug}/research.md`, text]] : []),
    took,
    open: [],
  }
}

async function decide({ plan, desk, options }: Scene, ports: PlanPorts): Promise<PhaseEnd> {
  // If they were asked before, their files count.
  if (plan.decisions.length > 0) {
    const settled = await settleDecisions(plan.decisions, { desk, options }, ports)
    return settledPlan(plan, { settled, options, took: null })
  }
  const answered = await converse('decisions', { plan, desk, check: checkDecisions }, ports)
  if (answered.kind !== 'answered') return answered
  const folder = ports.places.decisions
  const first = nextDecision(desk.list(folder))
  const proposed = answered.answer.decisions.map((decision, index) => {
    const file = `${folder}/${decisionFileName(first + index, decision.question)}`
    return [file, decisionText(decision, { date: dateOf(ports), plan: plan.slug, choice: null })] as const
  })
  for (const [file, text] of proposed) desk.lay(file, text)
  const files = knownNow(
    proposed.map(([file]) => ({ file })),
    desk,
  )
  const settled = await settleDecisions(files, { desk, options }, ports)
  const texts = new Map([...proposed, ...settled.texts])
  return settledPlan(plan, { settled: { ...settled, texts }, options, took: answered.took })
}

function settledPlan(
  plan: Plan,
  {
    settled,
    options,
    took,
  }: { readonly settled: Settled; readonly options: PlanOptions; readonly took: Took | null },
): PhaseEnd {
  const { decisions, open, texts } = settled
  const isSettled = open.length === 0 || options.dryRun
  return {
    kind: 'made',
    plan: { ...plan, status: isSettled ? 'requirements' : 'decisions', decisions },
    texts,
    took,
    open,
  }
}

async function specify({ plan, desk }: Scene, ports: PlanPorts): Promise<PhaseEnd> {
  const file = `${ports.places.plans}/${plan.slug}/requirements.md`
  const answered = await converse('requirements', { plan, desk, check: checkRequirements }, ports)
  if (answered.kind !== 'answered') return answered
  const before = desk.read(file)
  const text = requirementsText(answered.answer, before === null ? [] : await readRequirements(before))
  return {
    kind: 'made',
    plan: {
      ...plan,
      status: 'tasks',
      specs: knownNow(plan.specs, desk),
      decisions: knownNow(plan.decisions, desk),
    },
    texts: new Map([[file, text]]),
    took: answered.took,
    open: [],
  }
}

async function divide({ plan, desk, options }: Scene, ports: PlanPorts): Promise<PhaseEnd> {
  const backlog = await ports.backlog()
  const requirements = await readRequirements(
    desk.read(`${ports.places.plans}/${plan.slug}/requirements.md`) ?? '',
  )
  const written = writtenTasks(plan, backlog)
  const open = new Set(written.open.map(({ task }) => task))
  const context: DraftContext = {
    slug: plan.slug,
    dir: ports.places.tasks,
    vocabulary: ports.vocabulary,
    requirements,
    others: backlog.filter((task) => !open.has(task)),
    known: new Map(written.open.map(({ key, task }) => [keyOf(key), { id: task.id, file: task.file }])),
    highest: await ports.highest(),
    verifyTasks: plan.verifyTasks,
    origin: plan.exports ? EXPORT_FILE : null,
  }
  const sheet: Sheet = { plan, ports, backlog, written, context }
  const check = ({ tasks }: Answers['tasks']): Promise<readonly Mistake[]> => mistakesIn(tasks, sheet)
  const answered = await converse('tasks', { plan, desk, check }, ports)
  if (answered.kind !== 'answered') return answered
  const drafts = await draftsOf(answered.answer.tasks, sheet)
  const changes = changesOf(drafts, written)
  const isAgain = plan.tasks.length > 0 && !isNothing(changes)
  if (isAgain && !options.yes && !options.dryRun && !(await ports.confirm?.(changes)))
    return { kind: 'proposed', changes }
  return {
    kind: 'made',
    plan: donePlan(plan, drafts, sheet),
    texts: new Map([
      ...changes.drop.map(({ file }) => [file, null] as const),
      ...changes.add.map(({ file, text }) => [file, text] as const),
      ...changes.change.map(({ draft }) => [draft.file, draft.text] as const),
      ...(plan.exports ? await ports.exported(exportedTasks(drafts, sheet)) : []),
    ]),
    took: answered.took,
    open: [],
    changes,
  }
}

/** All tasks in the file for other tools, also those of other plans. */
function exportedTasks(drafts: readonly PlanDraft[], { context }: Sheet): readonly Task[] {
  const tasks = inOrder([...context.others, ...drafts.map(({ task }) => task)])
  return tasks.filter(({ origin }) => readOrigin(origin)?.path === EXPORT_FILE)
}

/** The input of the tasks phase. */
interface Sheet {
  readonly plan: Plan
  readonly ports: PlanPorts
  readonly backlog: readonly Task[]
  readonly written: Written
  readonly context: DraftContext
}

/** The answer's tasks without those that stay, which the others refer to by id. */
function ownTasks(tasks: readonly TaskAnswer[], { written, context }: Sheet): readonly TaskAnswer[] {
  const ids = new Map(written.stay.map(({ key, task }) => [keyOf(key), task.id]))
  const own = tasks.filter(({ key }) => !ids.has(keyOf(key)))
  const named = own.map((task) => ({
    ...task,
    depends: task.depends.map((need) => ids.get(keyOf(need)) ?? need),
  }))
  return withMilestones(named, context.others)
}

async function mistakesIn(answered: readonly TaskAnswer[], sheet: Sheet): Promise<readonly Mistake[]> {
  const { ports, context, written, plan } = sheet
  const files = await ports.files()
  const { root } = ports.places
  const exists = (path: string): boolean => {
    const glob = parseGlob(path)
    return glob ? files.some((file) => glob.matches(file)) : existsSync(join(root, path))
  }
  const covered = new Set(written.stay.flatMap(({ task }) => numbersIn(task, plan.slug)))
  const tasks = ownTasks(answered, sheet)
  const { fromProduces } = ports
  const mistakes = checkTasks(tasks, { ...context, covered, exists, fromProduces })
  if (mistakes.length > 0) return mistakes
  const drafts = await draftsOf(answered, sheet)
  return lintMistakes(drafts, tasks, sheet)
}

/** The numbers of the requirements of a plan that a task covers. */
function numbersIn({ prdReference }: Task, slug: string): readonly string[] {
  return prdReference.flatMap((reference) => {
    const [, plan, number] = /^(\S+) §(\d+(?:\.\d+)*)$/.exec(reference) ?? []
    return plan === slug && number !== undefined ? [number] : []
  })
}

/** Lint problems that the backlog does not have yet, with the keys of planned tasks, which are all that the agent knows. */
async function lintMistakes(
  drafts: readonly PlanDraft[],
  tasks: readonly TaskAnswer[],
  { ports, backlog, context }: Sheet,
): Promise<readonly Mistake[]> {
  const name = ({ file, rule, message }: Diagnostic): string => `${file} ${rule} ${message}`
  const before = new Set((await ports.lint(backlog)).map(name))
  const after = await ports.lint(inOrder([...context.others, ...drafts.map(({ task }) => task)]))
  const keys = new Map(drafts.map(({ id, key }) => [id, key]))
  return after.flatMap((diagnostic) => {
    const { file, line, column, severity, rule, message } = diagnostic
    const isMistake = severity === 'error' || rule === 'bad-milestone'
    if (!isMistake || before.has(name(diagnostic))) return []
    const draft = drafts.find((one) => one.file === file)
    const index = tasks.findIndex(({ key }) => draft && keyOf(key) === keyOf(draft.key))
    const path = index < 0 ? 'tasks' : `tasks[${index}]`
    const said = message.replaceAll(/T-\d+/g, (id) => keys.get(id) ?? id)
    return [{ path, message: `${file}:${line}:${column} ${rule}: ${said}` }]
  })
}

function draftsOf(tasks: readonly TaskAnswer[], sheet: Sheet): Promise<readonly PlanDraft[]> {
  return draftTasks(ownTasks(tasks, sheet), sheet.context)
}

function donePlan(plan: Plan, drafts: readonly PlanDraft[], { written, context }: Sheet): Plan {
  const stay = written.stay.map(({ key, task }) => {
    const planned = plan.tasks.find(({ id }) => id === task.id)
    return { id: task.id, key, digest: planned?.digest ?? '', numbers: numbersIn(task, plan.slug) }
  })
  const made = drafts.map(({ id, key, text, requirements: numbers }) => ({
    id,
    key,
    digest: digestOf(text),
    numbers,
  }))
  const all = [...stay, ...made].toSorted((a, b) => Number(a.id.slice(2)) - Number(b.id.slice(2)))
  return {
    ...plan,
    status: 'done',
    coverage: context.requirements.map(({ number, title }) => ({
      requirement: `§${number} ${title}`,
      tasks: all.filter(({ numbers }) => numbers.includes(number)).map(({ id }) => id),
    })),
    tasks: all.map(({ id, key, digest }) => ({ id, key, digest })),
  }
}

function dateOf({ now }: PlanPorts): string {
  const date = now()
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
