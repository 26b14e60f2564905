import type { SectionName, Section, Task } from '../../src/backlog/model.ts'

/** What a test says of a task; the rest is that of a TODO with nothing but its id. */
export interface TaskSketch extends Partial<Omit<Task, 'id' | 'number' | 'depends' | 'source' | 'sections'>> {
  readonly depends?: readonly string[]
  /** Headings with what stands below each; a name that ralph knows is that section. */
  readonly sections?: Readonly<Record<string, string>>
}

/** A task made by hand, without the parser, its source and spans in step with each other. */
export function buildTask(id: string, sketch: TaskSketch = {}): Task {
  const { depends = [], sections = {}, title = `Task ${id}`, status = 'TODO', ...rest } = sketch
  const head = `# ${id}: ${title}\n\n- **Status**: ${status ?? ''}\n- **Depends**: ${depends.join(', ')}\n\n`
  const bodies = Object.entries(sections).map(([heading, body]) => ({
    heading,
    text: `## ${heading}\n${body}\n\n`,
  }))
  return {
    ...BLANK,
    id,
    number: numberOf(id),
    file: `docs/tasks/${id}.md`,
    source: head + bodies.map(({ text }) => text).join(''),
    title,
    status,
    depends: depends.map((name) => ({ id: name, number: numberOf(name), span: spanOf(head, name) })),
    held: status === 'TODO' && 'Blocked' in sections,
    needs: [...new Set(depends.map(numberOf))],
    sections: sectionsFrom(head.length, bodies),
    outputs: rest.produces?.length ?? 0,
    ...rest,
  }
}

const BLANK = {
  bom: false,
  milestone: null,
  prdReference: [],
  touches: [],
  context: [],
  complexity: null,
  discipline: null,
  feature: null,
  agent: null,
  model: null,
  turns: null,
  timeoutSeconds: null,
  testPolicy: null,
  review: null,
  priority: null,
  tags: [],
  provenance: null,
  origin: null,
  completed: null,
  commit: null,
  cost: null,
  produces: null,
  fields: [],
  problems: [],
} satisfies Partial<Task>

const NAMES: Readonly<Record<string, SectionName>> = {
  Description: 'Description',
  'Acceptance Criteria': 'Acceptance Criteria',
  Hints: 'Hints',
  Produces: 'Produces',
  Comments: 'Comments',
  'Previous Attempts': 'Previous Attempts',
  'Completion Notes': 'Completion Notes',
  Blocked: 'Blocked',
}

function numberOf(id: string): number {
  return Number(id.slice('T-'.length))
}

function spanOf(text: string, part: string): { start: number; end: number } {
  const start = text.lastIndexOf(part)
  return { start, end: start + part.length }
}

function sectionsFrom(offset: number, bodies: readonly { heading: string; text: string }[]): Section[] {
  let start = offset
  return bodies.map(({ heading, text }) => {
    const span = { start, end: start + text.length }
    start = span.end
    const bodySpan = { start: span.start + text.indexOf('\n') + 1, end: span.end }
    return { name: NAMES[heading] ?? null, title: heading, span, bodySpan, form: 'heading' }
  })
}
