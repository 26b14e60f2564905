import type { InitFindings } from '../authoring/init/plan.ts'
import { counted, fewOf } from '../base/text.ts'
import {
  strong,
  dim,
  good,
  bad,
  line,
  paragraph,
  table,
  first,
  headed,
  BLANK,
  type Block,
  type View,
} from './block.ts'

const MOST_UNCLEAR = 12

/** What `ralph init` found, and what it will do or has done. */
export type InitScreen = Parameters<typeof planView>[0]

/** The findings, and the files that would be written. */
export function planView({
  root,
  dir,
  files,
  kept,
  gates,
  aliases,
  tasks,
  unclear,
  misnamed,
  entry,
  foreign,
}: Pick<InitFindings, 'dir' | 'foreign' | 'gates'> & {
  root: string
  files: readonly string[]
  kept: readonly string[]
  /** The team's own words: their meanings, and the words. */
  aliases: readonly (readonly [string, readonly string[]])[]
  tasks: number
  /** The files that cannot be read, even with those words. */
  unclear: readonly Unclear[]
  /** The files that look like tasks and are not read, because of their names. */
  misnamed: readonly string[]
  /** The entry of the configuration that reads them; null if none does. */
  entry: string | null
}): View {
  return [
    line(strong(root)),
    ...(tasks > 0
      ? [line(`  ${counted(tasks, 'task file')} in ${dir}, ${tasks - unclear.length} understood`)]
      : []),
    ...(misnamed.length > 0
      ? [
          paragraph(
            ['  '],
            `not read: ${fewOf(misnamed, 5)}; ${entry === null ? 'a name is T-004.md or T-004-some-words.md' : `in ralph.config.json: ${entry}`}`,
          ),
        ]
      : []),
    ...(gates.length > 0
      ? part('gates', pairs(gates.map(({ name, command }) => [name, command])))
      : [paragraph(['  '], 'no gates found: give the commands that must pass in ralph.config.json')]),
    ...part('backlogs of other tools', foreign.map(fileLine)),
    ...part('your words', pairs(aliases.map(([name, words]) => [name, words.join(', ')]))),
    ...part('not clear (ralph lint)', unclearBlocks(unclear)),
    ...(files.length > 0 ? part('to write', files.map(fileLine)) : [line('  nothing to write')]),
    ...kept.map((file) => line('    ', file, dim('  is there, and stays as it is'))),
  ]
}

/** What was written, and the next steps. */
export function doneView(
  files: readonly string[],
  { hasTasks, foreign }: Pick<InitFindings, 'hasTasks' | 'foreign'>,
): View {
  return [
    BLANK,
    ...files.map((file) => line(good('✓'), ` ${file}`)),
    paragraph([], nextStep(hasTasks, foreign)),
  ]
}

function nextStep(hasTasks: boolean, [path]: readonly string[]): string {
  if (path !== undefined) return `Next: ralph import ${path}, then ralph next`
  return hasTasks ? 'Next: ralph lint, then ralph next' : 'Next: ralph new "Title", then ralph next'
}

/** Blocks below what they are; nothing if there are none. */
function part(name: string, blocks: View): View {
  return blocks.length === 0 ? [] : [line(`  ${name}`), ...blocks.map((block) => headed(['    '], block))]
}

const fileLine = (file: string): Block => line(file)

function pairs(rows: readonly (readonly [string, string])[]): View {
  return table(
    rows.map(([name, text]) => [dim(name), text]),
    { wrap: 1, indent: '' },
  )
}

interface Unclear {
  readonly file: string
  readonly message: string
}

/** Each message once, with the files that have it. */
function unclearBlocks(unclear: readonly Unclear[]): View {
  const messages = [...new Set(unclear.map(({ message }) => message))]
  return first(messages, MOST_UNCLEAR, (message) => {
    const files = unclear.filter((one) => one.message === message).map(({ file }) => file)
    return paragraph([bad(fewOf(files, 2)), '  '], message)
  })
}
