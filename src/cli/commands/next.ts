import { UserError } from '../../base/errors.ts'
import { IDLE, schedule } from '../../backlog/select/schedule.ts'
import type { Selection, TaskState } from '../../backlog/select/selection.ts'
import type { Facts, TaskHead } from '../../backlog/model.ts'
import { presentFolders, readTask } from '../../backlog/read.ts'
import { NEXT_FACTS, nextView, toExplain, type NextTask } from '../../screen/next-view.ts'
import { explainListed, needsWhole, type WaitingTask } from '../../screen/task-lines.ts'
import { line, paragraph } from '../../screen/block.ts'
import { unreadText } from '../../config/unread.ts'
import type { ContextOf } from '../commands.ts'
import { blockedReasons, openListing, openTask } from '../../config/listing.ts'
import { tasksUnderWay } from '../under-way.ts'
import { previewAgent } from '../../agents/registry.ts'
import { selectByHeads, type Place } from '../../config/project.ts'
import { JSON_FACTS, taskJson } from '../../backlog/select/task-json.ts'

type Context = ContextOf<'next'>

/** The decision about the next task, if nothing else is asked for: it needs no more of the others than their heads. */
type Heads = Selection<TaskHead> | null

/** Previews the next task; exits with 1 if none is eligible. */
export async function run(context: Context): Promise<number> {
  const { all, explain, jobs, prompt } = context.options
  const place = await context.place()
  if (presentFolders(place.root, place.folders).length === 0) await refuseWithHint(place)
  const isAlone = !all && !explain && jobs === undefined
  const heads = isAlone || prompt ? await selectByHeads(place) : null
  if (prompt && heads?.next) {
    const { showPrompt } = await import('./prompt.ts')
    return showPrompt(context, place, heads.next.id)
  }
  const show = context.json ? printJson : print
  const next = await show(context, place, isAlone ? heads : null)
  const unread = unreadText(place)
  if (unread !== null) context.note([paragraph([], unread)])
  return next ? 0 : 1
}

/** Without a task folder there may be task files elsewhere, or another tool's backlog. */
async function refuseWithHint({ root, folders: { first } }: Place): Promise<void> {
  const { findTaskFolder } = await import('../../config/task-folder.ts')
  const found = findTaskFolder(root)
  const [path] = found === null ? await foreignIn(root) : []
  if (found === null && path === undefined) return
  throw new UserError(
    `no task folder at ${first}`,
    found === null
      ? `ralph import ${path} makes one of the backlog there.`
      : `There are ${found.count} task files in ${found.dir}: name it with --dir, or as "tasks" in ralph.config.json; ralph init does that too.`,
  )
}

async function foreignIn(root: string): Promise<readonly string[]> {
  const { foreignBacklogs } = await import('../../authoring/origins.ts')
  return foreignBacklogs(root)
}

/** Prints the decision for a person, and returns the next task. */
async function print(context: Context, place: Place, heads: Heads): Promise<TaskHead | null> {
  const { all, explain, jobs } = context.options
  const { folders, config } = place
  const screen = { folder: folders.first, explain, underWay: await tasksUnderWay(place.root) }
  if (heads && heads.outcome !== 'stuck') {
    const next = await nextTask(context, place, heads)
    const foreign = heads.outcome === 'empty' ? await foreignIn(place.root) : []
    context.print(nextView({ ...screen, selection: heads, next, foreign }))
    if (next) await sayIfNotCommitted(context, place, next.task.file)
    return heads.next
  }
  const { selection, tierOf } = await openListing(place, ['title', 'milestone', 'touches'])
  const { eligible } = selection
  const withTier = (task: (typeof eligible)[number]) => ({ task, choice: tierOf(task) })
  const waiting = await explained(place, toExplain(selection, explain))
  const shown = { ...screen, selection, waiting }
  if (jobs !== undefined) {
    const { begin, waiting: later } = schedule({ ...IDLE, eligible, jobs, overlap: config.overlap })
    context.print(nextView({ ...shown, together: { begin: begin.map(withTier), waiting: later } }))
  } else if (all) context.print(nextView({ ...shown, eligible: eligible.map(withTier) }))
  else context.print(nextView({ ...shown, next: await nextTask(context, place, selection) }))
  return selection.next
}

/** A run reads tasks from the branch: what is only in the checkout is not what it would do. */
async function sayIfNotCommitted(context: Context, place: Place, file: string): Promise<void> {
  const { notCommitted } = await import('../../authoring/uncommitted.ts')
  const problem = await notCommitted(context.io, place, file)
  if (problem !== null) context.note([line(problem)])
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
  const tasks = states.map(({ task }) => task)
  const reasonOf = await blockedReasons(place, tasks)
  const waiting: WaitingTask[] = []
  for (const state of states) {
    const { id, title, file } = state.task
    const whole = needsWhole(state) ? await readTask(place.root, file, place.vocabulary) : null
    waiting.push({ id, title, reasons: explainListed(state, reasonOf(state.task), whole) })
  }
  return waiting
}

/** Prints the decision as JSON, and returns the next task. */
async function printJson(context: Context, place: Place, heads: Heads): Promise<TaskHead | null> {
  const underWay = await tasksUnderWay(place.root)
  if (heads) {
    const { next, outcome, counts } = heads
    const opened = next && (await openTask(place, next, JSON_FACTS))
    const task = opened && taskJson({ ...ELIGIBLE, task: opened.task }, () => opened.choice, underWay)
    context.printJson({ version: 1, task, outcome, counts })
    return next
  }
  const { all, explain, jobs } = context.options
  const { selection, tierOf } = await openListing(place, JSON_FACTS)
  const { states, eligible, next, outcome, counts } = selection
  const json = (task: (typeof eligible)[number]) => taskJson({ ...ELIGIBLE, task }, tierOf, underWay)
  const started =
    jobs === undefined ? null : schedule({ ...IDLE, eligible, jobs, overlap: place.config.overlap })
  context.printJson({
    version: 1,
    task: next && json(next),
    outcome,
    counts,
    ...(started && {
      begin: started.begin.map(json),
      later: started.waiting.map(({ task, wait }) => ({ id: task.id, wait })),
    }),
    ...(all && { eligible: eligible.map(json) }),
    ...(explain && {
      waiting: states
        .filter(({ waiting }) => waiting.length > 0)
        .map((state) => taskJson(state, tierOf, underWay)),
    }),
  })
  return next
}

const ELIGIBLE = { eligible: true, waiting: [] }
