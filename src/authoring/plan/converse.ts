import type { AgentReply } from '../../agents/port.ts'
import { addUsage } from '../../base/usage.ts'
import { readOwn, RULES } from '../../prompt/library.ts'
import type { Material } from '../../prompt/files.ts'
import { collectMaterials } from '../../prompt/collect.ts'
import { readAnswer, type Answers, type Mistake, type Phase } from './answers.ts'
import { writtenTasks } from './changes.ts'
import type { Desk } from './desk.ts'
import type { Took } from './note.ts'
import type { Plan } from './plan-file.ts'
import type { PlanPorts } from './ports.ts'
import { planPrompt, readPlanTemplate, templateFile, type PlanPromptInput } from './prompt.ts'

/** How often an answer may be requested: once, and at most twice more with its mistakes. */
const MOST_TIMES = 3

/** An answer without mistakes, or why there is none. */
export type Answered<P extends Phase> =
  | { readonly kind: 'answered'; readonly answer: Answers[P]; readonly took: Took }
  | { readonly kind: 'refused'; readonly mistakes: readonly Mistake[] }
  | Extract<AgentReply, { kind: 'stopped' }>

/** Checks an answer beyond its schema. */
export type CheckAnswer<P extends Phase> = (
  answer: Answers[P],
) => readonly Mistake[] | Promise<readonly Mistake[]>

/** Has an agent answer a phase. Mistakes are sent back to it; an answer that was paid for is used again. */
export async function converse<P extends Phase>(
  phase: P,
  { plan, desk, check }: { readonly plan: Plan; readonly desk: Desk; readonly check: CheckAnswer<P> },
  ports: PlanPorts,
): Promise<Answered<P>> {
  const pending = await pendingAnswer(phase, plan, { check, ports })
  if (pending) return pending
  const input = await promptInput(phase, { plan, desk }, ports)
  let again: PlanPromptInput['again'] = null
  let took: Took | null = null
  for (let time = 1; ; time++) {
    const prompt = planPrompt({ ...input, again })
    if (time === 1) ports.emit({ type: 'phase-started', slug: plan.slug, phase, tokens: prompt.estimate })
    ports.emit({ type: 'prompt', phase, text: prompt.text })
    const reply = await ports.ask({
      id: `plan-${plan.slug}-${phase}`,
      file: `${ports.places.plans}/${plan.slug}/plan.md`,
      prompt: prompt.text,
      answer: { schema: input.schema },
      env: { RALPH_PLAN_PHASE: phase },
      time,
      most: MOST_TIMES,
    })
    if (reply.kind === 'stopped') return reply
    took = addTook(took, reply)
    const read = readAnswer(phase, reply.text)
    const mistakes = 'mistakes' in read ? read.mistakes : await check(read.answer)
    if (!('mistakes' in read) && mistakes.length === 0) {
      const note = ports.note.read()
      if (note) ports.note.write({ ...note, pending: { phase, answer: read.answer, took } })
      ports.checkpoint('answered')
      return { kind: 'answered', answer: read.answer, took }
    }
    ports.emit({ type: 'answer-refused', phase, mistakes, left: MOST_TIMES - time })
    if (time === MOST_TIMES) return { kind: 'refused', mistakes }
    again = { answer: reply.text, mistakes }
  }
}

/** An answer from before a crash or a question to a person; it is checked again, as things may have changed. */
async function pendingAnswer<P extends Phase>(
  phase: P,
  { slug }: Plan,
  { check, ports }: { readonly check: CheckAnswer<P>; readonly ports: PlanPorts },
): Promise<Answered<P> | null> {
  const note = ports.note.read()
  const pending = note?.plan.slug === slug ? note.pending : null
  if (pending?.phase !== phase) return null
  const read = readAnswer(phase, JSON.stringify(pending.answer))
  if ('mistakes' in read || (await check(read.answer)).length > 0) return null
  return { kind: 'answered', answer: read.answer, took: pending.took }
}

function addTook(
  before: Took | null,
  { agent, model, usage, seconds }: Extract<AgentReply, { kind: 'answered' }>,
): Took {
  if (!before) return { agent, model, usage, seconds }
  return { agent, model, usage: addUsage(before.usage, usage), seconds: before.seconds + seconds }
}

/** Reads the input of a phase's prompt. */
async function promptInput(
  phase: Phase,
  { plan, desk }: { readonly plan: Plan; readonly desk: Desk },
  ports: PlanPorts,
): Promise<Omit<PlanPromptInput, 'again'>> {
  const { places, promptBudget: budget } = ports
  const { root } = places
  const folder = `${places.plans}/${plan.slug}`
  const around = { root, isIgnored: ports.isIgnored }
  const [specs = []] = await collectMaterials(around, [plan.specs.map(({ file }) => file)], {
    except: [],
    room: budget * 8,
  })
  const template = await readOwn(root, templateFile(phase))
  const backlog = await ports.backlog()
  const { open, stay } = writtenTasks(plan, backlog)
  const own = new Set([...open, ...stay].map(({ task }) => task))
  const isAgain = own.size > 0
  return {
    phase,
    slug: plan.slug,
    wish: plan.wish,
    wishFile:
      desk.read(`${folder}/plan.md`) === null ? ports.keepWish(plan.slug, plan.wish) : `${folder}/plan.md`,
    web: plan.web,
    rules: await readOwn(root, RULES),
    specs,
    research: materialsOf(desk, [`${folder}/research.md`]),
    decisions: materialsOf(desk, decisionFiles(plan, desk, places.decisions)),
    requirements: materialsOf(desk, [`${folder}/requirements.md`]),
    planned:
      phase === 'tasks' && isAgain
        ? [
            ...open.map((one) => ({ ...one, stays: null })),
            ...stay.map(({ key, task, why }) => ({ key, task, stays: why })),
          ]
        : [],
    backlog: backlog.filter((task) => phase !== 'tasks' || !own.has(task)),
    files: await ports.files(),
    schema: await ports.schemaOf(phase),
    template: template === null ? null : readPlanTemplate(template, templateFile(phase)),
    budget,
  }
}

/** The plan's decisions first; the others apply to it too. */
function decisionFiles({ decisions }: Plan, desk: Desk, folder: string): readonly string[] {
  const others = desk.list(folder).flatMap((name) => (/^\d+.*\.md$/.test(name) ? [`${folder}/${name}`] : []))
  return [...new Set([...decisions.map(({ file }) => file), ...others])]
}

function materialsOf(desk: Desk, paths: readonly string[]): readonly Material[] {
  return paths.flatMap((path): Material[] => {
    const text = desk.read(path)
    if (text === null) return []
    return [{ kind: 'shown', path, stretch: null, text, bytes: Buffer.byteLength(text), listed: false }]
  })
}
