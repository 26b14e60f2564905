import * as v from 'valibot'
import { FORMAT_NAMES } from '../backlog/formats.ts'
import { DEFAULTS, GATE_TIMEOUT_SECONDS, IF_GREEN, SANDBOX_MODES, TASK_FOLDER } from './defaults.ts'
import {
  agentName,
  agentNames,
  anyText,
  anyTexts,
  dollars,
  duration,
  tokens,
  flag,
  idPattern,
  named,
  oneOrMore,
  oneOf,
  pathInside,
  pathOf,
  pathPattern,
  subjectTemplate,
  table,
  text,
  texts,
  wholeNumber,
  words,
} from './schema-parts.ts'
import { isHostEntry } from '../process/cage/hosts.ts'
import { EMBEDDED, hasPassword, isPostgres } from './queue-url.ts'
import { FIELD_NAMES, SECTION_NAMES, STATUSES, TIERS } from '../backlog/model.ts'
import { clashOf } from '../backlog/ids.ts'
import { RELATED, TASK_VOCABULARY, wordMap } from '../backlog/vocabulary.ts'

const count = wholeNumber(1)
const amount = wholeNumber(0)

// A field may replace a section, so no word may be both.
const KEYS: readonly (readonly [string, string])[] = [...TASK_VOCABULARY.sections, ...TASK_VOCABULARY.fields]

const aliases = table(
  {
    fields: ['Words for the fields of the metadata block.', words([...FIELD_NAMES, RELATED], KEYS)],
    statuses: [
      'Words for the three statuses; the first of each is written.',
      words(STATUSES, TASK_VOCABULARY.statuses),
    ],
    sections: ['Words for the headings with a meaning.', words(SECTION_NAMES, KEYS)],
    tiers: ['Words for the three tiers, in Complexity.', words(TIERS, wordMap(TIERS, {}))],
  },
  DEFAULTS.aliases,
)

const thresholds = {
  fromDepends: [
    'From how many dependencies on a task is this tier; null: they never make it so.',
    v.nullable(amount),
  ],
  fromProduces: [
    'From how many outputs on a task is this tier; null: they never make it so.',
    v.nullable(amount),
  ],
} as const

const tierLimits = {
  turns: ['How many turns the agent has.', count],
  timeout: ['How long the agent has.', duration],
  agent: ['Who does tasks of this tier.', agentName],
  model: ['Which model does tasks of this tier.', text],
  review: [
    'Which agents review tasks of this tier, besides those of "review".',
    v.array(agentName, 'a list of agents'),
  ],
} as const

const { rows, keywords } = DEFAULTS.tiers

const tiers = v.pipe(
  table(
    {
      // The lowest tier takes what no other one takes, so it has no threshold.
      Light: v.pipe(
        table(tierLimits, tierDefaults(rows.Light)),
        v.transform((row) => tierRow({ ...rows.Light, ...row })),
      ),
      Standard: tier(rows.Standard),
      Heavy: tier(rows.Heavy),
      keywords: ['A task that says one of them, as a whole word, is Heavy.', texts],
    },
    { ...rows, keywords },
  ),
  v.transform(({ keywords, ...rows }) => ({ rows, keywords })),
)

function tier(defaults: (typeof rows)['Heavy']) {
  return v.pipe(table({ ...thresholds, ...tierLimits }, tierDefaults(defaults)), v.transform(tierRow))
}

function tierDefaults({ maxTurns: turns, timeoutSeconds: timeout, ...row }: (typeof rows)['Heavy']) {
  return { ...row, turns, timeout }
}

function tierRow<Row extends { turns: number; timeout: number }>({ turns, timeout, ...row }: Row) {
  return { ...row, maxTurns: turns, timeoutSeconds: timeout }
}

const UP_TO_THREE = 'a whole number from 0 to 3'

const PATTERNS = 'a list of patterns'

