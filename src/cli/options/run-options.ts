import { AGENT_NAMES } from '../../base/names.ts'
import { SANDBOX_MODES } from '../../config/defaults.ts'
import { flag, option, type OptionSpec } from './option.ts'

const QUEUE = option(
  '--queue [url]',
  'text',
  'a Postgres URL, or embedded; without a value: RALPH_QUEUE or the configuration',
)
const REMOTE = option('--remote <name>', 'text', 'the remote that run and workers share (default: origin)', {
  sets: 'queue.remote',
})
const MODEL = option('--model <name>', 'text', "a model, by the agent's own name for it")
const COMMAND = option('--command <command>', 'text', 'the program that the agent command runs', {
  sets: 'command',
})

/** The options of `ralph run`. */
export const RUN_OPTIONS = [
  flag('--loop', 'one task after the other, until nothing is eligible'),
  option('--max-tasks <N>', 'count', 'end the loop after N tasks', { sets: 'maxTasks' }),
  option('--jobs <N>', 'count', 'run N tasks in parallel, each in its own folder', { sets: 'jobs' }),
  option('--branch <name>', 'text', 'land there; made from HEAD where it is missing'),
  QUEUE,
  REMOTE,
  option('--agent <name>', 'text', AGENT_NAMES.join(', ')),
  MODEL,
  COMMAND,
  option('--max-turns <N>', 'count', "turns for an attempt, instead of the task's"),
  option('--timeout <20m>', 'duration', "time for an attempt, instead of the task's", {
    key: 'timeoutSeconds',
  }),
  option('--retries <N>', 'whole', 'further attempts after the first (default: 3)', { sets: 'retries' }),
  option('--budget <5.00>', 'money', 'in dollars, for the whole run', { sets: 'budget' }),
  option('--max-tokens <3M>', 'tokens', 'for the whole run: output, and input not from a cache', {
    sets: 'maxTokens',
  }),
  option(
    '--gate <command>',
    'repeat',
    'a command that must pass, instead of the configured gates; repeatable',
    { key: 'gates' },
  ),
  flag('--no-gates', 'run no gates: nothing checks the work'),
  option(
    '--baseline <what>',
    ['warn', 'stop', 'off'],
    'when gates fail before the first task: warn or stop; off does not run them then',
    { sets: 'baseline' },
  ),
  flag('--yolo', 'let the agent do anything that the sandbox allows', { key: 'full' }),
  option(
    '--sandbox <mode>',
    SANDBOX_MODES,
    'around agents and gates: where it works, always, or never (also RALPH_SANDBOX)',
  ),
  flag('--interactive', "work in the agent's own program; ralph still runs the gates and commits", {
    key: 'byHand',
  }),
  flag('--dry-run', 'show prompt, command line, limits and gates; run nothing'),
  option(
    '--on-failure <what>',
    ['block', 'stop', 'ask'],
    'when a task has no attempt left: block it, stop the run, or ask',
    { sets: 'onFailure' },
  ),
  flag('--commit-tasks', 'commit task files that are not committed yet, before the run'),
  flag('--push', 'push when the run is over', { sets: 'push' }),
  flag('--verbose', 'each step of the agent on a line of its own (RALPH_PLAIN=1 also disables live updates)'),
  flag('--tui', 'in a full screen: tasks, activity, diffs, attempts; f goes back to the lines'),
] as const satisfies readonly OptionSpec[]

/** The options of `ralph worker`. */
export const WORKER_OPTIONS = [
  QUEUE,
  REMOTE,
  option('--jobs <N>', 'count', 'run N tasks in parallel (default: as configured, 1)', { sets: 'jobs' }),
  option('--name <name>', 'text', "its name in the run (default: the machine's, and the process)"),
  flag('--once', 'end after one task'),
  flag('--stay', 'wait for the next run when one has ended'),
  option('--label <names>', 'list', 'only tasks of that tier, agent or tag; of several, any'),
] as const satisfies readonly OptionSpec[]

/** The options of `ralph plan`. */
export const PLAN_OPTIONS = [
  option('--from <document>', 'text', 'make tasks from its headings and check boxes, without an agent'),
  flag('--continue', 'continue a plan: the one named, or the only unfinished one', { key: 'continues' }),
  flag('--abort', 'end a plan; its files and tasks stay', { key: 'aborts' }),
  flag('--yes', 'take what is recommended and proposed'),
  flag('--no-research', 'begin with the decisions'),
  flag('--no-web', 'the agent reads nothing on the web'),
  flag('--verify-tasks', 'one more task at the end of each milestone that checks it as a whole'),
  option(
    '--export <format>',
    ['implementation'],
    'write implementation.json too, and keep it in step while tasks are done',
  ),
  flag('--dry-run', 'show the prompts and the changes to the backlog; write nothing'),
  option('--branch <name>', 'text', 'plan on this branch, made where it is missing'),
  flag('--no-commit', 'write the files and commit nothing'),
  option('--agent <name>', 'text', 'who plans; it only reads'),
  MODEL,
  COMMAND,
  option('--budget <5.00>', 'money', 'in dollars, for all phases of this call', { sets: 'plan.budget' }),
  option(
    '--sandbox <mode>',
    SANDBOX_MODES,
    'around the agent: where it works, always, or never (also RALPH_SANDBOX)',
  ),
] as const satisfies readonly OptionSpec[]
