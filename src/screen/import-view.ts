import type { Imported } from '../authoring/import-tasks.ts'
import { counted } from '../base/text.ts'
import {
  dim,
  accent,
  good,
  bad,
  line,
  paragraph,
  table,
  first,
  BLANK,
  type Block,
  type View,
} from './block.ts'

const MOST_MISTAKES = 50
const MOST_ROWS = 20

/** The mistakes in the other tool's files, with their places. */
export function importMistakes({ mistakes }: Imported): View {
  return first(mistakes, MOST_MISTAKES, ({ file, line: at, column, severity, message }) =>
    line(`${file}:${at}:${column} `, severity === 'error' ? bad(severity) : dim(severity), ` ${message}`),
  )
}

/** The result of the import. */
export function importView(imported: Imported): View {
  const { path, format, isRefused, mistakes, written, files, kept, both, gone, said, dropped, sync, dryRun } =
    imported
  if (isRefused) {
    const errors = mistakes.filter(({ severity }) => severity === 'error').length
    return [line(`Nothing was imported: ${path} has ${counted(errors, 'mistake')}.`)]
  }
  const added = written.filter(({ isNew }) => isNew).length
  const changed = written.length - added
  const parts = [
    added > 0 && `${counted(added, 'task')} ${dryRun ? 'to import' : 'imported'}`,
    changed > 0 && `${counted(changed, 'task')} ${dryRun ? 'to change' : 'changed'}`,
  ].filter(Boolean)
  const head =
    parts.length === 0
      ? [`Nothing is new in ${path}`]
      : [dryRun ? '' : good('✓ '), `${parts.join(', ')} from ${path}`]
  const rows = written.map(({ id, key, title }) => [accent(id), title, dim(key)])
  const more = rows.length - MOST_ROWS
  const note = (text: string): Block => paragraph(['  '], text)
  return [
    line(...head, dim(` (${format})`)),
    ...table(rows.slice(0, MOST_ROWS), { shrink: [1] }),
    ...(more > 0 ? [line(dim(`  and ${more} more`))] : []),
    ...files.map((file) => line(dryRun ? '  new     ' : '  wrote   ', file)),
    ...kept.map((file) => line('  kept    ', file, dim('  is there already'))),
    ...(dropped > 0 ? [note(`${counted(dropped, 'task')} left out: cancelled or archived there`)] : []),
    ...both.map(({ task: { id, key }, parts: changes }) =>
      note(`${id} and ${key} have both changed (${changes.join(', ')}): ${id} stays as it is`),
    ),
    ...gone.map(({ id, key }) => note(`${id} stays, though ${key} is gone there`)),
    ...said.map(note),
    ...(sync ? [note(`The status of these tasks is written back to ${path}.`)] : []),
    ...(added > 0 && !dryRun ? [BLANK, paragraph([], 'Next: ralph lint, then ralph next')] : []),
  ]
}
