import { UserError } from '../../base/errors.ts'
import { SANDBOX_MODES } from '../../config/defaults.ts'
import type { RunWish } from '../setup/run-options.ts'
import type { Options } from '../options.ts'

/** Reads the command line of a run. */
export function runWish(
  options: Options,
  { task, isInteractive }: Pick<RunWish, 'task' | 'isInteractive'>,
): RunWish {
  refuseContradictions(options, isInteractive)
  const gates = options.list('gate')
  return {
    task,
    loop: options.on('loop'),
    maxTasks: options.number('max-tasks') ?? null,
    jobs: options.number('jobs') ?? null,
    branch: options.text('branch') ?? null,
    retries: options.number('retries') ?? null,
    onFailure: oneOf(['block', 'stop', 'ask'], options.text('on-failure')),
    budget: options.number('budget') ?? null,
    maxTurns: options.number('max-turns') ?? null,
    timeoutSeconds: options.number('timeout') ?? null,
    gates: options.on('no-gates') ? [] : gates.length > 0 ? gates : null,
    baseline: oneOf(['warn', 'stop', 'off'], options.text('baseline')),
    push: options.on('push'),
    commitTasks: options.on('commit-tasks'),
    agent: options.text('agent') ?? null,
    model: options.text('model') ?? null,
    command: options.text('command') ?? null,
    full: options.on('yolo'),
    sandbox: oneOf(SANDBOX_MODES, options.text('sandbox')),
    byHand: options.on('interactive'),
    queue: options.text('queue') ?? null,
    remote: options.text('remote') ?? null,
    isInteractive,
  }
}

/** The text as one of these words. */
export function oneOf<Word extends string>(words: readonly Word[], text: string | undefined): Word | null {
  return words.find((word) => word === text) ?? null
}

/** Refuses flags that have no effect, or contradict each other: to choose one would be a guess. */
function refuseContradictions(options: Options, isInteractive: boolean): void {
  const isGiven = (name: string): boolean => options.text(name) !== undefined
  const refuse = (isWrong: boolean, message: string, fix = 'Leave one of them out.'): void => {
    if (isWrong) throw new UserError(message, fix)
  }
  const agent = options.text('agent') ?? 'command'
  for (const name of ['max-tasks', 'jobs'])
    refuse(
      options.number(name) !== undefined && !options.on('loop'),
      `--${name} needs --loop`,
      'Without --loop a run does one task.',
    )
  refuse(
    isGiven('branch') && options.on('push'),
    '--push is about the branch that is checked out, and --branch lands on another',
  )
  refuse(
    options.list('gate').length > 0 && options.on('no-gates'),
    '--no-gates takes no gate at all, and --gate names one',
  )
  refuseWithQueue(options)
  refuse(
    isGiven('command') && agent !== 'command',
    `--command is for the agent named command, not for ${agent}`,
    'Take --agent command, or leave --command out.',
  )
  refuse(
    options.on('interactive') && (options.number('jobs') ?? 1) > 1,
    '--interactive has one terminal, and --jobs wants several tasks at once',
  )
  refuse(
    options.on('interactive') && isGiven('queue'),
    '--interactive has you drive an agent here, and --queue has workers elsewhere run theirs',
  )
  refuse(
    options.text('on-failure') === 'ask' && !isInteractive,
    '--on-failure ask finds nobody to ask here',
    'Outside a terminal, and with --json, take block or stop.',
  )
}

/**
 * Refuses these flags with a queue: workers take commands only from the committed configuration, because anybody on
 * the queue could send others.
 */
function refuseWithQueue(options: Options): void {
  if (options.text('queue') === undefined) {
    if (options.text('remote') === undefined) return
    throw new UserError('--remote is about what workers share with the run', 'Add --queue, or leave it out.')
  }
  for (const name of ['gate', 'no-gates', 'command', 'yolo', 'push'] as const) {
    const isGiven =
      name === 'gate'
        ? options.list(name).length > 0
        : name === 'command'
          ? options.text(name) !== undefined
          : options.on(name)
    if (isGiven) throw new UserError(`--${name} and --queue do not go together`, FOR_QUEUE[name])
  }
}

const IN_CONFIG =
  'Workers take it from the configuration at the commit that a task begins from: put it there, and commit it.'
const FOR_QUEUE = {
  gate: IN_CONFIG,
  'no-gates': IN_CONFIG,
  command: IN_CONFIG,
  yolo: IN_CONFIG,
  push: 'What lands is pushed at once: leave --push out.',
} as const