const gate = v.pipe(
  table(
    {
      name: ['What it is called in reports.', text],
      command: ['A shell command that must exit with 0.', text],
      required: [
        'If false, a failure is only reported; if-green: required once it has passed before the first task.',
        v.union([flag, v.literal(IF_GREEN)], `true, false or "${IF_GREEN}"`),
      ],
      timeout: ['How long it may take.', duration],
      paths: [
        'It runs only where one of these patterns matches a change; without them, always.',
        v.pipe(v.array(pathPattern, PATTERNS), v.minLength(1, PATTERNS)),
      ],
      rerun: [
        'How often it runs again on the same files if its tests fail, before an agent is paid for that.',
        v.pipe(
          v.number(UP_TO_THREE),
          v.integer(UP_TO_THREE),
          v.minValue(0, UP_TO_THREE),
          v.maxValue(3, UP_TO_THREE),
        ),
      ],
    },
    { required: true, timeout: GATE_TIMEOUT_SECONDS, paths: null, rerun: 1 },
  ),
  v.transform(({ timeout, rerun, required, paths, ...rest }) => ({
    ...rest,
    required: required === true,
    ...(required === IF_GREEN ? { ifGreen: true as const } : {}),
    timeoutSeconds: timeout,
    ...(paths ? { paths } : {}),
    ...(rerun === 1 ? {} : { rerun }),
  })),
)

const gates = v.pipe(
  v.array(gate, 'a list of gates'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    for (const [index, { name }] of dataset.value.entries()) {
      if (dataset.value.findIndex((other) => other.name === name) === index) continue
      addIssue({ message: 'a name that no other gate has', path: pathOf(dataset.value, index, 'name') })
    }
  }),
)

const gatesChanged = table(
  {
    action: ['Report it, or let the attempt fail.', oneOf(['report', 'refuse'])],
    paths: ['More files that decide the gates, as patterns.', anyTexts],
  },
  DEFAULTS.gatesChanged,
)

const tests = v.pipe(
  table(
    {
      paths: [
        'The files of tests, with their helpers and fixtures, as patterns; without them, what is usual.',
        anyTexts,
      ],
      changed: [
        'About tests that are there: `check` lets them change, but not become fewer; `refuse` lets none change; `report` only names what changes.',
        oneOf(['check', 'report', 'refuse']),
      ],
      new: [
        'What follows if new tests pass without the change, too: nothing, a failure, or no look at it.',
        oneOf(['warn', 'require', 'off']),
      ],
      limit: ['Tests that take longer do not run once more.', duration],
    },
    { ...DEFAULTS.tests, limit: DEFAULTS.tests.limitSeconds },
  ),
  v.transform(({ limit, ...rest }) => ({ ...rest, limitSeconds: limit })),
)

const reviewers = v.array(
  table(
    {
      agent: ['Which agent reviews.', agentName],
      model: ['Which model it takes.', text],
      required: [
        'Whether work waits until it has been reviewed, also if the reviewer has reached a limit.',
        flag,
      ],
    },
    { model: null, required: false },
  ),
  'a list of reviewers',
)

const secrets = table(
  {
    allow: [
      'Files that may hold what looks like a secret, as patterns.',
      v.pipe(
        anyTexts,
        v.check(
          (paths) => !paths.some((path) => /^\**(?:\/\**)*$/.test(path)),
          'patterns that do not name every file',
        ),
      ),
    ],
  },
  DEFAULTS.secrets,
)

const commit = table(
  {
    subject: ['The subject of the commit: {id}, {title} and {milestone} are filled in.', subjectTemplate],
    digits: [
      'How many digits of its own hash the commit holds: from 4 to 8, or as many as this machine finds in a third of a second.',
      v.picklist(['auto', 4, 5, 6, 7, 8], '"auto" or a whole number from 4 to 8'),
    ],
    seal: ['Whether the commit names itself in the task file.', flag],
  },
  DEFAULTS.commit,
)

const prompt = table(
  {
    budget: ['How many tokens of files a prompt may include.', amount],
    fileCap: ['How many tokens of one file.', amount],
  },
  DEFAULTS.prompt,
)

const mcpServer = table(
  {
    command: ['The program that is the server.', text],
    args: anyTexts,
    env: named(anyText, 'an object of names and texts'),
  },
  { args: [], env: {} },
)

const workspace = table(
  {
    dir: ['The folder that they are made in; null is the folder of caches.', text],
    prepare: [
      'A command that makes a workspace ready, as "npm ci"; null has it detected from lock files, "" is none.',
      anyText,
    ],
    copy: ['Patterns of ignored files that each workspace gets a copy of.', anyTexts],
    link: [
      'Folders outside of the repository, such as ../core, that are beside each workspace too.',
      anyTexts,
    ],
    keep: [
      'Ignored files and folders that stay in a workspace between tasks.',
      v.array(pathInside, 'a list of paths'),
    ],
  },
  DEFAULTS.workspace,
)

const hosts = v.array(
  v.pipe(
    anyText,
    v.check(
      isHostEntry,
      `a host such as "example.com", "*.example.com" or "127.0.0.1:5432", or the word "registries"`,
    ),
  ),
  'a list of hosts',
)

