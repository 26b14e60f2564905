import type { AgentReply } from '../../agents/port.ts'
import { addUsage } from '../../base/usage.ts'
import { readAnswer, type Answers, type Mistake, type Phase } from './answers.ts'
import type { Took } from './write-phase.ts'
import type { Plan } from './plan-file.ts'
import type { PlanPorts } from './ports.ts'
import { promptWriter, schemaPassage, type Refusal } from './prompt.ts'

/** How often an answer may be requested: once, and at most twice more with its mistakes. */
const MOST_TIMES = 3

/** An answer without mistakes, or why there is none. */
export type Answered<P extends Phase> =
  | { readonly kind: 'answered'; readonly answer: Answers[P]; readonly took: Took }
  | { readonly kind: 'refused'; readonly mistakes: readonly Mistake[] }
  | Extract<AgentReply, { kind: 'stopped' }>

/** Finds mistakes in an answer beyond its schema. */
type CheckAnswer<P extends Phase> = (answer: Answers[P]) => Iterable<Mistake> | Promise<Iterable<Mistake>>

/** Has an agent answer a phase. Mistakes are sent back to it; an answer that was paid for is used again. */
export async function converse<P extends Phase>(
  phase: P,
  { plan, check }: { plan: Plan; check: CheckAnswer<P> },
  ports: PlanPorts,
): Promise<Answered<P>> {
  const { slug } = plan
  const note = ports.note.read()
  // An answer from before a crash or a question to a person is checked again, as things may have changed.
  const pending = note?.plan.slug === slug && note.pending?.phase === phase ? note.pending : null
  if (pending) {
    const { answer } = await readChecked(phase, JSON.stringify(pending.answer), check)
    if (answer) return { kind: 'answered', answer, took: pending.took }
  }
  const { answerSchema } = await import('./json-schema.ts')
  const schema = answerSchema(phase)
  const promptFor = await promptWriter({ phase, plan, schema }, ports)
  let refusal: Refusal | null = null
  let took: Took | null = null
  for (let time = 1; ; time++) {
    const { text: prompt, tokens } = promptFor(refusal)
    if (time === 1) ports.emit({ type: 'phase-started', slug, phase, tokens })
    ports.emit({ type: 'prompt', phase, text: prompt })
    const reply = await ports.ask({
      id: `plan-${slug}-${phase}`,
      file: `${ports.places.plans}/${slug}/plan.md`,
      prompt,
      answer: { schema, passage: schemaPassage(schema) },
      env: { RALPH_PLAN_PHASE: phase },
      time,
      most: MOST_TIMES,
    })
    if (reply.kind === 'stopped') return reply
    took = addTook(took, reply)
    const { answer, mistakes } = await readChecked(phase, reply.text, check)
    if (answer) {
      ports.note.update({ pending: { phase, answer, took } })
      ports.checkpoint('answered')
      return { kind: 'answered', answer, took }
    }
    ports.emit({ type: 'answer-refused', phase, mistakes, left: MOST_TIMES - time })
    if (time === MOST_TIMES) return { kind: 'refused', mistakes }
    refusal = { answer: reply.text, mistakes }
  }
}

async function readChecked<P extends Phase>(
  phase: P,
  text: string,
  check: CheckAnswer<P>,
): Promise<{ answer: Answers[P] | null; mistakes: readonly Mistake[] }> {
  const read = readAnswer(phase, text)
  if ('mistakes' in read) return { answer: null, mistakes: read.mistakes }
  const mistakes = [...(await check(read.answer))]
  return { answer: mistakes.length === 0 ? read.answer : null, mistakes }
}

function addTook(
  before: Took | null,
  { agent, model, usage, seconds }: Extract<AgentReply, { kind: 'answered' }>,
): Took {
  if (!before) return { agent, model, usage, seconds }
  return { agent, model, usage: addUsage(before.usage, usage), seconds: before.seconds + seconds }
}
