import { endLeftovers } from '../../process/tree.ts'
import type { Phase } from './answers.ts'
import type { Changes } from './drafts.ts'
import type { OpenFile } from './decisions.ts'
import { makePhase, type Made, type NotMade } from './phases.ts'
import { digestOf, planText, type Plan, type PlanStatus } from './plan-file.ts'
import type { PlanPorts } from './ports.ts'
import { finishWriting, writePhase } from './write-phase.ts'

/** How planning ended. */
export type PlanEnd =
  | { readonly kind: 'done'; readonly plan: Plan; readonly changes: Changes | null }
  /** Nothing has changed since the last planning. */
  | { readonly kind: 'unchanged'; readonly plan: Plan }
  /** Decisions wait for a person: these files. */
  | { readonly kind: 'undecided'; readonly plan: Plan; readonly open: readonly OpenFile[] }
  | (NotMade & { readonly plan: Plan; readonly phase: Phase })

/** Makes or continues a plan: phase by phase, each with its own files and commit, until it is done or cannot go on. */
export async function makePlan(start: Plan, ports: PlanPorts): Promise<PlanEnd> {
  const { note, desk } = ports
  const plan = changedSince(start, ports)
  const before = note.read()
  const isSame = before?.plan.slug === plan.slug
  if (plan.status === 'done') {
    // The last phase was written before ralph was killed.
    if (isSame) note.write(null)
    return { kind: 'unchanged', plan }
  }
  if (before && !isSame && desk.read(planFile(before.plan, ports)) === null)
    ports.emit({
      type: 'warning',
      message: `the plan ${before.plan.slug}, of which nothing was written yet, makes way for this one`,
    })
  note.write({
    version: 1,
    plan,
    running: true,
    spentUsd: before?.running ? before.spentUsd : null,
    pending: isSame ? before.pending : null,
    writing: null,
    work: null,
  })
  ports.checkpoint('begun')
  try {
    const end = await makePhases(plan, ports)
    // The files contain all that is known.
    if (end.kind === 'done' || end.kind === 'undecided') note.write(null)
    return end
  } finally {
    note.update({ running: false })
  }
}

async function makePhases(start: Plan, ports: PlanPorts): Promise<PlanEnd> {
  let plan = start
  let changes: Changes | null = null
  for (;;) {
    const { status, wish, title } = plan
    await ports.mirror({ phase: PROGRESS[status], request: wish || title })
    if (status === 'done' || status === 'aborted') return { kind: 'done', plan, changes }
    const end = await makePhase(status, plan, ports)
    if (end.kind !== 'made') return { ...end, plan, phase: status }
    changes = end.changes ?? changes
    plan = end.plan
    await keep(end, status, ports)
    if (end.open.length > 0 && !ports.options.dryRun) return { kind: 'undecided', plan, open: end.open }
  }
}

/** What other programs see of a plan. */
const PROGRESS = {
  research: 'research',
  decisions: 'decisions',
  requirements: 'planning',
  tasks: 'planning',
  done: 'planning_complete',
  aborted: 'planning_complete',
} as const satisfies Record<PlanStatus, string>

/** Writes the files of a phase; in a preview it only replaces them on the desk. */
async function keep({ plan, texts: made, took }: Made, phase: Phase, ports: PlanPorts): Promise<void> {
  const { places, desk, emit, note, options } = ports
  const { slug } = plan
  const texts = new Map([...made, [planFile(plan, ports), planText(plan)]])
  for (const [path, text] of texts) desk.lay(path, text)
  // Decisions that a person made in the files are committed with the phase that follows.
  const isSilent = took === null && made.size === 0
  if (!options.dryRun && !isSilent) {
    const documents = ['research.md', 'requirements.md'].map((name) => `${places.plans}/${slug}/${name}`)
    const along = [...documents, ...plan.decisions.map(({ file }) => file)]
    const commit = await writePhase({ slug, phase, texts, along, took }, ports)
    emit({ type: 'phase-finished', phase, files: [...texts.keys()], commit })
  }
  note.update({ plan, pending: null, writing: null })
}

function planFile({ slug }: Plan, { places }: PlanPorts): string {
  return `${places.plans}/${slug}/plan.md`
}

/** A plan goes back to its requirements if their input has changed since. */
function changedSince(plan: Plan, { desk }: PlanPorts): Plan {
  if (plan.status !== 'done' && plan.status !== 'tasks') return plan
  const known = [...plan.specs, ...plan.decisions]
  const isChanged = known.some(({ file, digest }) => digestOf(desk.read(file) ?? '') !== digest)
  return isChanged ? { ...plan, status: 'requirements' } : plan
}

/** Finishes what a planning that was killed had begun. */
export async function recoverPlan(ports: PlanPorts): Promise<void> {
  const { note, emit } = ports
  const noted = note.read()
  if (noted?.work) await endLeftovers(noted.work)
  note.update({ work: null })
  if (!noted?.writing) return
  const { phase, texts } = noted.writing
  const commit = await finishWriting(noted.writing, ports)
  note.update({ pending: null, writing: null })
  const files = texts.length > 0 ? texts.map(([path]) => path) : [planFile(noted.plan, ports)]
  emit({ type: 'phase-finished', phase, files, commit })
}

/** Ends a plan: its files and tasks stay as they are. */
export async function abortPlan(plan: Plan, ports: PlanPorts): Promise<Plan> {
  const { desk, note } = ports
  const ended: Plan = { ...plan, status: 'aborted' }
  const file = planFile(plan, ports)
  if (desk.read(file) !== null) {
    const texts = new Map([[file, planText(ended)]])
    await writePhase({ slug: plan.slug, phase: 'aborted', texts, along: [], took: null }, ports)
  }
  if (note.read()?.plan.slug === plan.slug) note.write(null)
  return ended
}