const sandbox = table(
  {
    mode: ['Use it where it works, refuse to run without it, or leave it off.', oneOf(SANDBOX_MODES)],
    write: ['Files and folders that may be written too.', texts],
    read: ['Files with keys that may be read; env:NAME is a variable.', texts],
    denyRead: ['More that may not be read.', texts],
    network: ['Hosts that agents may reach besides their own service.', hosts],
    gatesNetwork: ['Hosts that gates may reach.', hosts],
  },
  DEFAULTS.sandbox,
)

const bridge = table(
  {
    path: ['The file or folder that names it.', pathInside],
    as: ['How it is written.', oneOf(FORMAT_NAMES)],
    sync: ['Whether the status of a task is written back to it.', flag],
  },
  { sync: false },
)

const taskFolder = v.pipe(
  pathInside,
  v.check(
    (path) => !path.replace(/(?:^|\/)\*\*$/, '').includes('*'),
    'a folder, or docs/tasks/** for all folders below it, too',
  ),
)

const taskFolders = table(
  {
    dir: [
      'The task folders; new tasks go into the first. docs/tasks/** is one with all folders below it.',
      oneOrMore(taskFolder, 'a folder, or a list of folders'),
    ],
    id: [
      'How the ids of tasks are written, with {n} for the number: "TASK-{n}", or a list, of which new tasks get the first.',
      v.pipe(
        oneOrMore(idPattern, 'a pattern such as "TASK-{n}", or a list of them'),
        v.check(
          (patterns) => clashOf([patterns].flat()) === null,
          ({ input }) => `patterns of which no two match one name, such as ${clashOf([input].flat())}`,
        ),
      ),
    ],
    ignore: ['Patterns of the names of files that are no tasks.', texts],
  },
  { dir: TASK_FOLDER, id: null, ignore: [] },
)

const plan = table(
  {
    dir: ['The folder of plans.', pathInside],
    decisions: ['The folder of decisions, unless .adr-dir names another.', pathInside],
    agent: ['Who plans; null leaves it to "agent".', text],
    model: ['Which model plans; null leaves it to "model".', text],
    budget: ['How many dollars one call of ralph plan may cost.', dollars],
  },
  DEFAULTS.plan,
)

const notify = table(
  {
    command: ['A command that gets the notice as JSON on its standard input.', text],
    webhook: [
      'An address that gets the notice as JSON: env:NAME is the variable that holds it.',
      v.pipe(anyText, v.regex(/^env:[A-Za-z_]\w*$/, 'env:NAME, the variable that holds the address')),
    ],
  },
  DEFAULTS.notify,
)

const { heartbeatSeconds, lostSeconds, workerTimeoutSeconds, ...queueDefaults } = DEFAULTS.queue

const queue = v.pipe(
  table(
    {
      url: [
        'A Postgres URL without a password, or "embedded"; it is used where --queue is given.',
        v.pipe(
          text,
          v.check(
            (url) => url === EMBEDDED || (isPostgres(url) && !hasPassword(url)),
            '"embedded", or a URL such as "postgres://ralph@db.example.com/ralph", without a password',
          ),
        ),
      ],
      remote: ['The remote that run and workers share.', text],
      heartbeat: ['How often a worker says that it lives.', duration],
      lost: ['After so long without a word a worker has lost its jobs.', duration],
      workerTimeout: [
        'How long a run waits for a worker before it warns, and a worker for a run before it ends.',
        duration,
      ],
    },
    { ...queueDefaults, heartbeat: heartbeatSeconds, lost: lostSeconds, workerTimeout: workerTimeoutSeconds },
  ),
  v.forward(
    v.partialCheck(
      [['heartbeat'], ['lost']],
      ({ heartbeat, lost }) => lost >= 2 * heartbeat,
      'at least twice as long as "heartbeat"',
    ),
    ['lost'],
  ),
  v.transform(({ heartbeat, lost, workerTimeout, ...rest }) => ({
    ...rest,
    heartbeatSeconds: heartbeat,
    lostSeconds: lost,
    workerTimeoutSeconds: workerTimeout,
  })),
)

