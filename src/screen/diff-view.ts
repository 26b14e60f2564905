import type { BacklogDiff } from '../history/backlog-diff.ts'
import { accent, bad, BLANK, dim, line, paragraph, strong, type Block } from './block.ts'
import { diffGroups, diffStates, diffSummary } from './diff-groups.ts'
import { mermaidOf } from './graph-text.ts'
import { groupAlike, lintLine } from './lint-view.ts'
import { markdownText } from './markdown-text.ts'

/** The changes of a range to the backlog, in words. */
export function diffView(diff: BacklogDiff): readonly Block[] {
  const groups = diffGroups(diff)
  const summary = diffSummary(diff, groups)
  if (summary === '') return [line(`Nothing in the backlog has changed in ${diff.range.text}.`)]
  return [
    line(strong(diff.range.text), '  ', summary),
    ...groups.flatMap(({ heading, items }): readonly Block[] => [
      BLANK,
      line(strong(heading)),
      ...items.flatMap(({ id, title, details }) => [
        line('  ', accent(id), '  ', title),
        ...details.map((text) => paragraph(['         '], text, 'dim')),
      ]),
    ]),
    ...(diff.cycles.length === 0 ? [] : [BLANK, line(strong('In a cycle'))]),
    ...diff.cycles.map((ids) => paragraph(['  ', bad('? ')], `${ids.join(', ')} wait for each other`)),
    ...(diff.problems.length === 0 ? [] : [BLANK, line(strong('Problems'))]),
    ...groupAlike(diff.problems).map(lintLine),
    ...(diff.unlinted === 0 ? [] : [BLANK, line(dim(UNLINTED))]),
    ...(diff.eligible.length === 0
      ? []
      : [BLANK, line(dim('ralph next --explain says what each other task waits for.'))]),
  ]
}

/** The note for more changes than lint checks. */
const UNLINTED =
  'With so many tasks, only problems that keep a task from being eligible were checked: ralph lint reports the rest.'

/** Longer lists are cut in a comment; the files have the rest. */
const MOST_ITEMS = 50
/** More tasks than these are folded; beyond the limit, a forge draws no graph. */
const MOST_UNFOLDED = 12
const MOST_DRAWN = 200
const MOST_ARROWS = 400

/** The same as Markdown, for the comment of a pull request or a job's summary. */
export function diffMarkdown(diff: BacklogDiff): string {
  const groups = diffGroups(diff)
  const summary = diffSummary(diff, groups)
  const head = `### Backlog: ${summary === '' ? 'nothing has changed' : summary}`
  const lists = groups.map(({ heading, items }) => {
    const shown = items.map(({ id, title, details }) =>
      [`- **${id}** ${markdownText(title)}`, ...details.map((text) => `  ${markdownText(text)}`)].join(
        '  \n',
      ),
    )
    return [`**${heading}**`, '', ...fewer(shown)].join('\n')
  })
  const cycles = diff.cycles.map((ids) => `- ${fewIds(ids)} wait for each other`)
  const problems = groupAlike(diff.problems).map(
    ({ file, line, severity, rule, message }) =>
      `- ${markdownText(file)}:${line} ${severity} ${rule}: ${markdownText(message)}`,
  )
  const parts = [
    head,
    ...lists,
    ...(cycles.length === 0 ? [] : [['**In a cycle**', '', ...fewer(cycles)].join('\n')]),
    ...(problems.length === 0 ? [] : [['**Problems**', '', ...fewer(problems)].join('\n')]),
    ...(diff.unlinted === 0 ? [] : [UNLINTED]),
    ...graphParts(diff),
    `<sub>ralph diff ${markdownText(diff.range.text)}</sub>`,
  ]
  return `${parts.join('\n\n')}\n`
}

function fewer(items: readonly string[]): readonly string[] {
  if (items.length <= MOST_ITEMS) return items
  return [...items.slice(0, MOST_ITEMS), `- … and ${items.length - MOST_ITEMS} more`]
}

function fewIds(ids: readonly string[]): string {
  return fewer([...ids]).join(', ')
}

function graphParts(diff: BacklogDiff): readonly string[] {
  const states = diffStates(diff)
  const arrows = states.reduce((sum, { task }) => sum + task.needs.length, 0)
  if (arrows === 0 || states.length > MOST_DRAWN || arrows > MOST_ARROWS) return []
  const graph = ['```mermaid', mermaidOf(states).trimEnd(), '```'].join('\n')
  if (states.length <= MOST_UNFOLDED) return [graph]
  return [`<details>\n<summary>Graph of ${states.length} tasks</summary>\n\n${graph}\n\n</details>`]
}
