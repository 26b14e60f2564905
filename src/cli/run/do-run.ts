import { relative } from 'node:path'
import { UserError, unreachable } from '../../base/errors.ts'
import type { RunEvent, RunFinished } from '../../engine/events/event.ts'
import { findTask } from '../../config/find-task.ts'
import { openProject, type Project } from '../../config/project.ts'
import { overridden } from '../options/option.ts'
import { RUN_OPTIONS } from '../options/run-options.ts'
import { type RunRequest, startRun } from '../setup/start-run.ts'
import { openRun } from '../setup/read-from-branch.ts'
import { Control } from '../../engine/control.ts'
import { runFolder } from '../../engine/folder.ts'
import { journalPath } from '../../engine/journal.ts'
import type { ContextOf } from '../commands.ts'
import { openTerminal } from '../terminal.ts'
import { showOwnRun } from './own-run.ts'
import { showJson, type LineShow } from './show-run.ts'

type Context = ContextOf<'run'>

/** Does the next task, the named task, or one after the other; shows it in these lines, or as JSON if there are none. */
export async function doRun(context: Context, lines: LineShow | null): Promise<number> {
  const { io, where } = context
  const { tui, dryRun } = context.options
  const canAsk = !context.json && io.dialogue() !== null
  const own = await openProject(where)
  const request = requestOf(context, own, canAsk)
  const terminal = lines?.isLive ? openTerminal(io) : null
  if (tui && !terminal)
    throw new UserError(
      '--tui needs a terminal that it has to itself, and nothing else to print',
      'Leave it out here: ralph watch shows the run in another terminal.',
    )
  if (dryRun) {
    const { dryRun: show } = await import('./dry-run.ts')
    return show(context, overridden(own, RUN_OPTIONS, request), request)
  }
  const asking = { request, ask: lines?.ask ?? null, canAsk }
  const { project, options, warnings } = await openRun(io, where, own, asking)
  const control = new Control()
  const shown = lines && showOwnRun(context, lines, { project, options, control, terminal })
  if (tui) shown?.full?.()
  const { ask, warn, event: show, end } = shown ?? showJson(context)
  let code = 0
  const emit = (event: RunEvent): void => {
    if (event.type === 'run-started')
      io.runLog.path = relative(io.cwd, journalPath(runFolder(project.root).logs, event.run))
    show(event)
    if (event.type === 'run-finished') code = exitCode(event)
  }
  try {
    const run = { request, options, ask, terminal: shown?.lent ?? null, emit, control, warn, warnings }
    await startRun(io, project, run)
  } finally {
    await end()
  }
  return code
}

function exitCode({ blocked, failed, held, end }: RunFinished): number {
  switch (end) {
    case 'done':
      return blocked.length + failed.length + held.length > 0 ? 1 : 0
    case 'interrupted':
      return 130
    case 'nothing-eligible':
    case 'budget':
    case 'failed':
    case 'stopped':
    case 'held':
    case 'not-pushed':
      return 1
    default:
      return unreachable(end)
  }
}

/** What the command line of a run asks for. */
function requestOf({ args, options }: Context, { tasks }: Project, canAsk: boolean): RunRequest {
  const [named] = args
  const task = named === undefined ? null : findTask(tasks, named).id
  if (task !== null && options.loop)
    throw new UserError('--loop cannot be used with a task id', 'Leave one of them out.')
  refuseContradictions(options, canAsk)
  const { gates, noGates } = options
  return { ...options, task, gates: noGates || gates.length > 0 ? gates : null }
}

/** Refuses flags that have no effect, or contradict each other: to choose one would be a guess. */
function refuseContradictions(options: Context['options'], canAsk: boolean): void {
  const { loop, maxTasks, jobs, branch, queue, push, byHand, command, gates, noGates, onFailure } = options
  const { agent = 'command' } = options
  const fix = 'Without --loop a run does one task.'
  refuse(maxTasks !== undefined && !loop, '--max-tasks needs --loop', fix)
  refuse(jobs !== undefined && !loop, '--jobs needs --loop', fix)
  refuse(
    branch !== undefined && push,
    '--push is about the branch that is checked out, and --branch lands on another',
  )
  refuse(gates.length > 0 && noGates, '--no-gates takes no gate at all, and --gate names one')
  refuseWithQueue(options)
  refuse(
    command !== undefined && agent !== 'command',
    `--command is for the agent named command, not for ${agent}`,
    'Take --agent command, or leave --command out.',
  )
  refuse(byHand && (jobs ?? 1) > 1, '--interactive has one terminal, and --jobs wants several tasks at once')
  refuse(
    byHand && queue !== undefined,
    '--interactive has you drive an agent here, and --queue has workers elsewhere run theirs',
  )
  refuse(
    onFailure === 'ask' && !canAsk,
    '--on-failure ask finds nobody to ask here',
    'Outside a terminal, and with --json, take block or stop.',
  )
}

const IN_CONFIG =
  'Workers take it from the configuration at the commit that a task begins from: put it there, and commit it.'

/**
 * Refuses these flags with a queue: workers take commands only from the committed configuration, because anybody on
 * the queue could send others.
 */
function refuseWithQueue({ queue, remote, gates, noGates, command, full, push }: Context['options']): void {
  if (queue === undefined)
    return refuse(
      remote !== undefined,
      '--remote is about what workers share with the run',
      'Add --queue, or leave it out.',
    )
  const given = { gate: gates.length > 0, 'no-gates': noGates, command: command !== undefined, yolo: full }
  for (const [name, isGiven] of Object.entries(given))
    refuse(isGiven, `--${name} and --queue do not go together`, IN_CONFIG)
  refuse(push, '--push and --queue do not go together', 'What lands is pushed at once: leave --push out.')
}

function refuse(isWrong: boolean, message: string, fix = 'Leave one of them out.'): void {
  if (isWrong) throw new UserError(message, fix)
}
