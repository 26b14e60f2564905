import { UserError } from '../base/errors.ts'
import type { Config } from './config/defaults.ts'
import { GATE_TIMEOUT_SECONDS } from './config/defaults.ts'
import { detectGates } from '../gates/detect.ts'
import type { Gate } from '../events/gate.ts'
import type { RunOptions } from '../run/ports.ts'
import type { Options } from '../cli/options.ts'

/** What a run is asked to do: the command line's word, else the configuration's. */
export function runOptions(asked: {
  readonly options: Options
  readonly config: Config
  readonly root: string
  /** The task that was named; null takes whatever is next. */
  readonly task: string | null
  /** Whether somebody is there to be asked. */
  readonly isInteractive: boolean
}): RunOptions {
  const { options, config, root, task, isInteractive } = asked
  refuseContradictions(options, isInteractive)
  return {
    task,
    loop: options.on('loop'),
    maxTasks: options.number('max-tasks') ?? config.maxTasks,
    retries: options.number('retries') ?? config.retries,
    onFailure: onFailureOf(options, config, isInteractive),
    budget: options.number('budget') ?? config.budget,
    maxCostPerTask: config.maxCostPerTask,
    maxTurns: options.number('max-turns') ?? null,
    timeoutSeconds: options.number('timeout') ?? null,
    stallSeconds: config.stallSeconds,
    gates: gatesOf(options, config, root),
    baseline: baselineOf(options) ?? config.baseline,
    subject: config.commit.subject,
    progress: config.progress,
    push: options.on('push') || config.push,
    commitTasks: options.on('commit-tasks'),
    logBytes: config.logs.maxBytes,
  }
}

/** A flag that would do nothing is a mistake, and taking one of two would be a guess. */
function refuseContradictions(options: Options, isInteractive: boolean): void {
  if (options.number('max-tasks') !== undefined && !options.on('loop'))
    throw new UserError(
      '--max-tasks counts the tasks of a loop',
      'Add --loop: without it a run does one task.',
    )
  if (options.list('gate').length > 0 && options.on('no-gates'))
    throw new UserError('--no-gates takes no gate at all, and --gate names one', 'Leave one of them out.')
  const agent = options.text('agent')
  if (options.text('command') !== undefined && agent !== undefined && agent !== 'command')
    throw new UserError(
      `--command is for the agent named command, not for ${agent}`,
      'Take --agent command, or leave --command out.',
    )
  if (options.text('on-failure') === 'ask' && !isInteractive)
    throw new UserError(
      '--on-failure ask finds nobody to ask here',
      'Outside a terminal, and with --json, take block or stop.',
    )
}

function gatesOf(options: Options, config: Config, root: string): readonly Gate[] {
  if (options.on('no-gates')) return []
  const commands = options.list('gate')
  if (commands.length > 0) {
    return commands.map((command) => ({
      name: command,
      command,
      required: true,
      timeoutSeconds: GATE_TIMEOUT_SECONDS,
    }))
  }
  return config.gates ?? detectGates(root)
}

/** Where nobody can be asked a task that failed is blocked, and the others are done. */
function onFailureOf(options: Options, config: Config, isInteractive: boolean): RunOptions['onFailure'] {
  const asked = options.text('on-failure') ?? config.onFailure
  if (asked === 'block' || asked === 'stop') return asked
  return isInteractive ? 'ask' : 'block'
}

function baselineOf(options: Options): RunOptions['baseline'] | undefined {
  const asked = options.text('baseline')
  return asked === 'warn' || asked === 'stop' || asked === 'off' ? asked : undefined
}
