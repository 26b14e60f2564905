import { UserError } from '../../base/errors.ts'
import type { RunRequest } from '../setup/run-options.ts'
import type { ContextOf } from '../commands.ts'

type Options = ContextOf<'run'>['options']

/** What the command line of a run asks for. */
export function runRequest(
  options: Options,
  { task, canAsk }: { readonly task: string | null; readonly canAsk: boolean },
): RunRequest {
  refuseContradictions(options, canAsk)
  const { gates, noGates } = options
  return { ...options, task, gates: noGates || gates.length > 0 ? gates : null }
}

/** Refuses flags that have no effect, or contradict each other: to choose one would be a guess. */
function refuseContradictions(options: Options, canAsk: boolean): void {
  const { loop, maxTasks, jobs, push, byHand, agent = 'command' } = options
  const fix = 'Without --loop a run does one task.'
  refuse(maxTasks !== undefined && !loop, '--max-tasks needs --loop', fix)
  refuse(jobs !== undefined && !loop, '--jobs needs --loop', fix)
  refuse(
    options.branch !== undefined && push,
    '--push is about the branch that is checked out, and --branch lands on another',
  )
  refuse(options.gates.length > 0 && options.noGates, '--no-gates takes no gate at all, and --gate names one')
  refuseWithQueue(options)
  refuse(
    options.command !== undefined && agent !== 'command',
    `--command is for the agent named command, not for ${agent}`,
    'Take --agent command, or leave --command out.',
  )
  refuse(byHand && (jobs ?? 1) > 1, '--interactive has one terminal, and --jobs wants several tasks at once')
  refuse(
    byHand && options.queue !== undefined,
    '--interactive has you drive an agent here, and --queue has workers elsewhere run theirs',
  )
  refuse(
    options.onFailure === 'ask' && !canAsk,
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
function refuseWithQueue({ queue, remote, gates, noGates, command, full, push }: Options): void {
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
