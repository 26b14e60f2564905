import { unreachable } from '../../base/errors.ts'
import { withoutEscapes } from '../../base/text.ts'
import { sectionOf, type Task, type TaskHead } from '../model.ts'
import type { Reason, Selection, TaskState } from './selection.ts'

/** Why a task is not eligible, in words: first its needs, as one reason, then each of the others. */
export function whyNot({ task, waiting }: TaskState<TaskHead>, blockedReason: string): readonly string[] {
  if (task.status === 'BLOCKED') return [`blocked: ${blockedReason}`]
  const needs = waiting.filter((reason) => reason.kind === 'dependency').map(needText)
  const others = waiting.filter((reason) => reason.kind !== 'dependency')
  const first = needs.length > 0 ? [`needs ${needs.join(', ')}`] : []
  return [...first, ...others.map((reason) => otherText(reason, blockedReason))]
}

/** The first line of the Blocked section. */
export function blockedReason(task: Task): string {
  const section = sectionOf(task, 'Blocked')
  const text = section ? task.source.slice(section.bodySpan.start, section.bodySpan.end) : ''
  const line = text.split(/\r\n|\r|\n/).find((line) => line.trim() !== '')
  const inHeading = section?.title.replace(/^[^:：—–(（-]*[:：—–(（-]?\s*/, '').replace(/[)）]$/, '')
  return withoutEscapes(line?.replace(REASON_LABEL, '').trim() || inHeading || 'no reason is given')
}

/** Whether a task is blocked with a question of its agent. */
export function asksIn({ source, sections }: Task): boolean {
  return sections.some(
    ({ name, bodySpan: { start, end } }) =>
      name === 'Blocked' && /^Its agent asks\. To answer: `ralph answer/m.test(source.slice(start, end)),
  )
}

const REASON_LABEL = /^\s*(?:[-*+>]\s+)?(?:(?:\*\*)?Reason(?:\*\*)?\s*[:：](?:\*\*)?\s*)?/i

function needText({ id, status }: Extract<Reason, { kind: 'dependency' }>): string {
  return `${id} (${status ?? 'no clear status'})`
}

type UnexplainedReason = Exclude<Reason, { kind: 'dependency' }>

function otherText(reason: UnexplainedReason, blockedReason: string): string {
  switch (reason.kind) {
    case 'missing':
      return `needs ${reason.id}, which does not exist`
    case 'cycle':
      return cycleText(reason.ids)
    case 'blocked-section':
      return `blocked: ${blockedReason}`
    case 'invalid':
      return reason.message
    case 'duplicate':
      return `its number is taken twice: ${reason.files.join(', ')}`
    default:
      return unreachable(reason)
  }
}

const MOST_MEMBERS = 8

/** They need not form a simple ring. */
function cycleText(ids: readonly string[]): string {
  if (ids.length === 1) return 'waits for itself'
  const more = ids.length > MOST_MEMBERS ? ` and ${ids.length - MOST_MEMBERS} more` : ''
  return `${ids.slice(0, MOST_MEMBERS).join(', ')}${more} wait for each other`
}

/** Chooses from a backlog whose statuses are already decided, before anything has run. */
export function taskOrReason(
  selection: Selection,
  named: string | null,
  taken: ReadonlySet<string> = new Set(),
  unread: string | null = null,
): Task | string {
  if (named === null) {
    const next = selection.eligible.find((task) => !taken.has(task.id))
    if (next) return next
    return selection.outcome === 'all-done'
      ? (unread ?? 'every task is done')
      : 'no task is eligible: ralph next --explain says why'
  }
  if (taken.has(named)) return `this run has worked on ${named} already`
  const state = selection.states.find(({ task }) => task.id === named)
  if (!state) return `there is no task ${named}`
  if (state.eligible) return state.task
  const status = state.task.status
  if (status === 'DONE' || status === 'BLOCKED') return `${named} is ${status}`
  return `${named} is not eligible: ${whyNot(state, blockedReason(state.task)).join('; ')}`
}
