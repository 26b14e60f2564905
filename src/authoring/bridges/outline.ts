import { milestoneOf, milestoneParts } from '../../backlog/milestone.ts'
import { readBoxes, readHeadings, withoutBoxes, type BoxItem, type PlainHeading } from './boxes.ts'
import { criteriaIn, descriptionOf } from './checklist.ts'
import { foreignDraft, titleOf, type ForeignDraft } from './draft.ts'
import type { Format } from './format.ts'
import { slugKeys } from './implementation.ts'
import type { Source } from './source.ts'

/**
 * A document as a plan: its top headings are milestones, those below them tasks, with their text and check boxes;
 * without such headings the boxes are the tasks. It is read only on request, and never written.
 */
export const outline: Format = {
  about: 'headings and boxes of a document',
  find: (look) => (/\.(?:md|markdown|txt)$/i.test(look.path) && look.source() ? look.path : null),
  read(path, sources) {
    const source = sources.open(path)
    return { drafts: source ? named(tasksIn(source)) : [] }
  },
}

/** A part of a document that is a task. */
interface Part {
  readonly heading: string
  readonly at: number
  readonly milestone: string | null
  readonly description: string
  readonly boxes: readonly BoxItem[]
  readonly isDone: boolean
  readonly source: Source
}

function tasksIn(source: Source): readonly Part[] {
  const all = readHeadings(source.text)
  const highest = Math.min(...all.map(({ depth }) => depth))
  // A heading above all the others is the document's title.
  const isTitled = all.filter(({ depth }) => depth === highest).length === 1 && all.length > 1
  const headings = isTitled ? all.filter(({ depth }) => depth > highest) : all
  const sections = sectionsOf(headings, source.text.length)
  if (sections.length === 0) return boxTasks(source, { start: 0, end: source.text.length }, null)
  const parts = sections.flatMap((section, index) =>
    ofSection(source, section, milestoneOf(section.text, index + 1)),
  )
  // Without lower headings, these are the tasks.
  return parts.length > 0 ? parts : sections.flatMap((section) => headingTask(source, section, null))
}

interface Section extends PlainHeading {
  readonly end: number
  readonly inner: readonly PlainHeading[]
}

/** The top-level headings of some, each with those below it. */
function sectionsOf(headings: readonly PlainHeading[], end: number): readonly Section[] {
  const depth = Math.min(...headings.map((heading) => heading.depth))
  const outer = headings.filter((heading) => heading.depth === depth)
  return outer.map((heading, index) => {
    const next = outer[index + 1]?.at ?? end
    return { ...heading, end: next, inner: headings.filter(({ at }) => at > heading.at && at < next) }
  })
}

function ofSection(source: Source, section: Section, milestone: string): readonly Part[] {
  const inner = sectionsOf(section.inner, section.end)
  const own = boxTasks(source, { start: section.bodyAt, end: inner[0]?.at ?? section.end }, milestone)
  const parts = [...own, ...inner.flatMap((one) => headingTask(source, one, milestone))]
  if (parts.length === 0)
    source.report(
      section.at,
      `"${section.text}" has no heading and no box below it: it is no task`,
      'warning',
    )
  return parts
}

function headingTask(
  source: Source,
  { text, at, bodyAt, end }: Section,
  milestone: string | null,
): readonly Part[] {
  const body = source.text.slice(bodyAt, end)
  const boxes = readBoxes(body)
  const description = withoutBoxes(body)
  if (description === '' && boxes.length === 0) return []
  const isDone = boxes.length > 0 && boxes.every(({ isTicked }) => isTicked)
  return [{ heading: text, at, milestone, description, boxes, isDone, source }]
}

function boxTasks(
  source: Source,
  { start, end }: { readonly start: number; readonly end: number },
  milestone: string | null,
): readonly Part[] {
  return readBoxes(source.text.slice(start, end)).map((item) => ({
    heading: item.text,
    at: start + item.at,
    milestone,
    description: descriptionOf(item),
    boxes: item.nested,
    isDone: item.isTicked,
    source,
  }))
}

function named(parts: readonly Part[]): readonly ForeignDraft[] {
  const keys = slugKeys(
    parts.map(({ heading }) => heading),
    'task',
  )
  return parts.map(({ heading, at, milestone, description, boxes, isDone, source }, index) =>
    foreignDraft({
      key: keys[index]!,
      title: titleOf(milestoneParts(heading).name),
      status: isDone ? 'DONE' : 'TODO',
      milestone,
      description: description || heading,
      criteria: boxes.flatMap((box) => [{ text: box.text, met: box.isTicked }, ...criteriaIn(box)]),
      context: [source.file],
      provenance: 'system',
      place: source.placeOf(at),
    }),
  )
}
