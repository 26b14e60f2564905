import * as v from 'valibot'
import { cagedAction, denial, gate, gateResult, usage } from '../../base/nouns.ts'
import { OUTCOMES } from '../../base/names.ts'
import { about, type Read } from '../../base/schema.ts'
import { isObject, parsedJson } from '../../base/text.ts'
import { taskJson } from '../../backlog/json.ts'

const text = v.string()
const texts = v.array(v.string())
const number = v.number()
const textOrNull = v.nullable(v.string())
const numberOrNull = v.nullable(v.number())

/** One kind of event: what has happened, and the keys that say more. */
function event<const Type extends string, Keys extends v.ObjectEntries>(
  type: Type,
  description: string,
  keys: Keys,
) {
  const common = {
    type: v.literal(type),
    at: about('The time of the event.', text),
    workspace: v.exactOptional(about('The slot, in a run with several jobs.', number)),
  }
  return about(description, v.object({ ...common, ...keys }))
}

const sandbox = v.object({
  on: v.boolean(),
  reason: about('Why they are not; null if they are, or if no sandbox was requested.', textOrNull),
})

const interference = v.variant('kind', [
  about(
    'It committed: its repository is kept for a while, and the content is part of its work.',
    v.object({ kind: v.literal('commits'), commits: texts }),
  ),
  about(
    'It worked on another commit than its base: what it changed there was brought onto the base.',
    v.object({ kind: v.literal('other-base'), commits: texts }),
  ),
  about(
    'It changed or deleted task files, or added one whose number is taken: in no tree.',
    v.object({ kind: v.literal('task-files'), paths: texts }),
  ),
  about(
    "It changed or deleted a synced file of another tool's backlog: in no tree.",
    v.object({ kind: v.literal('origins'), paths: texts }),
  ),
  about(
    'It created a repository inside this one: in no tree.',
    v.object({ kind: v.literal('nested-repository'), paths: texts }),
  ),
  about(
    'It changed files although it was only to read: thrown away.',
    v.object({ kind: v.literal('written'), paths: texts }),
  ),
  about(
    'It changed files that decide the gates; left, named in the commit.',
    v.object({ kind: v.literal('gates-changed'), paths: texts }),
  ),
  about(
    'It changed what an agent, an editor or git runs later; left, named in the commit.',
    v.object({ kind: v.literal('runs-later'), paths: texts }),
  ),
])

const stopMode = v.picklist(['after-attempt', 'clean', 'now'])

const runEnd = v.picklist([
  'done',
  'nothing-eligible',
  'budget',
  'interrupted',
  'failed',
  'stopped',
  'held',
  'not-pushed',
])

