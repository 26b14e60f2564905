import * as v from 'valibot'
import { toJsonSchema } from '@valibot/to-json-schema'
import type { AgentChoice, AgentOutcome } from '../agents/port.ts'
import type { GateResult, Usage } from '../base/nouns.ts'
import { isObject, parsedJson, shortened } from '../base/text.ts'
import { addUsage, UNKNOWN_USAGE } from '../base/usage.ts'
import { textIn } from '../git/tree.ts'
import type { Happening } from './events/event.ts'
import type { Job } from './job.ts'
import { outcome, type Outcome } from './outcome.ts'
import type { AttemptPorts, Emit } from './ports.ts'
import { reviewPrompt } from '../prompt/review.ts'
import { runAnswering } from './run-agent.ts'

const text = v.pipe(v.string(), v.minLength(1))
const place = v.nullish(v.pipe(v.string(), v.description('A file and a line of it: src/a.ts:12.')))

/** What a reviewer answers. */
const ANSWER = v.object({
  criteria: v.array(
    v.object({
      criterion: v.pipe(v.number(), v.description('Its number in the list.')),
      verdict: v.picklist(['met', 'not met', 'cannot tell']),
      place,
      reason: text,
    }),
  ),
  findings: v.array(v.object({ weight: v.picklist(['high', 'medium', 'low']), place, finding: text })),
})
type Answer = v.InferOutput<typeof ANSWER>

/** What reviewers say of work. */
export interface Reviewed {
  /** Why the work fails; null if no reviewer is against it. */
  readonly outcome: Outcome | null
  /** For each reviewer how it ended: `codex: 4 of 5 criteria met`, `codex: no (limit)`. */
  readonly words: readonly string[]
  readonly findings: readonly string[]
  /** What the reviewers have used. */
  readonly usage: Usage
}

export const NOT_REVIEWED: Reviewed = { outcome: null, words: [], findings: [], usage: UNKNOWN_USAGE }

/** Work to review. */
interface ToReview {
  readonly tree: string
  readonly results: readonly GateResult[]
  /** The tree that the agent left. */
  readonly begun: string
  /** What is known of its tests. */
  readonly tests: readonly string[]
}

/** Has other agents read work that has passed: they judge its criteria, with evidence. What they change is thrown away. */
export async function review(
  job: Job,
  work: ToReview,
  ports: AttemptPorts,
  emit: Emit<Happening>,
): Promise<Reviewed> {
  let all = NOT_REVIEWED
  for (const reviewer of job.review.by) {
    const one = await reviewBy(job, { ...work, reviewer }, ports, emit)
    all = {
      outcome: all.outcome ?? one.outcome,
      words: [...all.words, ...one.words],
      findings: [...all.findings, ...one.findings],
      usage: addUsage(all.usage, one.usage),
    }
    if (ports.control.signal.aborted)
      return { ...all, outcome: outcome('interrupted', 'the run was interrupted') }
  }
  if (job.review.by.length > 0) await ports.slot.bringWork(work.begun, null)
  return all
}

/** One reviewer, or who replaces it. */
async function reviewBy(
  job: Job,
  work: ToReview & { readonly reviewer: Job['review']['by'][number] },
  ports: AttemptPorts,
  emit: Emit<Happening>,
): Promise<Reviewed> {
  const { choices, isRequired } = work.reviewer
  const [{ name }] = choices
  let usage = UNKNOWN_USAGE
  let why = 'no answer'
  let until: Date | null = null
  for (const choice of choices) {
    let mistake: string | null = null
    for (let time = 1; time <= MOST_TIMES; time++) {
      emit({ type: 'review-started', id: job.task.id, agent: choice.label })
      const answered = await ask(job, { ...work, choice, mistake }, ports, emit)
      usage = addUsage(usage, answered.usage)
      const { end } = answered
      if (end.kind !== 'done' && end.kind !== 'no-marker') {
        if (end.kind === 'rate-limited') until = end.until
        why = end.kind === 'rate-limited' || end.kind === 'overloaded' ? 'limit' : end.kind
        break
      }
      const answer = await readAnswer(answered.finalMessage, job, work, ports)
      if (typeof answer !== 'string') return { ...judged(job, choice, answer, emit), usage }
      mistake = answer
    }
    if (ports.control.signal.aborted) break
  }
  const words = [`${name}: no (${why})`]
  const failed = isRequired
    ? outcome('rate-limited', `the reviewer ${name} gave no answer: ${why}`, { until })
    : null
  return { outcome: failed, words, findings: [], usage }
}

/** An answer that cannot be used is asked for once more. */
const MOST_TIMES = 2

