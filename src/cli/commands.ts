import { STATUSES, TIERS } from '../task/model.ts'
import type { CommandSpec, OptionSpec } from './command.ts'

const DISCIPLINE = { name: 'discipline', takes: 'text', value: 'name' } as const
const FEATURE = { name: 'feature', takes: 'text', value: 'name' } as const
const MILESTONE = { name: 'milestone', takes: 'text', value: 'name' } as const

const flag = (name: string, about: string): OptionSpec => ({ name, takes: 'flag', about })

/** The table of commands, in the order in which help shows them: parsing, help and completion are made from it. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'init',
    args: '',
    summary: 'sets up a project: a first task, config with the gates it detects',
    options: [flag('yes', 'write without asking')],
    examples: ['ralph init', 'ralph init --yes'],
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'new',
    args: '<title>',
    summary: 'writes the next free task file and prints its path',
    options: [
      { name: 'depends', takes: 'list', value: 'ids', about: 'tasks that must be done first' },
      { name: 'touches', takes: 'list', value: 'files', about: 'files that it will read or change' },
      { ...MILESTONE, about: 'the milestone that it belongs to' },
      {
        name: 'complexity',
        takes: TIERS,
        value: 'tier',
        about: 'Light, Standard or Heavy; detected otherwise',
      },
      { ...DISCIPLINE, about: 'how to work: a name of docs/disciplines' },
      { ...FEATURE, about: 'what domain: a name of docs/features' },
    ],
    examples: ['ralph new "Add the login form" --depends T-001,T-003 --milestone 1'],
    load: () => import('./commands/new.ts'),
  },
  {
    name: 'next',
    args: '',
    summary: 'previews the eligible task: why, limits, what it unblocks',
    options: [
      flag('all', 'every eligible task, in order'),
      flag('explain', 'why each other task waits'),
      flag('prompt', 'what its agent would get'),
    ],
    examples: ['ralph next --explain'],
    load: () => import('./commands/next.ts'),
  },
  {
    name: 'list',
    args: '',
    summary: 'shows the backlog, with progress by milestone',
    options: [
      { name: 'status', takes: STATUSES, value: 'status', about: 'TODO, DONE or BLOCKED' },
      { ...MILESTONE, about: 'by number, name or both' },
      { name: 'tag', takes: 'list', value: 'tags', about: 'that have all of these tags' },
      { ...DISCIPLINE, about: 'of this discipline' },
      { ...FEATURE, about: 'of this feature' },
    ],
    examples: ['ralph list --status TODO --milestone 1'],
    load: () => import('./commands/list.ts'),
  },
  {
    name: 'show',
    args: '<id>',
    summary: 'shows one task: where it stands, what it needs, what needs it',
    options: [],
    examples: ['ralph show T-004', 'ralph show 4'],
    load: () => import('./commands/show.ts'),
  },
  {
    name: 'prompt',
    args: '<id>',
    summary: 'prints what the agent would get for a task, and its size',
    options: [],
    examples: ['ralph prompt T-004', 'ralph prompt T-004 > prompt.md'],
    load: () => import('./commands/prompt.ts'),
  },
  {
    name: 'lint',
    args: '[...files]',
    summary: 'checks the task files: file:line:column severity rule message',
    options: [flag('fix', 'mend what has one right answer')],
    examples: ['ralph lint --fix'],
    load: () => import('./commands/lint.ts'),
  },
  {
    name: 'graph',
    args: '',
    summary: 'draws which task needs which',
    options: [flag('mermaid', 'as Mermaid, which GitHub draws'), flag('dot', 'in the language of Graphviz')],
    examples: ['ralph graph', 'ralph graph --dot | dot -Tsvg > tasks.svg'],
    load: () => import('./commands/graph.ts'),
  },
  {
    name: 'run',
    args: '[id]',
    summary: 'has an agent do the next task, or the one named; checks it, commits it',
    options: [
      flag('loop', 'one task after the other, until nothing is eligible'),
      { name: 'max-tasks', takes: 'count', value: 'N', about: 'at most so many tasks' },
      {
        name: 'agent',
        takes: 'text',
        value: 'name',
        about: 'claude, codex, gemini, opencode, copilot, qwen, continue, command, script',
      },
      { name: 'model', takes: 'text', value: 'name', about: 'in the words of the agent' },
      { name: 'command', takes: 'text', value: 'command', about: 'what the agent named command runs' },
      { name: 'max-turns', takes: 'count', value: 'N', about: 'a task, instead of its own' },
      { name: 'timeout', takes: 'duration', value: '20m', about: 'an attempt, instead of its own' },
      { name: 'retries', takes: 'whole', value: 'N', about: 'tries after the first one (3)' },
      { name: 'budget', takes: 'money', value: '5.00', about: 'in dollars, for the whole run' },
      {
        name: 'gate',
        takes: 'repeat',
        value: 'command',
        about: 'a check that must pass, instead of the configured; repeatable',
      },
      flag('no-gates', 'take the word of the agent'),
      {
        name: 'baseline',
        takes: ['warn', 'stop', 'off'],
        value: 'what',
        about: 'where gates fail before anything has begun: warn, stop or off',
      },
      flag('yolo', 'let the agent do anything'),
      flag('dry-run', 'show prompt, command line, limits and gates; run nothing'),
      {
        name: 'on-failure',
        takes: ['block', 'stop', 'ask'],
        value: 'what',
        about: 'where a task runs out of tries: block, stop or ask',
      },
      flag('commit-tasks', 'commit task files that are not committed yet, before the run'),
      flag('push', 'push when the run is over'),
      flag('verbose', 'each step of the agent on a line of its own'),
    ],
    examples: ['ralph run --loop --max-tasks 5', 'ralph run T-004 --agent claude --retries 1'],
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'attempts',
    args: '<id>',
    summary: 'shows what was tried on a task, how it ended, where it is kept',
    options: [],
    examples: ['ralph attempts T-004'],
    load: () => import('./commands/attempts.ts'),
  },
  {
    name: 'retry',
    args: '<id>',
    summary: 'makes a blocked task TODO again, keeping why it was blocked',
    options: [],
    examples: ['ralph retry T-004'],
    load: () => import('./commands/retry.ts'),
  },
  {
    name: 'completion',
    args: '<shell>',
    summary: 'prints completion for bash, zsh or fish, task ids included',
    options: [],
    examples: [
      'ralph completion bash >> ~/.bashrc',
      'ralph completion fish > ~/.config/fish/completions/ralph.fish',
    ],
    load: () => import('./commands/completion.ts'),
  },
]