/** Everything that can happen in a run, in about the order in which it happens. */
export const runEvent = v.variant('type', [
  event('run-started', 'What a run is about to do, and where.', {
    version: v.literal(1),
    run: about('The id of the run and its journal.', text),
    root: text,
    branch: about('Null for a detached HEAD.', textOrNull),
    head: text,
    agent: text,
    gates: v.array(gate),
    sandbox: about('Whether agents and gates are in a sandbox of the system.', sandbox),
    loop: v.boolean(),
    jobs: about(
      'How many tasks it works on at once; with a queue, the most that it gives to workers.',
      number,
    ),
    counts: about(
      'The number of tasks in the backlog by status.',
      v.object({ TODO: number, DONE: number, BLOCKED: number }),
    ),
    budget: about('In dollars, for the whole run; null if it has no limit.', numberOrNull),
    queue: about(
      'The address where workers find its jobs, without a password; null if it has no workers.',
      textOrNull,
    ),
  }),
  event('recovered', 'Something of an earlier run which died, and what was done about it.', {
    message: text,
    task: textOrNull,
    ref: about('The ref that now keeps the work in the tree.', textOrNull),
  }),
  event('warning', 'A warning for a person; the run continues.', { message: text }),
  event('worker-joined', 'A worker does jobs of the run from now on.', {
    worker: text,
    places: about('How many jobs it does at once.', number),
    labels: about('The labels of tasks that it takes; empty for all tasks.', texts),
  }),
  event('worker-left', 'A worker does no more jobs. Another one does those that it had.', {
    worker: text,
    why: about('`lost`: it sends nothing any more.', v.picklist(['ended', 'lost'])),
    reason: about('One sentence.', text),
  }),
  event('preparing', 'Something is being prepared: the packages of a slot, or the queue of a run.', {
    command: text,
  }),
  event('baseline-started', 'The gates run on the untouched tree.', { gates: v.array(gate) }),
  event('baseline-finished', 'They have run.', { results: v.array(gateResult) }),
  event('task-started', 'The run begins with a task.', {
    id: text,
    task: taskJson,
    tasks: v.optional(about('How many tasks the backlog has by now.', number)),
    tier: text,
    limits: v.object({ turns: number, seconds: number, attempts: number }),
    agent: text,
  }),
  event('attempt-started', 'An attempt begins.', {
    id: text,
    attempt: about('The number of this attempt among all that are kept.', number),
    counted: about('The number of this attempt among those that count.', number),
    most: about('How many attempts the task has.', number),
    agent: text,
    model: textOrNull,
    log: about('The raw stream, relative to the root.', text),
    worker: v.exactOptional(
      about('The worker that makes it, and sends its log at the end; absent if it is made here.', text),
    ),
  }),
  event('agent-started', 'The agent has started.', { id: text, pid: number }),
  event('agent-text', 'The agent says something.', { id: text, text }),
  event('agent-tool', 'The agent uses a tool.', {
    id: text,
    name: text,
    summary: text,
    status: v.picklist(['running', 'ok', 'failed', 'denied']),
  }),
  event('agent-usage', "The attempt's sum so far.", { id: text, usage }),
  event('agent-session', 'The conversation that the agent can go on with.', { id: text, session: text }),
  event('agent-retrying', 'The agent itself waits for its service.', {
    id: text,
    reason: text,
    until: textOrNull,
  }),
  event('agent-signal', 'The agent reports its state with a tool of ralph, which does not trust it.', {
    id: text,
    signal: v.picklist(['done', 'blocked', 'progress']),
    text: about('Its summary, its reason or its note.', text),
  }),
  event('task-added', "The agent has added a task, which becomes part of this task's commit.", {
    id: text,
    added: about('The id of the new task.', text),
    title: text,
  }),
  event('taken-over', "A person drives the agent's interactive program, in the terminal of the run.", {
    id: text,
    agent: text,
    session: about(
      "The agent's conversation that is continued; null for a new one, or the last one in that folder.",
      textOrNull,
    ),
  }),
  event('handed-back', 'The person has left it: the gates check the work.', {
    id: text,
    code: about('How the program ended; null if it was ended, or never started.', numberOrNull),
    seconds: number,
  }),
  event('gate-started', 'A gate runs.', { id: text, gate }),
  event('gate-finished', 'A gate has run.', { id: text, result: gateResult }),
  event('gates-skipped', 'Nothing in the paths of these gates has changed.', { id: text, gates: texts }),
  event('gates-again', 'All gates run once more on work on which they have passed.', {
    id: text,
    paths: about('Files that they changed, as a formatter does.', texts),
    landing: v.optional(
      about(
        '`moved`: on what has landed since. `unseen`: they passed at a worker, or in a run that died.',
        v.picklist(['moved', 'unseen']),
      ),
    ),
  }),
  event(
    'witness-started',
    'The tests are checked: the old ones on the new code, or the new ones on the old code.',
    {
      id: text,
      tests: v.picklist(['old', 'new']),
    },
  ),
  event('witness', 'What became of the tests.', {
    id: text,
    changed: about('The tests that are not as they were: the place, what happened, and why.', texts),
    words: about('What else is known: `off` with the reason, or what the new tests show.', textOrNull),
  }),
  event('review-started', 'Another agent reviews the work.', { id: text, agent: text }),
  event('review', 'What it says.', {
    id: text,
    agent: text,
    words: about('How many criteria are met.', text),
    notMet: texts,
    findings: about('Each with its weight and its place.', texts),
  }),
  event('interference', 'The agent did something that it may not do.', { id: text, interference }),
  event('caged', 'The sandbox refused an action of an agent or a gate, as far as ralph can see.', {
    id: about('The task; empty if the gates run before the first one.', text),
    by: v.picklist(['agent', 'gate']),
    ...cagedAction.entries,
  }),
  event('candidate-ready', 'The work has passed, and is kept until it lands.', {
    id: text,
    attempt: number,
    ref: text,
  }),
  event('landing-started', "The candidate becomes the task's commit.", { id: text, ref: text }),
  event('committing', "git commits the work, with the repository's hooks.", { id: text }),
  event('sealing', "The search for the commit's seal.", {
    id: text,
    seconds: number,
    expectedSeconds: about('The expected duration of the whole search.', number),
  }),
  event('landing-finished', 'How the landing ended.', {
    id: text,
    result: about(
      "`held`: the person's uncommitted work is in the way.",
      v.picklist(['landed', 'conflict', 'gate-failed', 'held', 'not-committed']),
    ),
    paths: about("The person's files in the way, if it is held.", texts),
  }),
  event('attempt-finished', 'An attempt has ended.', {
    id: text,
    attempt: number,
    counted: number,
    outcome: v.picklist(OUTCOMES),
    reason: text,
    detail: text,
    seconds: number,
    usage,
    denied: v.array(denial),
    ref: about("The ref that keeps the attempt; null if the task's commit contains all of it.", textOrNull),
  }),
  event('task-completed', 'A task is done, in a commit of its own.', {
    id: text,
    title: text,
    commit: text,
    duration: about('In seconds, for all attempts that led to it, with the landing and its seal.', number),
    agent: v.exactOptional(about('Its agent. An earlier version did not write it.', text)),
    testsChanged: v.exactOptional(
      about('Tests that are not as they were: the place, what happened, and why.', texts),
    ),
    assumed: v.exactOptional(
      about('Questions that nobody answered, with the answers that the agent went on with.', texts),
    ),
    attempts: number,
    turns: numberOrNull,
    cost: numberOrNull,
    usage,
    files: number,
    added: number,
    removed: number,
  }),
  event('task-blocked', 'A task is blocked, in a commit that says why.', {
    id: text,
    title: text,
    reason: about("The agent's question, or why no attempt follows.", text),
    asks: v.boolean(),
    attempts: number,
    commit: text,
  }),
  event('task-given-up', 'A task was left TODO: its attempts are kept, and its work is not in the tree.', {
    id: text,
    title: text,
    reason: text,
  }),
  event('milestone-completed', 'All tasks of a milestone are done.', { milestone: text, tasks: number }),
  event('question', 'The run cannot decide, and asks a person.', { id: text, text, options: texts }),
  event('answered', 'A question has its answer.', {
    id: text,
    answer: text,
    isDefault: v.exactOptional(
      about(
        'Nobody answered in time: the answer is the one that the agent had given for that case.',
        v.literal(true),
      ),
    ),
  }),
  event('waiting', 'The run, or one of its agents, waits.', { id: text, until: text, reason: text }),
  event('paused', 'A person asked the run to begin no further attempt.', {}),
  event('resumed', 'A paused run continues.', {}),
  event('stopping', 'A person asked the run to end, or to end sooner than asked before.', {
    how: v.exactOptional(
      about(
        'After the attempts under way; in order, which records them; or at once. An earlier version did not write it.',
        stopMode,
      ),
    ),
  }),
  event('pushed', 'The branch was pushed.', { branch: text }),
  event('run-finished', 'The run is over.', {
    completed: texts,
    blocked: texts,
    failed: about('Tasks that were tried and left TODO.', texts),
    held: about("Candidates that did not land: the person's uncommitted work is in the way.", texts),
    waiting: about('The number of TODO tasks that are not eligible.', number),
    end: about(
      '`done`: it did what was requested; `stopped`: it cannot continue before a person does something; `held`: its tasks are done, and some could not land; `not-pushed`: everything is committed here, and git could not push it.',
      runEnd,
    ),
    reason: about('One sentence.', text),
    seconds: number,
    cost: numberOrNull,
  }),
])

