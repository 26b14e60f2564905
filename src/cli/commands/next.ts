import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { IDLE, schedule, type Schedule } from '../../backlog/select/schedule.ts'
import { type Selection, type TaskState } from '../../backlog/select/selection.ts'
import type { TierChoice } from '../../backlog/select/tier.ts'
import type { Facts, TaskHead } from '../../backlog/model.ts'
import { readTask } from '../../backlog/read.ts'
import {
  NEXT_FACTS,
  nextView,
  toExplain,
  type EligibleTask,
  type NextTask,
  type Together,
} from '../../screen/next-view.ts'
import { explainListed, needsWhole } from '../../screen/reason-text.ts'
import type { WaitingTask } from '../../screen/task-lines.ts'
import { line } from '../../screen/block.ts'
import type { ContextOf } from '../commands.ts'
import { blockedReasons, openListing, openTask } from '../../config/listing.ts'
import { previewAgent } from '../../agents/agent-wishes.ts'
import { openPlace, selectByHeads, type Place } from '../../config/project.ts'
import { JSON_FACTS, taskJson, tasksJson } from '../../backlog/select/task-json.ts'

type Context = ContextOf<'next'>

/** Previews the next task; exits with 1 if none is eligible. */
export async function run(context: Context): Promise<number> {
  const place = await openPlace(context.where)
  if (!existsSync(join(place.root, place.folders.first))) await refuseWithHint(place)
  if (context.options.prompt && (await printPrompt(context, place))) return 0
  const { next } = context.json ? await printJson(context, place) : await print(context, place)
  return next ? 0 : 1
}

/** Without a task folder there may be task files elsewhere, or another tool's backlog. */
async function refuseWithHint({ root, folders: { first } }: Place): Promise<void> {
  const { findTaskFolder } = await import('../../config/task-folder.ts')
  const found = findTaskFolder(root)
  if (found !== null)
    throw new UserError(
      `no task folder at ${first}`,
      `There are ${found.count} task files in ${found.dir}: name it with --dir, or as "tasks" in ralph.config.json; ralph init does that too.`,
    )
  const [path] = await foreignIn(root)
  if (path !== undefined)
    throw new UserError(`no task folder at ${first}`, `ralph import ${path} makes one of the backlog there.`)
}

async function foreignIn(root: string): Promise<readonly string[]> {
  const { foreignBacklogs } = await import('../../authoring/foreign-backlogs.ts')
  return foreignBacklogs(root)
}

/** Prints the prompt of the next task; returns whether there is one. */
async function printPrompt(context: Context, place: Place): Promise<boolean> {
  const { next } = await selectByHeads(place)
  if (!next) return false
  const { showPrompt } = await import('../show-prompt.ts')
  await showPrompt(context, place, next.id)
  return true
}

async function print(context: Context, place: Place): Promise<Selection<TaskHead>> {
  const [all, explain] = [context.options.all, context.options.explain]
  const screen = {
    folder: place.folders.first,
    next: null,
    eligible: null,
    together: null,
    waiting: [],
    explain,
  }
  const jobs = jobsIn(context)
  if (!all && !explain && jobs === null) {
    const selection = await selectByHeads(place)
    if (selection.outcome !== 'stuck') {
      const next = await nextTask(context, place, selection)
      const foreign = selection.outcome === 'empty' ? await foreignIn(place.root) : []
      await context.print(nextView({ ...screen, selection, next, foreign }))
      if (next) await sayIfNotCommitted(context, place, next.task.file)
      return selection
    }
  }
  const { selection, tierOf } = await openListing(place, ['title', 'milestone', 'touches'])
  const withTier = (task: (typeof selection.eligible)[number]) => ({ task, choice: tierOf(task) })
  const shown =
    jobs !== null
      ? { together: together(selection, { jobs, place }, withTier) }
      : all
        ? { eligible: selection.eligible.map(withTier) }
        : { next: await nextTask(context, place, selection) }
  const waiting = await explained(place, toExplain(selection, explain))
  await context.print(nextView({ ...screen, ...shown, selection, waiting }))
  return selection
}

