import type { Span } from '../../../base/diagnostic.ts'
import type { Task, TaskHead } from '../../model.ts'
import { type TaskIds, USUAL_IDS } from '../../ids.ts'
import { valueSpan } from '../place.ts'
import { error, warning } from '../rule.ts'

/** Rules for Depends. */
export const DEPENDENCY_RULES = {
  cycle: error((task, { cycles }) => {
    const found = cycles.find(({ tasks }) => tasks.length > 1 && tasks[0]!.file === task.file)
    if (!found) return []
    const need = task.depends.find(({ number }) => number === found.tasks[1]!.number)
    return [{ span: need?.span ?? valueSpan(task, 'Depends'), message: describe(found.tasks) }]
  }),

  'dependency-spelling': warning((task, { claims, usualId, context: { ids = USUAL_IDS } }) =>
    task.depends.flatMap(({ number, span }) => {
      const meant = claims.first[number]
      const written = idAt(task, span, ids)
      if (!meant || written === undefined || claims.rivals.has(number)) return []
      if (written === meant.id || ids.numberOf(written) !== number) return []
      // If a file's name has an unusual width, the name is wrong.
      if (meant.id !== usualId(meant)) return []
      const message = `${written} is ${meant.id} by the name of its file`
      return [{ span, message, fix: { ...span, text: meant.id } }]
    }),
  ),

  'missing-dependency': error((task, { claims }) => {
    const missing = task.depends.filter(({ number }) => !claims.first[number])
    return missing.map(({ id, span }) => ({ span, message: `${id} does not exist` }))
  }),

  'self-dependency': error((task) => {
    const own = task.depends.filter(({ number }) => number === task.number)
    return own.map(({ span }) => ({ span, message: `${task.id} depends on itself` }))
  }),
}

function describe(tasks: readonly TaskHead[]): string {
  const ids = tasks.map(({ id }) => id)
  const shown = ids.length > MOST_SHOWN ? [...ids.slice(0, MOST_SHOWN), `… (${ids.length} tasks)`] : ids
  const isRing = tasks.every(({ needs }, index) => needs.includes(tasks[(index + 1) % tasks.length]!.number))
  return isRing
    ? `${[...shown, ids[0]].join(' → ')}: each waits for the next`
    : `${shown.join(', ')} wait for each other`
}

const MOST_SHOWN = 20

/** The id in a span; undefined if more is in it, or if a range begins there: a fix of one end would be incomplete. */
function idAt({ source }: Task, { start, end }: Span, ids: TaskIds): string | undefined {
  const isRange = ids.regex(RANGE_BEGINS).test(source.slice(end, end + LONGEST_MARK))
  return isRange ? undefined : ids.regex('^<id>$').exec(source.slice(start, end))?.[0]
}

const RANGE_BEGINS = String.raw`^\]?\s*(?:–|\.\.+|…|to\s)\s*\[?<id>`
const LONGEST_MARK = 40
