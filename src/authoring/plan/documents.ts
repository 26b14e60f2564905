import { headingsOf } from '../../backlog/markdown/reading.ts'
import { oneLine } from '../../backlog/markdown/fence.ts'
import { itemIn } from '../../backlog/markdown/lines.ts'
import { plainMarkdown, safeNotes } from '../../backlog/notes.ts'
import type { Answers } from './answers.ts'

/** An agent's text as one line of Markdown that begins nothing else: no comment, no HTML, no list. */
export function lineText(text: string): string {
  const line = oneLine(text.replace(/\s+/g, ' ').trim())
  return /<[!/?a-z]/i.test(line.replace(/`[^`]*`/g, '')) ? plainMarkdown(line) : line
}

/** The text of `research.md`. */
export function researchText(
  title: string,
  { findings, unknown }: Answers['research'],
  date: string,
): string {
  const found = findings.flatMap(({ topic, finding, source }) => [
    `## ${lineText(topic)}`,
    safeNotes(finding),
    `Source: ${sourceText(source, date)}`,
  ])
  const open =
    unknown.length === 0 ? [] : ['## Unknown', unknown.map((one) => `- ${lineText(one)}`).join('\n')]
  return [`# Research: ${title}`, ...found, ...open].join('\n\n') + '\n'
}

/** A source on the web gets the date on which it was read. */
function sourceText(source: string, date: string): string {
  const line = lineText(source)
  return isOnWeb(line) && !/\b\d{4}-\d{2}-\d{2}\b/.test(line) ? `${line} (${date})` : line
}

/** The text of a document's first heading of the highest level. */
export function topHeading(text: string): string | undefined {
  return /^#[ \t]+(.+?)[ \t]*#*$/m.exec(text)?.[1]
}

/** Normalises a key: case and blanks around it do not matter. */
export function keyOf(key: string): string {
  return key.trim().toLowerCase()
}

/** Whether a source is a web address. */
export function isOnWeb(source: string): boolean {
  return /\bhttps?:\/\//i.test(source)
}

/**
 * The text of `requirements.md`: sections that `PRD Reference` can name by number, each with its key. An existing
 * section keeps its number, as tasks refer to it.
 */
export function requirementsText(
  { title, summary, sections }: Answers['requirements'],
  before: readonly Requirement[],
): string {
  let last = Math.max(0, ...before.map(({ number }) => Math.floor(Number(number)) || 0))
  const numbered = sections.map((section) => {
    const known = before.find(({ key }) => keyOf(key) === keyOf(section.key))
    return { ...section, number: known?.number ?? String(++last) }
  })
  const ordered = numbered.toSorted((a, b) => Number(a.number) - Number(b.number))
  const parts = ordered.flatMap(({ number, key, title: name, text, criteria }) => [
    `## ${number}. ${lineText(name)}`,
    `Key: \`${key.replaceAll('`', '').trim()}\``,
    safeNotes(text),
    '### Acceptance Criteria',
    criteria.map((one) => `- ${lineText(one)}`).join('\n'),
  ])
  return [`# Requirements: ${lineText(title)}`, safeNotes(summary), ...parts].join('\n\n') + '\n'
}

/** A section of the requirements, as tasks refer to it. */
export interface Requirement {
  /** Its number, such as `1`; sections of a person without a number continue the count. */
  readonly number: string
  readonly key: string
  readonly title: string
  readonly criteria: readonly string[]
}

/** Reads the sections of `requirements.md`, which a person may have changed. */
export async function readRequirements(source: string): Promise<readonly Requirement[]> {
  const headings = await headingsOf(source)
  const sections = headings.flatMap((heading, index) => (heading.depth === 2 ? [{ heading, index }] : []))
  return sections.map(({ heading, index }, place) => {
    const next = headings.slice(index + 1).find(({ depth }) => depth <= 2)
    const body = source.slice(heading.offset, next?.offset ?? source.length)
    const [, number = String(place + 1), title = heading.text] =
      /^§?(\d+(?:\.\d+)*)[.)]?\s+(.*)$/.exec(heading.text) ?? []
    const key = /^Key:\s*`([^`]+)`/m.exec(body)?.[1] ?? `§${number}`
    return { number, key, title, criteria: criteriaIn(body) }
  })
}

function criteriaIn(body: string): readonly string[] {
  const start = /^###[ \t]+Acceptance Criteria\s*$/im.exec(body)
  const list = start ? body.slice(start.index + start[0].length) : ''
  return list.split('\n').flatMap((line) => itemIn(line)?.text || [])
}

/** The words of a text as part of a file name. */
export function words(text: string, longest = 48): string {
  const found =
    text
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .toLowerCase()
      .normalize('NFC')
      .match(/[\p{Ll}\p{Lo}\p{N}]+/gu) ?? []
  let slug = ''
  for (const word of found) {
    const longer = slug === '' ? word : `${slug}-${word}`
    if ([...longer].length > longest) return slug || [...word].slice(0, longest).join('')
    slug = longer
  }
  return slug
}