/**
 * Everything that can happen in a run, as plain data: a line of the journal, and of `ralph run --json`. All views of
 * a run are functions of these. All times are in ISO 8601.
 */
export type RunEvent = Read<typeof runEvent>

const byType = new Map<unknown, v.GenericSchema<v.InferInput<typeof runEvent>>>(
  runEvent.options.map((option) => [option.entries.type.literal, option]),
)

/** The event in a line of a journal; null if there is none: a disk was full, or a run died while it wrote the line. */
export function eventIn(line: string): RunEvent | null {
  const found = parsedJson(line)
  const schema = isObject(found) && byType.get(found['type'])
  return schema && v.is(schema, found) ? found : null
}

type Without<Event, Key extends PropertyKey> = Event extends unknown ? Omit<Event, Key> : never

/** An event before it gets its time. */
export type Emitted = Without<RunEvent, 'at'>

/** An event as a job emits it, which does not know its slot. */
export type Happening = Without<RunEvent, 'at' | 'workspace'>

type Kind<Type extends RunEvent['type']> = Extract<Happening, { readonly type: Type }>
export type RunStarted = Kind<'run-started'>
export type TaskStarted = Kind<'task-started'>
export type RunFinished = Kind<'run-finished'>
export type AgentTool = Kind<'agent-tool'>
export type WorkerJoined = Kind<'worker-joined'>
export type TaskGivenUp = Kind<'task-given-up'>
export type TaskCompleted = Kind<'task-completed'>
export type TaskBlocked = Kind<'task-blocked'>
export type Caged = Kind<'caged'>

/** Something that an agent may not do to ralph's or the person's things, and how it was handled. */
export type Interference = Read<typeof interference>
/** Whether agents and gates are in a sandbox of the system. */
export type SandboxState = Read<typeof sandbox>
/** How a run ends: after the attempts under way; in order, which records them; or at once. */
export type StopMode = Read<typeof stopMode>
/** Why a run ended. */
export type RunEnd = Read<typeof runEnd>
