import { AGENT_NAMES } from '../../base/names.ts'
import { SANDBOX_MODES } from '../../config/defaults.ts'
import { flag, type OptionSpec } from './option.ts'

const QUEUE = {
  name: 'queue',
  takes: 'text',
  value: 'url',
  alone: true,
  about: 'a Postgres URL, or embedded; without a value: RALPH_QUEUE or the configuration',
} as const
const REMOTE = {
  name: 'remote',
  takes: 'text',
  value: 'name',
  about: 'the remote that run and workers share (default: origin)',
  sets: 'queue.remote',
} as const
const MODEL = {
  name: 'model',
  takes: 'text',
  value: 'name',
  about: "a model, by the agent's own name for it",
} as const
const COMMAND = {
  name: 'command',
  takes: 'text',
  value: 'command',
  about: 'the program that the agent command runs',
  sets: 'command',
} as const

/** The options of `ralph run`. */
export const RUN_OPTIONS = [
  flag('loop', 'one task after the other, until nothing is eligible'),
  { name: 'max-tasks', takes: 'count', value: 'N', about: 'end the loop after N tasks', sets: 'maxTasks' },
  {
    name: 'jobs',
    takes: 'count',
    value: 'N',
    about: 'run N tasks in parallel, each in its own folder',
    sets: 'jobs',
  },
  {
    name: 'branch',
    takes: 'text',
    value: 'name',
    about: 'land there; made from HEAD where it is missing',
  },
  QUEUE,
  REMOTE,
  {
    name: 'agent',
    takes: 'text',
    value: 'name',
    about: AGENT_NAMES.join(', '),
  },
  MODEL,
  COMMAND,
  { name: 'max-turns', takes: 'count', value: 'N', about: "turns for an attempt, instead of the task's" },
  {
    name: 'timeout',
    key: 'timeoutSeconds',
    takes: 'duration',
    value: '20m',
    about: "time for an attempt, instead of the task's",
  },
  {
    name: 'retries',
    takes: 'whole',
    value: 'N',
    about: 'further attempts after the first (default: 3)',
    sets: 'retries',
  },
  { name: 'budget', takes: 'money', value: '5.00', about: 'in dollars, for the whole run', sets: 'budget' },
  {
    name: 'gate',
    key: 'gates',
    takes: 'repeat',
    value: 'command',
    about: 'a command that must pass, instead of the configured gates; repeatable',
  },
  flag('no-gates', 'run no gates: nothing checks the work'),
  {
    name: 'baseline',
    takes: ['warn', 'stop', 'off'],
    value: 'what',
    about: 'when gates fail before the first task: warn or stop; off does not run them then',
    sets: 'baseline',
  },
  { ...flag('yolo', 'let the agent do anything that the sandbox allows'), key: 'full' },
  {
    name: 'sandbox',
    takes: SANDBOX_MODES,
    value: 'mode',
    about: 'around agents and gates: where it works, always, or never (also RALPH_SANDBOX)',
  },
  {
    ...flag('interactive', "work in the agent's own program; ralph still runs the gates and commits"),
    key: 'byHand',
  },
  flag('dry-run', 'show prompt, command line, limits and gates; run nothing'),
  {
    name: 'on-failure',
    takes: ['block', 'stop', 'ask'],
    value: 'what',
    about: 'when a task has no attempt left: block it, stop the run, or ask',
    sets: 'onFailure',
  },
  flag('commit-tasks', 'commit task files that are not committed yet, before the run'),
  { ...flag('push', 'push when the run is over'), sets: 'push' },
  flag('verbose', 'each step of the agent on a line of its own (RALPH_PLAIN=1 also disables live updates)'),
  flag('tui', 'in a full screen: tasks, activity, diffs, attempts; f goes back to the lines'),
] as const satisfies readonly OptionSpec[]

/** The options of `ralph worker`. */
export const WORKER_OPTIONS = [
  QUEUE,
  REMOTE,
  {
    name: 'jobs',
    takes: 'count',
    value: 'N',
    about: 'run N tasks in parallel (default: as configured, 1)',
    sets: 'jobs',
  },
  flag('once', 'end after one task'),
  {
    name: 'label',
    takes: 'list',
    value: 'names',
    about: 'only tasks of that tier, agent or tag; of several, any',
  },
] as const satisfies readonly OptionSpec[]

/** The options of `ralph plan`. */
export const PLAN_OPTIONS = [
  {
    name: 'from',
    takes: 'text',
    value: 'document',
    about: 'make tasks from its headings and check boxes, without an agent',
  },
  { ...flag('continue', 'continue a plan: the one named, or the only unfinished one'), key: 'continues' },
  { ...flag('abort', 'end a plan; its files and tasks stay'), key: 'aborts' },
  flag('yes', 'take what is recommended and proposed'),
  flag('no-research', 'begin with the decisions'),
  flag('no-web', 'the agent reads nothing on the web'),
  flag('verify-tasks', 'one more task at the end of each milestone that checks it as a whole'),
  {
    name: 'export',
    takes: ['implementation'],
    value: 'format',
    about: 'write implementation.json too, and keep it in step while tasks are done',
  },
  flag('dry-run', 'show the prompts and the changes to the backlog; write nothing'),
  {
    name: 'branch',
    takes: 'text',
    value: 'name',
    about: 'plan on this branch, made where it is missing',
  },
  flag('no-commit', 'write the files and commit nothing'),
  { name: 'agent', takes: 'text', value: 'name', about: 'who plans; it only reads' },
  MODEL,
  COMMAND,
  {
    name: 'budget',
    takes: 'money',
    value: '5.00',
    about: 'in dollars, for all phases of this call',
    sets: 'plan.budget',
  },
  {
    name: 'sandbox',
    takes: SANDBOX_MODES,
    value: 'mode',
    about: 'around the agent: where it works, always, or never (also RALPH_SANDBOX)',
  },
] as const satisfies readonly OptionSpec[]
