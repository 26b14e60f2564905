import type { Mistake, Phase } from './answers.ts'
import type { Changes } from './changes.ts'
import { Desk } from './desk.ts'
import type { PlanNote } from './note.ts'
import { makePhase, type PhaseEnd } from './phases.ts'
import { digestOf, planText, type Plan, type PlanStatus } from './plan-file.ts'
import type { PlanOptions, PlanPorts, PlanProgress } from './ports.ts'
import type { OpenFile } from './settle.ts'
import { finishWriting, writePhase } from './write-phase.ts'

/** How planning ended. */
export type PlanEnd =
  | { readonly kind: 'done'; readonly plan: Plan; readonly changes: Changes | null }
  /** Nothing has changed since the last planning. */
  | { readonly kind: 'unchanged'; readonly plan: Plan }
  /** Decisions wait for a person: these files. */
  | { readonly kind: 'undecided'; readonly plan: Plan; readonly open: readonly OpenFile[] }
  /** The changes to the backlog wait for a confirmation. */
  | { readonly kind: 'proposed'; readonly plan: Plan; readonly phase: Phase; readonly changes: Changes }
  | {
      readonly kind: 'refused'
      readonly plan: Plan
      readonly phase: Phase
      readonly mistakes: readonly Mistake[]
    }
  | {
      readonly kind: 'stopped'
      readonly plan: Plan
      readonly phase: Phase
      readonly why: 'interrupted' | 'budget' | 'asks' | 'failed'
      readonly reason: string
    }

/** Makes or continues a plan: phase by phase, each with its own files and commit, until it is done or cannot go on. */
export async function makePlan(start: Plan, options: PlanOptions, ports: PlanPorts): Promise<PlanEnd> {
  const desk = new Desk(ports.places.root)
  const plan = changedSince(start, desk)
  const { note } = ports
  const before = note.read()
  const isSame = before?.plan.slug === plan.slug
  if (plan.status === 'done') {
    // The last phase was written before ralph was killed.
    if (isSame) note.write(null)
    return { kind: 'unchanged', plan }
  }
  if (before && !isSame && desk.read(`${ports.places.plans}/${before.plan.slug}/plan.md`) === null)
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
    const end = await makePhases(plan, { desk, options }, ports)
    // The files contain all that is known.
    if (end.kind === 'done' || end.kind === 'undecided') note.write(null)
    return end
  } finally {
    const now = note.read()
    if (now) note.write({ ...now, running: false })
  }
}

async function makePhases(
  start: Plan,
  { desk, options }: { readonly desk: Desk; readonly options: PlanOptions },
  ports: PlanPorts,
): Promise<PlanEnd> {
  let plan = start
  let changes: Changes | null = null
  for (;;) {
    const { status } = plan
    if (status === 'done' || status === 'aborted') return { kind: 'done', plan, changes }
    await ports.mirror(progressOf(plan, status))
    const end = await makePhase(status, { plan, desk, options }, ports)
    if (end.kind !== 'made') return { ...end, plan, phase: status }
    changes = end.changes ?? changes
    plan = await keep(end, { desk, phase: status, options }, ports)
    if (end.open.length > 0 && !options.dryRun) return { kind: 'undecided', plan, open: end.open }
  }
}

/** Writes the files of a phase; in a preview it only replaces them on the desk. */
async function keep(
  made: Extract<PhaseEnd, { kind: 'made' }>,
  { desk, phase, options }: { readonly desk: Desk; readonly phase: Phase; readonly options: PlanOptions },
  ports: PlanPorts,
): Promise<Plan> {
  const { places, emit, note } = ports
  const next = made.plan
  const folder = `${places.plans}/${next.slug}`
  const texts = new Map([...made.texts, [`${folder}/plan.md`, planText(next)]])
  const along = [
    `${folder}/research.md`,
    `${folder}/requirements.md`,
    ...next.decisions.map(({ file }) => file),
  ]
  for (const [path, text] of texts) desk.lay(path, text)
  // Decisions that a person made in the files are committed with the phase that follows.
  const isSilent = made.took === null && made.texts.size === 0
  if (options.dryRun || isSilent) {
    keepNote(note.read(), next, ports)
    return next
  }
  const commit = await writePhase({ slug: next.slug, phase, texts, along, took: made.took }, ports)
  keepNote(note.read(), next, ports)
  emit({ type: 'phase-finished', phase, files: [...texts.keys()], commit })
  await ports.mirror(progressOf(next, next.status))
  return next
}

function keepNote(noted: PlanNote | null, plan: Plan, { note }: PlanPorts): void {
  if (noted) note.write({ ...noted, plan, pending: null, writing: null })
}

/** The progress for other programs. */
function progressOf({ wish, title, tasks }: Plan, status: PlanStatus): PlanProgress {
  const phases: Readonly<Record<PlanStatus, PlanProgress['phase']>> = {
    research: 'research',
    decisions: 'decisions',
    requirements: 'planning',
    tasks: 'planning',
    done: 'planning_complete',
    aborted: 'planning_complete',
  }
  return { phase: phases[status], request: wish || title, tasks: tasks.map(({ id }) => id) }
}

/** A plan goes back to its requirements if their input has changed since. */
function changedSince(plan: Plan, desk: Desk): Plan {
  if (plan.status !== 'done' && plan.status !== 'tasks') return plan
  const known = [...plan.specs, ...plan.decisions]
  const isChanged = known.some(({ file, digest }) => digestOf(desk.read(file) ?? '') !== digest)
  return isChanged ? { ...plan, status: 'requirements' } : plan
}

/** Finishes what a planning that was killed had begun. */
export async function recoverPlan(ports: PlanPorts): Promise<void> {
  const noted = ports.note.read()
  if (!noted) return
  if (noted.work) {
    await ports.recoverAgent(noted.work)
    ports.note.write({ ...noted, work: null })
  }
  if (!noted.writing) return
  const { writing } = noted
  const commit = await finishWriting(writing, ports)
  const file = `${ports.places.plans}/${noted.plan.slug}/plan.md`
  const files = writing.texts.map(([path]) => path)
  ports.note.write({ ...noted, work: null, pending: null, writing: null })
  ports.emit({
    type: 'phase-finished',
    phase: writing.phase,
    files: files.length > 0 ? files : [file],
    commit,
  })
}

/** Ends a plan: its files and tasks stay as they are. */
export async function abortPlan(plan: Plan, ports: PlanPorts): Promise<Plan> {
  const { places, note } = ports
  const ended: Plan = { ...plan, status: 'aborted' }
  const file = `${places.plans}/${plan.slug}/plan.md`
  const isWritten = new Desk(places.root).read(file) !== null
  if (isWritten) {
    const texts = new Map([[file, planText(ended)]])
    await writePhase({ slug: plan.slug, phase: 'aborted', texts, along: [], took: null }, ports)
  }
  if (note.read()?.plan.slug === plan.slug) note.write(null)
  return ended
}
