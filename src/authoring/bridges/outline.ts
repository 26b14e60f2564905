import { milestoneOf, milestoneParts } from '../../backlog/milestone.ts'
import {
  criteriaIn,
  descriptionOf,
  readBoxes,
  readHeadings,
  withoutBoxes,
  type BoxItem,
  type PlainHeading,
} from './boxes.ts'
import { foreignDraft, titleOf, type Format } from './format.ts'
import { slugKeys } from './implementation.ts'
import type { Source } from './source.ts'

/**
 * A document as a plan: its top headings are milestones, those below them tasks, with their text and check boxes;
 * without such headings the boxes are the tasks. It is read only on request, and never written.
 */
export const outline: Format = {
  about: 'headings and boxes of a document',
  isReadOnly: true,
  find: (path, sources) => (/\.(?:md|markdown|txt)$/i.test(path) && sources.open(path) ? path : null),
  read(path, sources) {
    const source = sources.open(path)
    if (!source) return { tasks: [] }
    const parts = tasksIn(source)
    const keys = slugKeys(
      parts.map(({ heading }) => heading),
      'task',
    )
    return {
      tasks: parts.map(({ heading, at, milestone, description, nested, isDone }, index) => {
        const key = keys[index]!
        return {
          key,
          draft: () =>
            foreignDraft({
              key,
              title: titleOf(milestoneParts(heading).name),
              status: isDone ? 'DONE' : 'TODO',
              milestone,
              description: description || heading,
              criteria: criteriaIn({ nested }),
              context: [path],
              provenance: 'system',
              place: source.placeOf(at),
            }),
        }
      }),
    }
  },
}

/** A part of a document that is a task. */
interface Part extends Pick<BoxItem, 'at' | 'nested'> {
  readonly heading: string
  readonly milestone: string | null
  readonly description: string
  readonly isDone: boolean
}

function tasksIn(source: Source): readonly Part[] {
  const { text } = source
  const all = readHeadings(text)
  const highest = Math.min(...all.map(({ depth }) => depth))
  // A heading above all the others is the document's title.
  const isTitled = all.filter(({ depth }) => depth === highest).length === 1 && all.length > 1
  const sections = sectionsOf(isTitled ? all.filter(({ depth }) => depth > highest) : all, text.length)
  if (sections.length === 0) return boxTasks(text, { start: 0, end: text.length, milestone: null })
  const groups = sections.map((section, index) =>
    partsOf(text, section, milestoneOf(section.text, index + 1)),
  )
  // Without lower headings, these are the tasks.
  if (groups.every((parts) => parts.length === 0))
    return sections.flatMap((section) => headingTask(text, section, null))
  for (const [index, { text: heading, at }] of sections.entries()) {
    if (groups[index]!.length > 0) continue
    const why = CRITERIA.test(heading) ? 'is about the whole document' : 'has no heading and no box below it'
    source.report(at, `"${heading}" ${why}: it is no task`, 'warning')
  }
  return groups.flat()
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

/** Below these, boxes are criteria. */
const CRITERIA =
  /^(?:#{1,6} |\*\*|__)?(?:[\d.]+ )?(?:acceptance (?:criteria|tests?)|success criteria|definition of done|done when)\b/im

function partsOf(text: string, section: Section, milestone: string): readonly Part[] {
  // They are of the whole document.
  if (CRITERIA.test(section.text)) return []
  const inner = sectionsOf(
    section.inner.filter((one) => !CRITERIA.test(one.text)),
    section.end,
  )
  const own = { start: section.bodyAt, end: inner[0]?.at ?? section.end, milestone }
  const isTask = CRITERIA.test(text.slice(own.start, own.end))
  const first = isTask
    ? headingTask(text, { ...section, end: own.end }, inner.length === 0 ? null : milestone)
    : boxTasks(text, own)
  return [...first, ...inner.flatMap((one) => headingTask(text, one, milestone))]
}

function headingTask(
  source: string,
  { text, at, bodyAt, end }: Section,
  milestone: string | null,
): readonly Part[] {
  const body = source.slice(bodyAt, end)
  const nested = readBoxes(body)
  const description = withoutBoxes(body)
  if (description === '' && nested.length === 0) return []
  const isDone = nested.length > 0 && nested.every(({ isTicked }) => isTicked)
  return [{ heading: text, at, milestone, description, nested, isDone }]
}

function boxTasks(
  text: string,
  { start, end, milestone }: { start: number; end: number; milestone: string | null },
): readonly Part[] {
  return readBoxes(text.slice(start, end)).map((item) => ({
    heading: item.text,
    at: start + item.at,
    milestone,
    description: descriptionOf(item),
    nested: item.nested,
    isDone: item.isTicked,
  }))
}