/** The schema of a configuration; its output is complete. */
export const configSchema = v.pipe(
  table(
    {
      $schema: v.optional(anyText),
      tasks: [
        'The task folder; or { "dir": several, "id": how ids are written, "ignore": patterns of files that are no tasks }.',
        v.union(
          [taskFolder, taskFolders],
          'a folder inside the project, or { "dir": ["docs/tasks", "docs/tasks/done"], "ignore": ["*-review.md"] }',
        ),
      ],
      aliases: ["A team's own words for the names of the task file.", aliases],
      tiers: ['How hard a task is taken to be, and what it may then take.', tiers],
      agent: ['Who does the work; null takes the first of "agents" that is installed.', agentName],
      agents: ['In which order agents are looked for; null looks for all that there are.', agentNames],
      model: ['Which model the agent uses; null leaves it to the agent.', text],
      command: ['What the agent named "command" runs.', text],
      pty: ['Whether the agent named "command" prints to a terminal, with colours and progress bars.', flag],
      permission: [
        'What the agent may do: change the repository and run the gates, anything, or what "agentArgs" says; null is "edit", and "full" in a sandbox.',
        oneOf(['edit', 'full', 'custom']),
      ],
      agentArgs: ['Arguments for the agent where "permission" is "custom".', anyTexts],
      fallback: [
        'Which agents take over while the agent waits for a limit, or when it can do nothing in this run.',
        agentNames,
      ],
      stallTimeout: ['How long an agent may be silent with no tool at work.', duration],
      askTimeout: [
        "How long an agent may wait for a person's answer; then the task is blocked with its question.",
        duration,
      ],
      detachKey: ['Read without effect: leaving the program brings the run back.', text],
      knowledge: [
        "Whether a feature's documents stand in the prompt, or are listed there to be read on demand.",
        oneOf(['inline', 'resources']),
      ],
      checkCriteria: [
        "Whether acceptance criteria that the agent says are met are checked off in the task's file.",
        flag,
      ],
      gates: ["The project's checks; null has them detected, an empty list has none.", gates],
      tests: ['What may happen to tests that are there, and what new ones must show.', tests],
      gatesChanged: ['What to do about a task that changes what decides the gates.', gatesChanged],
      review: ['Other agents that review work before it lands.', reviewers],
      secrets: ['About secrets in the work, which fail an attempt.', secrets],
      baseline: ['What to do about gates that fail before the first task.', oneOf(['warn', 'stop', 'off'])],
      retries: ['How many attempts a task has after the first one.', amount],
      onFailure: [
        'What to do with a task that has no attempt left; null asks in a terminal and blocks elsewhere.',
        oneOf(['block', 'stop', 'ask']),
      ],
      budget: ['How many dollars a run may cost.', dollars],
      maxCostPerTask: ['How many dollars a task may cost.', dollars],
      maxTokens: [
        'How many tokens a run may use: output, and input that does not come from a cache.',
        tokens,
      ],
      maxTokensPerTask: ['How many tokens a task may use.', tokens],
      maxTasks: ['How many tasks a run may do.', count],
      jobs: ['How many tasks a loop works on at once.', count],
      overlap: ['Whether tasks whose Touches overlap wait for each other.', oneOf(['wait', 'ignore'])],
      workspace: ['The workspaces in which agents work, outside of the checkout.', workspace],
      maxAddedTasks: ['How many tasks that agents add a run may take.', amount],
      commit: ['How the one commit of a task looks.', commit],
      push: ['Whether a run pushes when it is over.', flag],
      progress: ["A file that finished tasks' notes are added to.", pathInside],
      prompt: ['How much a prompt may hold.', prompt],
      mcpServers: ['MCP servers that every agent gets.', named(mcpServer, 'an object of names and servers')],
      logs: [
        "How much of agents' output is kept.",
        table({ maxBytes: ['How much of one attempt is kept.', count] }, DEFAULTS.logs),
      ],
      sandbox: ['The sandbox around agents and gates.', sandbox],
      bridges: [
        'Backlogs of other tools that tasks came from; "ralph import --sync" writes this.',
        v.array(bridge, 'a list of bridges'),
      ],
      plan: ['How ralph plan works.', plan],
      notify: ['Who is called for a question, a blocked task and the end of a run.', notify],
      queue: ['The queue by which workers on other machines are reached.', queue],
    },
    { ...DEFAULTS, stallTimeout: DEFAULTS.stallSeconds, askTimeout: DEFAULTS.askSeconds },
  ),
  v.forward(
    v.partialCheck(
      [['permission'], ['agentArgs']],
      ({ permission, agentArgs }) => permission === 'custom' || agentArgs.length === 0,
      'none, as long as "permission" is not "custom"',
    ),
    ['agentArgs'],
  ),
  v.transform(({ $schema: _editors, stallTimeout, askTimeout, ...rest }) => ({
    ...rest,
    stallSeconds: stallTimeout,
    askSeconds: askTimeout,
  })),
)