function ask(
  job: Job,
  { tree, results, tests, choice, mistake }: ToReview & { choice: AgentChoice; mistake: string | null },
  ports: AttemptPorts,
  emit: Emit<Happening>,
): Promise<AgentOutcome> {
  const schema = toJsonSchema(ANSWER, { typeMode: 'input' })
  delete schema.$schema
  const passage = `Your last message is a JSON object that fits this schema, and nothing else:\n\n${JSON.stringify(schema)}`
  const prompt = reviewPrompt({
    ...job.review,
    id: job.task.id,
    gates: results.map(({ gate, verdict }) => `${gate.name}: ${verdict}`),
    tests,
    mistake,
    form: choice.takesSchema ? 'Your last message fits the schema that you were given.' : passage,
  })
  return ports.slot.bringWork(tree, null).then(() =>
    runAnswering(
      {
        ...job,
        agent: choice,
        prompt,
        limits: { ...job.limits, turns: MOST_TURNS, seconds: MOST_SECONDS },
        gates: [],
        resume: null,
        answer: { schema, passage },
      },
      ports,
      emit,
    ),
  )
}

const [MOST_TURNS, MOST_SECONDS] = [40, 900]

/** A usable answer, with the places that exist; or what is wrong with it. */
async function readAnswer(
  message: string,
  { review: { criteria } }: Job,
  { tree }: ToReview,
  { home }: AttemptPorts,
): Promise<Answer | string> {
  const from = message.indexOf('{')
  const read = message.length > LONGEST ? null : parsedJson(message.slice(from, message.lastIndexOf('}') + 1))
  if (from === -1 || !isObject(read)) return 'it was no JSON object'
  const parsed = v.safeParse(ANSWER, read)
  if (!parsed.success)
    return `it does not fit the schema: ${v.getDotPath(parsed.issues[0]) ?? ''} ${parsed.issues[0].message}`
  const exists = async (at: string | null | undefined): Promise<string | null> => {
    const [, path, line] = /^(?:\.\/)?(.+?):(\d+)/.exec(at ?? '') ?? []
    const held = path === undefined ? null : await textIn(home.git, tree, `${home.prefix}${path}`)
    if (held === null || held.includes('\0') || Number(line) > held.split('\n').length) return null
    return `${path}:${line}`
  }
  const known = parsed.output.criteria.filter(({ criterion }) => criteria[criterion - 1] !== undefined)
  const judgedOnes = await Promise.all(known.map(async (one) => ({ ...one, place: await exists(one.place) })))
  const findings = await Promise.all(
    parsed.output.findings.map(async (one) => ({ ...one, place: await exists(one.place) })),
  )
  const baseless = judgedOnes.find(({ verdict, place: at }) => verdict === 'not met' && at === null)
  if (baseless) return `criterion ${baseless.criterion} is "not met" without a file and line that exist`
  const missing = criteria.findIndex((_, at) => !known.some(({ criterion }) => criterion === at + 1))
  if (missing !== -1) return `it says nothing of criterion ${missing + 1}`
  return { criteria: judgedOnes, findings: findings.filter(({ place: at }) => at !== null) }
}

const LONGEST = 1_000_000

function judged(
  job: Job,
  { name }: AgentChoice,
  { criteria, findings }: Answer,
  emit: Emit<Happening>,
): Omit<Reviewed, 'usage'> {
  const { review: asked, task } = job
  const met = criteria.filter(({ verdict }) => verdict === 'met').length
  const open = criteria.filter(({ verdict }) => verdict === 'not met')
  const texts = open.map(
    ({ criterion, place: at, reason }) => `not met: ${asked.criteria[criterion - 1]} (${at}): ${reason}`,
  )
  const found = findings.map(({ weight, place: at, finding }) => `${weight}: ${at}: ${finding}`)
  const words =
    asked.criteria.length === 0
      ? `${name}: ${findings.length} findings`
      : `${name}: ${met} of ${asked.criteria.length} criteria met`
  emit({ type: 'review', id: task.id, agent: name, words, notMet: texts, findings: found })
  if (open.length === 0) return { outcome: null, words: [words], findings: found }
  const isLast = asked.failedBefore >= MOST_ROUNDS - 1
  const reason = `${name}${isLast ? ' refuses it again' : ''}: ${shortened(texts[0]!, 300)}${texts.length > 1 ? `, and ${texts.length - 1} more` : ''}`
  const failed = outcome('review-failed', reason, {
    detail: [...texts, ...found].join('\n'),
    hopeless: isLast ? 'task' : null,
  })
  return { outcome: failed, words: [words], findings: found }
}

/** After that a person decides. */
const MOST_ROUNDS = 2
