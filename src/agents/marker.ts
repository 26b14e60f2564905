import { findOpenLines, isText, linesOf, type Line } from '../backlog/markdown/lines.ts'

/** What an agent reports about its task. */
export type Marker = { readonly kind: 'done' } | { readonly kind: 'blocked'; readonly reason: string }

/** The marker that counts, if there is one, and the text without its markers. */
interface MarkerReading {
  readonly marker: Marker | null
  readonly message: string
}

/**
 * Reads the marker in an agent's final message. It counts on a line of its own, or at the very end, but not inside
 * code, a quote, a comment or other HTML, nor where the message only repeats the prompt. Models like to format it: at the
 * very end it may be in backticks, or alone in a fence.
 */
export function readMarker(message: string, prompt = ''): MarkerReading {
  if (!/<TASK_/i.test(message)) return { marker: null, message: message.trim() }
  const parsed = withoutLastFence([...linesOf(message)])
  const lines = parsed.map(({ text }) => text)
  const open = findOpenLines(parsed)
  const isEcho = echoOf(prompt)
  const end = lines.findLastIndex(hasText)
  let marker: Marker | null = null
  const kept = lines.map((line, index) => {
    const isLast = index === end && isText(parsed[index]!)
    const found =
      (open.has(parsed[index]!) && alone(line)) || (isLast && (alone(withoutBackticks(line)) ?? atEnd(line)))
    if (!found || isEcho(lines, index)) return line
    // The last one counts: an agent that gives up and then succeeds, or sees that it has not finished after all,
    // reports both in that order.
    marker = found.marker
    return found.before
  })
  return { marker, message: kept.join('\n').trim() }
}

/** The lines, without the marks of a fence that ends them and has nothing but a marker in it. */
function withoutLastFence(lines: readonly Line[]): readonly Line[] {
  const isOpen = (line: Line | undefined): boolean => line?.kind === 'fence' && /^[`~]/.test(line.text)
  const end = lines.findLastIndex(({ text }) => hasText(text))
  const start = lines.findLastIndex((line, index) => index < end && isOpen(line))
  const inside = lines.slice(start + 1, end).filter(({ text }) => hasText(text))
  const isMarker = inside.length === 1 && inside[0]!.kind === 'fenced' && alone(inside[0]!.text) !== null
  if (start === -1 || !isOpen(lines[end]) || !isMarker) return lines
  return [...lines.slice(0, start), { ...inside[0]!, kind: 'text' }]
}

function withoutBackticks(line: string): string {
  return line.trim().replace(/^(`+)([^`]*)\1$/, '$2')
}

/** Reads a marker that counts only as the last non-empty line, as for a plain program. */
export function readLastLine(text: string, prompt = ''): MarkerReading {
  const lines = text.split(/\r\n|\n|\r/)
  const end = lines.findLastIndex(hasText)
  const found = alone(lines[end] ?? '')
  if (!found || echoOf(prompt)(lines, end)) return { marker: null, message: text.trim() }
  return { marker: found.marker, message: lines.slice(0, end).join('\n').trim() }
}

interface FoundMarker {
  readonly marker: Marker
  readonly before: string
}

/** Models often write it in bold. */
function alone(line: string): FoundMarker | null {
  const text = line.trim().replace(/^\*\*(.*)\*\*$/, '$1')
  const marker = parse(text)
  return marker && { marker, before: '' }
}

function atEnd(line: string): FoundMarker | null {
  const begin = line.toUpperCase().lastIndexOf('<TASK_')
  const marker = begin === -1 ? null : parse(line.slice(begin).trim())
  return marker && { marker, before: line.slice(0, begin).trimEnd() }
}

function parse(text: string): Marker | null {
  if (/^<TASK_DONE *(?:\/?>|><\/TASK_DONE>)$/i.test(text)) return { kind: 'done' }
  const match = /^<TASK_BLOCKED(?: +reason *= *(?:"(.*)"|'(.*)'|“(.*)”))? *(?:\/?>|><\/TASK_BLOCKED>)$/i.exec(
    text,
  )
  if (!match) return null
  // Models escape the quotes in it.
  const reason = (match[1] ?? match[2] ?? match[3])?.replace(/\\(["'])/g, '$1').trim() ?? ''
  // The instructions have dots in place of the reason.
  if (/^(?:\.+|…+)$/.test(reason)) return null
  return { kind: 'blocked', reason: reason || 'the agent gave no reason' }
}

/** Whether a marker repeats the prompt: it comes after the same words as there. */
function echoOf(prompt: string): (lines: readonly string[], index: number) => boolean {
  const asked = prompt.split(/\r\n|\n|\r/)
  const places = new Set(
    asked.flatMap((line, index) => (/<TASK_/i.test(line) ? placeOf(asked, index) : null) ?? []),
  )
  return (lines, index) => {
    const place = placeOf(lines, index)
    return place !== null && places.has(place)
  }
}

/** The line and, if it has only the marker, the text line before it; null if neither has a word. */
function placeOf(lines: readonly string[], index: number): string | null {
  const line = lines[index]!.trim()
  if (/[\p{L}\p{N}]/u.test(line.replace(/<TASK_.*/i, ''))) return line
  const before =
    lines
      .slice(Math.max(0, index - 20), index)
      .findLast(hasText)
      ?.trim() ?? ''
  return /[\p{L}\p{N}]/u.test(before) ? `${before}\n${line}` : null
}

function hasText(line: string): boolean {
  return line.trim() !== ''
}
