import type { Diagnostic } from '../base/diagnostic.ts'
import { counted } from '../base/text.ts'
import { accent, bad, BLANK, dim, good, line, paragraph, type Block, type Row } from './block.ts'

/** The data of `ralph import`. */
interface ImportScreen {
  readonly format: string
  readonly path: string
  readonly mistakes: readonly Diagnostic[]
  readonly isRefused: boolean
  readonly written: readonly {
    readonly id: string
    readonly key: string
    readonly title: string
    readonly isNew: boolean
  }[]
  readonly both: readonly { readonly task: ImportedName; readonly parts: readonly string[] }[]
  readonly gone: readonly ImportedName[]
  readonly dropped: number
  readonly files: readonly string[]
  readonly kept: readonly string[]
  readonly sync: boolean
}

interface ImportedName {
  readonly id: string
  readonly key: string
}

const MOST_MISTAKES = 50
const MOST_ROWS = 20

export const importView = {
  /** The mistakes in the other tool's files, with their places. */
  mistakes({ mistakes }: ImportScreen): readonly Block[] {
    const more = mistakes.length - MOST_MISTAKES
    return [
      ...mistakes
        .slice(0, MOST_MISTAKES)
        .map(({ file, line: at, column, severity, message }) =>
          line(
            `${file}:${at}:${column} `,
            severity === 'error' ? bad(severity) : dim(severity),
            ` ${message}`,
          ),
        ),
      ...(more > 0 ? [line(dim(`and ${more} more`))] : []),
    ]
  },

  /** The result of the import. */
  result(screen: ImportScreen): readonly Block[] {
    const { path, format, isRefused, mistakes, written, files, kept, both, gone, dropped, sync } = screen
    if (isRefused) {
      const errors = mistakes.filter(({ severity }) => severity === 'error').length
      return [line(`Nothing was imported: ${path} has ${counted(errors, 'mistake')}.`)]
    }
    const added = written.filter(({ isNew }) => isNew).length
    const changed = written.length - added
    const parts = [
      ...(added > 0 ? [`${counted(added, 'task')} imported`] : []),
      ...(changed > 0 ? [`${counted(changed, 'task')} changed`] : []),
    ]
    const head = parts.length === 0 ? `Nothing is new in ${path}` : `${parts.join(', ')} from ${path}`
    return [
      line(parts.length === 0 ? '' : good('✓ '), head, dim(` (${format})`)),
      ...rows(written.map(({ id, key, title }): Row => [accent(id), title, dim(key)])),
      ...files.map((file) => line('  wrote   ', file)),
      ...kept.map((file) => line('  kept    ', file, dim('  is there already'))),
      ...(dropped > 0
        ? [line(dim(`  ${counted(dropped, 'task')} left out: cancelled or archived there`))]
        : []),
      ...both.map(({ task, parts: changes }) =>
        paragraph(
          ['  '],
          `${task.id} and ${task.key} have both changed (${changes.join(', ')}): ${task.id} stays as it is`,
        ),
      ),
      ...gone.map(({ id, key }) => paragraph(['  '], `${id} is left as it is, though ${key} is gone there`)),
      ...(sync ? [paragraph(['  '], `The status of these tasks is written back to ${path}.`)] : []),
      ...(added > 0 ? [BLANK, paragraph([], 'Next: ralph lint, then ralph next')] : []),
    ]
  },
}

function rows(all: readonly Row[]): readonly Block[] {
  if (all.length === 0) return []
  const more = all.length - MOST_ROWS
  return [
    { kind: 'table', rows: all.slice(0, MOST_ROWS), shrink: [1], indent: '  ' },
    ...(more > 0 ? [line(dim(`  and ${more} more`))] : []),
  ]
}