/** A run reads tasks from the branch: what is only in the checkout is not what it would do. */
async function sayIfNotCommitted(context: Context, place: Place, file: string): Promise<void> {
  const { notCommitted } = await import('../../authoring/uncommitted.ts')
  const problem = await notCommitted(context.io, place, file)
  if (problem !== null) await context.note([line(problem)])
}

/** The number of jobs in the options; null without one. */
function jobsIn({ options }: Context): number | null {
  return options.jobs ?? null
}

/** The tasks that a run with this number of jobs would begin now, by the same decision as in a run. */
function scheduleOf<T extends Facts<'touches'>>(
  { eligible }: Selection<T>,
  { jobs, place }: { readonly jobs: number; readonly place: Place },
): Schedule<T> {
  const { overlap } = place.config
  return schedule({ ...IDLE, eligible, jobs, overlap })
}

function together<T extends Facts<'title' | 'milestone' | 'touches'>>(
  selection: Selection<T>,
  asked: { readonly jobs: number; readonly place: Place },
  withTier: (task: T) => EligibleTask,
): Together {
  const { begin, waiting } = scheduleOf(selection, asked)
  const title = ({ id, title }: T) => ({ id, title })
  return {
    begin: begin.map(withTier),
    waiting: waiting.map(({ task, wait }) => ({ ...title(task), wait })),
  }
}

async function nextTask(
  { io }: Context,
  place: Place,
  { next }: Selection<TaskHead>,
): Promise<NextTask | null> {
  if (!next) return null
  const { task, choice } = await openTask(place, next, NEXT_FACTS)
  return { task, choice, agent: await previewAgent(task, { ...place, tier: choice.tier }, io.env) }
}

/** Why each task waits. Tasks are read whole, one by one, only if a reason needs a place in the text. */
async function explained(
  place: Place,
  states: readonly TaskState<Facts<'title'>>[],
): Promise<readonly WaitingTask[]> {
  const { root, vocabulary } = place
  const reasonOf = await blockedReasons(
    place,
    states.map(({ task }) => task),
  )
  const tasks: WaitingTask[] = []
  for (const state of states) {
    const { id, title, file } = state.task
    const whole = needsWhole(state) ? await readTask(root, file, vocabulary) : null
    tasks.push({ id, title, reasons: explainListed(state, reasonOf(state.task), whole) })
  }
  return tasks
}

async function printJson(context: Context, place: Place): Promise<Selection<TaskHead>> {
  const [all, explain] = [context.options.all, context.options.explain]
  const jobs = jobsIn(context)
  if (!all && !explain && jobs === null) {
    const selection = await selectByHeads(place)
    const next = selection.next && (await openTask(place, selection.next, JSON_FACTS))
    const json = next && taskJson(eligible(next.task), () => next.choice)
    context.printJson(decisionJson(selection, json))
    return selection
  }
  const { selection, tierOf: tierOfListed } = await openListing(place, JSON_FACTS)
  const { states, next } = selection
  const json = (wanted: (state: TaskState<TaskHead>) => boolean): Iterable<object> =>
    tasksJson(states.filter(wanted), tierOfListed)
  context.printJson({
    ...decisionJson(selection, next && taskJson(eligible(next), tierOfListed)),
    ...(jobs === null ? {} : togetherJson(scheduleOf(selection, { jobs, place }), tierOfListed)),
    ...(all ? { eligible: json(({ eligible }) => eligible) } : {}),
    ...(explain ? { waiting: json(({ waiting }) => waiting.length > 0) } : {}),
  })
  return selection
}

function togetherJson<T extends Parameters<typeof taskJson>[0]['task']>(
  {
    begin,
    waiting,
  }: { readonly begin: readonly T[]; readonly waiting: readonly { task: T; wait: object }[] },
  tierOf: (task: T) => TierChoice,
): object {
  return {
    begin: begin.map((task) => taskJson(eligible(task), tierOf)),
    later: waiting.map(({ task, wait }) => ({ id: task.id, wait })),
  }
}

function eligible<T extends TaskHead>(task: T): TaskState<T> {
  return { task, eligible: true, waiting: [] }
}

function decisionJson({ outcome, counts }: Selection<TaskHead>, task: object | null): object {
  return { version: 1, task, outcome, counts }
}
