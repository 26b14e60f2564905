import { milestoneOf } from '../../backlog/milestone.ts'
import type { Splice } from '../../backlog/markdown/splice.ts'
import { nestedTexts, readBoxes, type BoxItem } from './boxes.ts'
import { type Criterion } from '../../backlog/draft.ts'
import { foreignDraft, titleOf, type ForeignDraft } from './draft.ts'
import type { Format } from './format.ts'
import { slugKeys } from './implementation.ts'

/** Any Markdown file with check boxes: a heading is a milestone, an item a task, and nested items are its criteria. */
export const checklist: Format = {
  about: 'a check list in Markdown',
  find: (look) => {
    const text = /\.(?:md|markdown)$/i.test(look.path) ? look.source()?.text : undefined
    return text !== undefined && readBoxes(text).length > 0 ? look.path : null
  },
  read(path, sources) {
    const source = sources.open(path)
    return { drafts: source ? draftsIn(source.text, path, source.placeOf) : [] }
  },
  write(path, sources, { key, status }) {
    const source = sources.open(path)
    const item = source && keyed(readBoxes(source.text)).find((one) => one.key === key)?.item
    return source && item ? source.edited(ticked(item, status === 'DONE')) : new Map()
  },
}

/** The drafts in a text with check boxes. */
export function draftsIn(
  text: string,
  file: string,
  placeOf: (at: number) => ForeignDraft['place'],
): readonly ForeignDraft[] {
  const items = keyed(readBoxes(text))
  const milestones = milestonesOf(items.map(({ item }) => item))
  return items.map(({ key, item }) =>
    foreignDraft({
      key,
      title: titleOf(item.text),
      status: item.isTicked ? 'DONE' : 'TODO',
      milestone: milestones(item),
      description: descriptionOf(item),
      background: item.heading?.intro.trim()
        ? [[`About ${plain(item.heading.text)}`, item.heading.intro.trim()]]
        : [],
      criteria: criteriaIn(item),
      place: { ...placeOf(item.at), file },
    }),
  )
}

function keyed(items: readonly BoxItem[]): readonly { readonly key: string; readonly item: BoxItem }[] {
  const keys = slugKeys(
    items.map(({ text }) => text),
    'item',
  )
  return items.map((item, index) => ({ key: keys[index]!, item }))
}

/** An item's text, and the text below it. */
export function descriptionOf({ text, below }: BoxItem): string {
  return [text, below.trimEnd()].filter(Boolean).join('\n\n')
}

/** The items nested in an item, as criteria. */
export function criteriaIn(item: BoxItem): readonly Criterion[] {
  return nestedTexts(item).map(({ text, isTicked }) => ({ text, met: isTicked }))
}

/** Checks or unchecks an item's box. */
export function ticked({ markAt, isTicked }: BoxItem, isDone: boolean): readonly Splice[] {
  return isTicked === isDone ? [] : [{ start: markAt, end: markAt + 1, text: isDone ? 'x' : ' ' }]
}

/** The milestone of each item: its heading, numbered in the order of the file; null if there is only one heading. */
function milestonesOf(items: readonly BoxItem[]): (item: BoxItem) => string | null {
  const headings = [...new Set(items.flatMap(({ heading }) => heading ?? []))]
  const places = new Map(headings.map(({ at }, index) => [at, index + 1]))
  return ({ heading }) => {
    if (!heading || (headings.length === 1 && heading.depth === 1)) return null
    return milestoneOf(plain(heading.text), places.get(heading.at) ?? 1)
  }
}

/** A heading without Markdown marks. */
function plain(text: string): string {
  return text.replaceAll(/[*_`]/g, '').trim()
}
