import type { Task } from '../../model.ts'
import type { Rule } from '../rule.ts'

/**
 * A file has a second first-level heading. A file is one task, so the text below the second heading is in none of its sections.
 *
 * @fix Make the heading a section (`##`), or move the text below it to a file of its own.
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Description
 * ~~~sh
 * # not a heading
 * ~~~
 * ```
 *
 * @example
 * ```markdown T-001.md
 * ---
 * # a comment
 * ---
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * <!--
 * # T-000: Write here what to do
 * -->
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * # T-002: Lock after five failures
 * ```
 * ```text
 * docs/tasks/T-001.md:5:1 warning second-heading a second first-level heading; a file is one task
 * ```
 *
 * @example
 * ```markdown T-001.md
 * # T-001: Add the login form
 *
 * - **Status**: TODO
 *
 * ## Description
 * Email and password.
 *
 * # T-002: Lock after five failures
 * ```
 * ```text
 * docs/tasks/T-001.md:8:1 warning second-heading a second first-level heading; a file is one task
 * ```
 */
export const secondHeading: Rule = {
  name: 'second-heading',
  severity: 'warning',
  start: () => (task) =>
    [...secondOfBlock(task), ...gapsAfterSections(task)].map((start) => ({
      span: { start, end: start },
      message: 'a second first-level heading; a file is one task',
    })),
}

/** The second heading above the first section, which also has the file's own. */
function secondOfBlock(task: Task): number[] {
  const first = task.sections.find((section) => section.form === 'heading')
  const block = task.source.slice(0, first?.span.start)
  if (headingsIn(block).length < 2) return []
  const second = headingsIn(block.replace(NO_HEADINGS, (text) => ' '.repeat(text.length)))[1]
  return second === undefined ? [] : [second]
}

/** Parts without headings: frontmatter, fences and comments. */
const NO_HEADINGS = /^---\r?\n[^]*?\n---$|^(```+|~~~+)[^]*?(?:^\1|$(?![^]))|<!--[^]*?(?:-->|$(?![^]))/gm

function headingsIn(text: string): number[] {
  return Array.from(text.matchAll(/^#(?=[ \t])/gm), (match) => match.index)
}

/** A section ends at the next one or at the end of the file: if it ends earlier, a first-level heading follows. */
function gapsAfterSections(task: Task): number[] {
  const sections = task.sections.filter((section) => section.form === 'heading')
  const begins = new Set(sections.map((section) => section.span.start))
  const ends = sections.map((section) => section.span.end)
  return ends.filter((end) => end < task.source.length && !begins.has(end))
}
