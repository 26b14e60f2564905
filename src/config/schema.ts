import * as v from 'valibot'
import { FORMAT_NAMES } from '../backlog/formats.ts'
import { DEFAULTS, GATE_TIMEOUT_SECONDS, SANDBOX_MODES, TASK_FOLDER } from './defaults.ts'
import { about } from '../base/schema.ts'
import {
  agentName,
  anyTexts,
  dollars,
  duration,
  flag,
  named,
  oneOf,
  orNull,
  pathInside,
  pathOf,
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
import { RELATED, TASK_VOCABULARY } from '../backlog/vocabulary.ts'

const count = wholeNumber(1)

// A field may replace a section, so no word may be both.
const KEYS: readonly (readonly [string, string])[] = [...TASK_VOCABULARY.sections, ...TASK_VOCABULARY.fields]

const aliases = table({
  fields: about(
    'Words for the fields of the metadata block.',
    v.optional(words([...FIELD_NAMES, RELATED], KEYS), {}),
  ),
  statuses: about(
    'Words for the three statuses; the first of each is written.',
    v.optional(words(STATUSES, TASK_VOCABULARY.statuses), {}),
  ),
  sections: about('Words for the headings with a meaning.', v.optional(words(SECTION_NAMES, KEYS), {})),
  tiers: about(
    'Words for the three tiers, in Complexity.',
    v.optional(words(TIERS, TASK_VOCABULARY.tiers), {}),
  ),
})

const tiers = v.pipe(
  table({
    Light: lowestTier(DEFAULTS.tiers.rows.Light),
    Standard: tier(DEFAULTS.tiers.rows.Standard),
    Heavy: tier(DEFAULTS.tiers.rows.Heavy),
    keywords: about(
      'A task that says one of them, as a whole word, is Heavy.',
      v.optional(texts, [...DEFAULTS.tiers.keywords]),
    ),
  }),
  v.transform(({ keywords, ...rows }) => ({ rows, keywords })),
)

const gate = v.pipe(
  table({
    name: about('What it is called in reports.', text),
    command: about('A shell command that must exit with 0.', text),
    required: about('If false, a failure is only reported.', v.optional(flag, true)),
    timeout: about('How long it may take.', v.optional(duration, GATE_TIMEOUT_SECONDS)),
  }),
  v.transform(({ timeout, ...rest }) => ({ ...rest, timeoutSeconds: timeout })),
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

const gatesChanged = table({
  action: about(
    'Report it, or let the attempt fail.',
    v.optional(oneOf(['report', 'refuse']), DEFAULTS.gatesChanged.action),
  ),
  paths: about('More files that decide the gates, as patterns.', v.optional(anyTexts, [])),
})

const commit = table({
  subject: about(
    'The subject of the commit: {id}, {title} and {milestone} are filled in.',
    v.optional(subjectTemplate, DEFAULTS.commit.subject),
  ),
  digits: about(
    'How many digits of its own hash the commit holds: from 4 to 8, or as many as this machine finds in a third of a second.',
    v.optional(
      v.picklist(['auto', 4, 5, 6, 7, 8], '"auto" or a whole number from 4 to 8'),
      DEFAULTS.commit.digits,
    ),
  ),
  seal: about('Whether the commit names itself in the task file.', v.optional(flag, DEFAULTS.commit.seal)),
})

const prompt = table({
  budget: about(
    'How many tokens of files a prompt may include.',
    v.optional(wholeNumber(0), DEFAULTS.prompt.budget),
  ),
  fileCap: about('How many tokens of one file.', v.optional(wholeNumber(0), DEFAULTS.prompt.fileCap)),
})

const mcpServer = table({
  command: about('The program that is the server.', text),
  args: v.optional(anyTexts, []),
  env: v.optional(named(v.string('a text'), 'an object of names and texts'), {}),
})

const workspace = table({
  dir: about('The folder that they are made in; null is the folder of caches.', orNull(text)),
  prepare: about(
    'A command that makes a workspace ready, as "npm ci"; null has it detected from lock files, "" is none.',
    v.optional(v.nullable(v.string('a text')), DEFAULTS.workspace.prepare),
  ),
  copy: about('Patterns of ignored files that each workspace gets a copy of.', v.optional(anyTexts, [])),
  link: about(
    'Folders outside of the repository, such as ../core, that are beside each workspace too.',
    v.optional(anyTexts, []),
  ),
  keep: about(
    'Ignored files and folders that stay in a workspace between tasks.',
    v.optional(v.array(pathInside, 'a list of paths'), []),
  ),
})

const logs = table({
  maxBytes: about('How much of one attempt is kept.', v.optional(count, DEFAULTS.logs.maxBytes)),
})

const hosts = v.array(
  v.pipe(
    v.string('a text'),
    v.check(
      isHostEntry,
      `a host such as "example.com", "*.example.com" or "127.0.0.1:5432", or the word "registries"`,
    ),
  ),
  'a list of hosts',
)

const sandbox = table({
  mode: about(
    'Use it where it works, refuse to run without it, or leave it off.',
    v.optional(oneOf(SANDBOX_MODES), DEFAULTS.sandbox.mode),
  ),
  write: about('Files and folders that may be written too.', v.optional(texts, [])),
  read: about('Files with keys that may be read; env:NAME is a variable.', v.optional(texts, [])),
  denyRead: about('More that may not be read.', v.optional(texts, [])),
  network: about('Hosts that agents may reach besides their own service.', v.optional(hosts, [])),
  gatesNetwork: about('Hosts that gates may reach.', v.optional(hosts, [])),
})

const bridge = table({
  path: about('The file or folder that names it.', pathInside),
  as: about('How it is written.', oneOf(FORMAT_NAMES)),
  sync: about('Whether the status of a task is written back to it.', v.optional(flag, false)),
})

const FOLDERS =
  'a folder inside the project, or { "dir": ["docs/tasks", "docs/tasks/done"], "ignore": ["*-review.md"] }'

const taskFolders = table({
  dir: about(
    'The task folders; new tasks go into the first.',
    v.optional(v.pipe(v.array(pathInside, 'a list of folders'), v.minLength(1, 'a folder at least')), [
      TASK_FOLDER,
    ]),
  ),
  ignore: about('Patterns of the names of files that are no tasks.', v.optional(texts, [])),
})

const plan = table({
  dir: about('The folder of plans.', v.optional(pathInside, DEFAULTS.plan.dir)),
  decisions: about(
    'The folder of decisions, unless .adr-dir names another.',
    v.optional(pathInside, DEFAULTS.plan.decisions),
  ),
  agent: about('Who plans; null leaves it to "agent".', orNull(text)),
  model: about('Which model plans; null leaves it to "model".', orNull(text)),
  budget: about('How many dollars one call of ralph plan may cost.', orNull(dollars)),
})

const notify = table({
  command: about('A command that gets the notice as JSON on its standard input.', orNull(text)),
  webhook: about(
    'An address that gets the notice as JSON: env:NAME is the variable that holds it.',
    orNull(
      v.pipe(
        v.string('a text'),
        v.regex(/^env:[A-Za-z_]\w*$/, 'env:NAME, the variable that holds the address'),
      ),
    ),
  ),
})

const queue = v.pipe(
  table({
    url: about(
      'A Postgres URL without a password, or "embedded"; it is used where --queue is given.',
      orNull(
        v.pipe(
          text,
          v.check(
            (url) => url === EMBEDDED || (isPostgres(url) && !hasPassword(url)),
            '"embedded", or a URL such as "postgres://ralph@db.example.com/ralph", without a password',
          ),
        ),
      ),
    ),
    remote: about('The remote that run and workers share.', v.optional(text, DEFAULTS.queue.remote)),
    heartbeat: about(
      'How often a worker says that it lives.',
      v.optional(duration, DEFAULTS.queue.heartbeatSeconds),
    ),
    lost: about(
      'After so long without a word a worker has lost its jobs.',
      v.optional(duration, DEFAULTS.queue.lostSeconds),
    ),
    workerTimeout: about(
      'How long a run waits for a worker before it warns, and a worker for a run before it ends.',
      v.optional(duration, DEFAULTS.queue.workerTimeoutSeconds),
    ),
  }),
  v.forward(
    v.partialCheck(
      [['heartbeat'], ['lost']],
      ({ heartbeat, lost }) => lost >= 2 * heartbeat,
      'at least twice as long as "heartbeat"',
    ),
    ['lost'],
  ),
  v.transform(({ url, remote, heartbeat, lost, workerTimeout }) => {
    return {
      url,
      remote,
      heartbeatSeconds: heartbeat,
      lostSeconds: lost,
      workerTimeoutSeconds: workerTimeout,
    }
  }),
)

/** The schema of a configuration; its output is complete. */
export const configSchema = v.pipe(
  table({
    $schema: v.optional(v.string('a text')),
    tasks: about(
      'The task folder; or { "dir": several, "ignore": patterns of files that are no tasks }.',
      v.optional(v.union([pathInside, taskFolders], FOLDERS), TASK_FOLDER),
    ),
    aliases: about("A team's own words for the names of the task file.", v.optional(aliases, {})),
    tiers: about('How hard a task is taken to be, and what it may then take.', v.optional(tiers, {})),
    agent: about('Who does the work; null takes the first of "agents" that is installed.', orNull(agentName)),
    agents: about(
      'In which order agents are looked for; null looks for all that there are.',
      orNull(v.array(agentName, 'a list of texts')),
    ),
    model: about('Which model the agent uses; null leaves it to the agent.', orNull(text)),
    command: about('What the agent named "command" runs.', orNull(text)),
    pty: about(
      'Whether the agent named "command" prints to a terminal, with colours and progress bars.',
      v.optional(flag, DEFAULTS.pty),
    ),
    permission: about(
      'What the agent may do: change the repository and run the gates, anything, or what "agentArgs" says; null is "edit", and "full" in a sandbox.',
      orNull(oneOf(['edit', 'full', 'custom'])),
    ),
    agentArgs: about('Arguments for the agent where "permission" is "custom".', v.optional(anyTexts, [])),
    fallback: about(
      'Which agents take over while the agent waits for a rate limit.',
      v.optional(v.array(agentName, 'a list of texts'), []),
    ),
    stallTimeout: about(
      'How long an agent may be silent with no tool at work.',
      v.optional(duration, DEFAULTS.stallSeconds),
    ),
    askTimeout: about(
      "How long an agent may wait for a person's answer; then the task is blocked with its question.",
      v.optional(duration, DEFAULTS.askSeconds),
    ),
    detachKey: about('Read without effect: leaving the program brings the run back.', orNull(text)),
    knowledge: about(
      "Whether a feature's documents stand in the prompt, or are listed there to be read on demand.",
      v.optional(oneOf(['inline', 'resources']), DEFAULTS.knowledge),
    ),
    checkCriteria: about(
      "Whether acceptance criteria that the agent says are met are checked off in the task's file.",
      v.optional(flag, DEFAULTS.checkCriteria),
    ),
    gates: about("The project's checks; null has them detected, an empty list has none.", orNull(gates)),
    gatesChanged: about(
      'What to do about a task that changes what decides the gates.',
      v.optional(gatesChanged, {}),
    ),
    baseline: about(
      'What to do about gates that fail before the first task.',
      v.optional(oneOf(['warn', 'stop', 'off']), DEFAULTS.baseline),
    ),
    retries: about(
      'How many attempts a task has after the first one.',
      v.optional(wholeNumber(0), DEFAULTS.retries),
    ),
    onFailure: about(
      'What to do with a task that has no attempt left; null asks in a terminal and blocks elsewhere.',
      orNull(oneOf(['block', 'stop', 'ask'])),
    ),
    budget: about('How many dollars a run may cost.', orNull(dollars)),
    maxCostPerTask: about('How many dollars a task may cost.', orNull(dollars)),
    maxTasks: about('How many tasks a run may do.', orNull(count)),
    jobs: about('How many tasks a loop works on at once.', v.optional(count, DEFAULTS.jobs)),
    overlap: about(
      'Whether tasks whose Touches overlap wait for each other.',
      v.optional(oneOf(['wait', 'ignore']), DEFAULTS.overlap),
    ),
    workspace: about(
      'The workspaces in which agents work, outside of the checkout.',
      v.optional(workspace, {}),
    ),
    maxAddedTasks: about(
      'How many tasks that agents add a run may take.',
      v.optional(wholeNumber(0), DEFAULTS.maxAddedTasks),
    ),
    commit: about('How the one commit of a task looks.', v.optional(commit, {})),
    push: about('Whether a run pushes when it is over.', v.optional(flag, DEFAULTS.push)),
    progress: about("A file that finished tasks' notes are added to.", orNull(pathInside)),
    prompt: about('How much a prompt may hold.', v.optional(prompt, {})),
    mcpServers: about(
      'MCP servers that every agent gets.',
      v.optional(named(mcpServer, 'an object of names and servers'), {}),
    ),
    logs: about("How much of agents' output is kept.", v.optional(logs, {})),
    sandbox: about('The sandbox around agents and gates.', v.optional(sandbox, {})),
    bridges: about(
      'Backlogs of other tools that tasks came from; "ralph import --sync" writes this.',
      v.optional(v.array(bridge, 'a list of bridges'), []),
    ),
    plan: about('How ralph plan works.', v.optional(plan, {})),
    notify: about(
      'Who is called for a question, a blocked task and the end of a run.',
      v.optional(notify, {}),
    ),
    queue: about('The queue by which workers on other machines are reached.', v.optional(queue, {})),
  }),
  v.forward(
    v.partialCheck(
      [['permission'], ['agentArgs']],
      ({ permission, agentArgs }) => permission === 'custom' || agentArgs.length === 0,
      'none, as long as "permission" is not "custom"',
    ),
    ['agentArgs'],
  ),
  v.transform(({ stallTimeout, askTimeout, ...rest }) => {
    delete rest.$schema
    return { ...rest, stallSeconds: stallTimeout, askSeconds: askTimeout }
  }),
)

type TierDefaults = (typeof DEFAULTS.tiers.rows)[keyof typeof DEFAULTS.tiers.rows]

const NO_THRESHOLD: Pick<TierDefaults, 'fromDepends' | 'fromProduces'> = { fromDepends: 0, fromProduces: 0 }

/** The lowest tier takes what no other one takes, so it has no threshold. */
function lowestTier(defaults: TierDefaults) {
  const schema = v.pipe(
    table(spending(defaults)),
    v.transform((row) => ({ ...NO_THRESHOLD, ...spent(row) })),
  )
  return v.optional(schema, {})
}

function tier(defaults: TierDefaults) {
  const entries = {
    fromDepends: about(
      'From how many dependencies on a task is this tier; null: they never make it so.',
      v.optional(v.nullable(wholeNumber(0)), defaults.fromDepends),
    ),
    fromProduces: about(
      'From how many outputs on a task is this tier; null: they never make it so.',
      v.optional(v.nullable(wholeNumber(0)), defaults.fromProduces),
    ),
    ...spending(defaults),
  }
  const schema = v.pipe(
    table(entries),
    v.transform(({ fromDepends, fromProduces, ...row }) => ({ fromDepends, fromProduces, ...spent(row) })),
  )
  return v.optional(schema, {})
}

function spending(defaults: TierDefaults) {
  return {
    turns: about('How many turns the agent has.', v.optional(count, defaults.maxTurns)),
    timeout: about('How long the agent has.', v.optional(duration, defaults.timeoutSeconds)),
    agent: about('Who does tasks of this tier.', orNull(agentName)),
    model: about('Which model does tasks of this tier.', orNull(text)),
  }
}

function spent(row: { turns: number; timeout: number; agent: string | null; model: string | null }) {
  return { maxTurns: row.turns, timeoutSeconds: row.timeout, agent: row.agent, model: row.model }
}
