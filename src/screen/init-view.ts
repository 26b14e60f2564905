import { bad, BLANK, dim, good, line, paragraph, strong, type Block, type Row } from './block.ts'
import { counted, fewOf } from '../base/text.ts'

/** What `ralph init` found, and what it will do or has done. */
export interface InitScreen {
  readonly root: string
  /** The task folder. */
  readonly dir: string
  readonly files: readonly string[]
  readonly kept: readonly string[]
  readonly gates: readonly { readonly name: string; readonly command: string }[]
  /** The team's own words: their meanings, and the words. */
  readonly aliases: readonly (readonly [string, readonly string[]])[]
  readonly tasks: number
  /** The paths of other tools' backlogs. */
  readonly foreign: readonly string[]
  /** The files that cannot be read, even with those words. */
  readonly unclear: readonly { readonly file: string; readonly message: string }[]
  /** The files that look like tasks and are not read, because of their names. */
  readonly misnamed: readonly string[]
}

const MOST_UNCLEAR = 12

/** The findings, and the files that would be written. */
export function planView(screen: InitScreen): readonly Block[] {
  const { root, dir, files, kept, gates, aliases, tasks, unclear, misnamed, foreign } = screen
  return [
    line(strong(root)),
    ...(tasks > 0
      ? [line(`  ${counted(tasks, 'task file')} in ${dir}, ${tasks - unclear.length} understood`)]
      : []),
    ...misnamedBlocks(misnamed),
    ...gateBlocks(gates),
    ...(foreign.length > 0
      ? [line('  backlogs of other tools'), ...foreign.map((path) => line('    ', path))]
      : []),
    ...(aliases.length > 0
      ? [line('  your words'), table(aliases.map(([name, words]) => [dim(name), words.join(', ')]))]
      : []),
    ...unclearBlocks(unclear),
    ...(files.length > 0
      ? [line('  to write'), ...files.map((file) => line('    ', file))]
      : [line('  nothing to write')]),
    ...kept.map((file) => line('    ', file, dim('  is there, and stays as it is'))),
  ]
}

/** What was written, and the next steps. */
export function doneView(
  files: readonly string[],
  { hasTasks, foreign }: { readonly hasTasks: boolean; readonly foreign: readonly string[] },
): readonly Block[] {
  return [
    BLANK,
    ...files.map((file) => line(good('✓'), ` ${file}`)),
    paragraph([], nextStep(hasTasks, foreign)),
  ]
}

function nextStep(hasTasks: boolean, [path]: readonly string[]): string {
  if (path !== undefined) return `Next: ralph import ${path}, then ralph next`
  return hasTasks
    ? 'Next: ralph lint, then ralph next'
    : 'Next: edit the first task, or ralph new "Title"; then ralph next'
}

function gateBlocks(gates: InitScreen['gates']): readonly Block[] {
  if (gates.length === 0)
    return [paragraph(['  '], 'no gates found: give the commands that must pass in ralph.config.json')]
  return [line('  gates'), table(gates.map(({ name, command }) => [dim(name), command]))]
}

function misnamedBlocks(files: readonly string[]): readonly Block[] {
  if (files.length === 0) return []
  const what = files.length === 1 ? 'looks like a task and is' : 'look like tasks and are'
  return [paragraph(['  '], `${fewOf(files, 5)} ${what} not read: a name is T-004.md or T-004-some-words.md`)]
}

function unclearBlocks(unclear: InitScreen['unclear']): readonly Block[] {
  if (unclear.length === 0) return []
  const messages = [...new Set(unclear.map(({ message }) => message))]
  const shown = messages.slice(0, MOST_UNCLEAR).map((message) => {
    const files = unclear.filter((one) => one.message === message).map(({ file }) => file)
    return { message, files }
  })
  const more = unclear.length - shown.reduce((sum, { files }) => sum + files.length, 0)
  return [
    line(bad('  not clear'), dim('  (ralph lint)')),
    table(shown.map(({ files, message }) => [fewOf(files, 2), message])),
    ...(more > 0 ? [line(dim(`    and ${more} more`))] : []),
  ]
}

function table(rows: readonly Row[]): Block {
  return { kind: 'table', rows, wrap: 1, indent: '    ' }
}
