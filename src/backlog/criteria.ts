import type { Splice } from './markdown/splice.ts'
import { readable } from './depends.ts'
import type { Task } from './model.ts'

/** A check box in a list, checked or not, and the text beside it. */
const BOX = /(?<=^|[\r\n])([ \t]*(?:[-*+]|\d+[.)])[ \t]+\[)([ xX])\][ \t]+([^\r\n]*)/g

/** Checks off acceptance criteria, given by their text or their number; everything else stays. */
export function checkOff(task: Task, met: readonly string[]): readonly Splice[] {
  const wanted = new Set(met.map(plainWords))
  const boxes = task.sections
    .filter(({ name }) => name === 'Acceptance Criteria')
    .flatMap(({ bodySpan: { start, end } }) =>
      [...readable(task.source.slice(start, end)).matchAll(BOX)].map(({ index, 1: before = '', 2: mark }) => {
        const at = start + index + before.length
        const text = /\][ \t]+([^\r\n]*)/.exec(task.source.slice(at))?.[1] ?? ''
        return { at, isOpen: mark === ' ', text }
      }),
    )
  return boxes.flatMap(({ at, isOpen, text }, index) => {
    const isMet = wanted.has(plainWords(text)) || wanted.has(String(index + 1))
    return isOpen && isMet ? [{ start: at, end: at + 1, text: 'x' }] : []
  })
}

/** The criteria that a message lists as checked. */
export function checkedIn(message: string): readonly string[] {
  return [...message.matchAll(BOX)].flatMap(({ 2: mark, 3: text = '' }) =>
    mark === ' ' ? [] : [text.trim()],
  )
}

/** Agents repeat a criterion without its Markdown marks, or with others. */
function plainWords(text: string): string {
  return text
    .replaceAll(/[`*_~]/g, '')
    .replace(/^\[[ xX]\]\s*/, '')
    .replace(/[.;,:!]+$/, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase()
}
