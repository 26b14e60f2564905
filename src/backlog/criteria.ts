import { sectionBodies } from './edit-section.ts'
import type { Splice } from './markdown/splice.ts'
import { itemIn, linesOf } from './markdown/lines.ts'
import type { Task } from './model.ts'

/** Checks off acceptance criteria, given by their text or their number; everything else stays. */
export function checkOff(task: Task, met: readonly string[]): readonly Splice[] {
  const wanted = new Set(met.map(plainWords))
  const boxes = task.sections
    .filter(({ name }) => name === 'Acceptance Criteria')
    .flatMap(({ bodySpan: { start, end } }) => {
      const found = boxesIn(task.source.slice(start, end))
      return found.map((box) => ({ ...box, at: start + box.at }))
    })
  return boxes.flatMap(({ at, isChecked, text }, index) => {
    const isMet = wanted.has(plainWords(text)) || wanted.has(String(index + 1))
    return isMet && !isChecked ? [{ start: at, end: at + 1, text: 'x' }] : []
  })
}

/** How many acceptance criteria a task has, and how many of them are checked, or named as met. */
export function criteriaOf(
  task: Task,
  met: readonly string[],
): { readonly all: number; readonly met: number } {
  const boxes = task.sections
    .filter(({ name }) => name === 'Acceptance Criteria')
    .flatMap(({ bodySpan: { start, end } }) => boxesIn(task.source.slice(start, end)))
  const open = boxes.filter(({ isChecked }) => !isChecked).length
  return { all: boxes.length, met: boxes.length - open + checkOff(task, met).length }
}

/** The acceptance criteria of a task. */
export function criteriaTexts(task: Task): readonly string[] {
  return sectionBodies(task, 'Acceptance Criteria').flatMap((body) =>
    [...linesOf(body)].flatMap((line) =>
      line.kind === 'item' ? (itemIn(line.text)?.text.trim() ?? []) : [],
    ),
  )
}

/** The criteria that a message lists as checked. */
export function checkedIn(message: string): readonly string[] {
  return boxesIn(message).flatMap(({ isChecked, text }) => (isChecked ? [text.trim()] : []))
}

function boxesIn(text: string) {
  return [...linesOf(text)].flatMap((line) => {
    const item = line.kind === 'item' ? itemIn(line.text) : null
    if (!item?.box) return []
    return [{ at: line.at + item.markAt, isChecked: item.box === 'x', text: item.text }]
  })
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
