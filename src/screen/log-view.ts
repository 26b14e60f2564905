import { linesOf } from '../backlog/markdown/lines.ts'
import { dayText, formatDuration } from '../base/time.ts'
import type { CompletionRecord } from '../history/completions.ts'
import { formatCost, formatTokens } from '../base/usage.ts'
import type { gateStats, Stats, Totals } from '../history/stats.ts'
import {
  strong,
  dim,
  accent,
  dotted,
  line,
  paragraph,
  spread,
  table,
  BLANK,
  type Block,
  type Cell,
  type Piece,
  type Row,
  type View,
} from './block.ts'
import { markdownText } from './printable.ts'
import { counted } from '../base/text.ts'
import { spentText } from './tell.ts'

/**
 * Completed tasks like a changelog: by day, newest first, each with its notes. If there are none, `unnamed` tells how
 * many tasks are DONE all the same.
 */
export function logView(completions: readonly CompletionRecord[], unnamed: number): View {
  if (completions.length === 0) return nothingLogged(unnamed)
  let day = ''
  return completions.flatMap((completion) => {
    const own = dayText(completion.committedAt)
    const heading = own === day ? [] : [...(day === '' ? [] : [BLANK]), line(strong(own))]
    day = own
    return [...heading, BLANK, ...completionBlocks(completion)]
  })
}

/** The words where no commit completed a task: a backlog may have come here with tasks that were done elsewhere. */
function nothingLogged(unnamed: number): View {
  const rest =
    unnamed === 0 ? '' : ` ${counted(unnamed, 'task')} ${unnamed === 1 ? 'is' : 'are'} DONE all the same.`
  return [paragraph([], `No commit in this history says that it completed a task.${rest}`)]
}

function completionBlocks(completion: CompletionRecord): View {
  const { id, title, commit, notes, byRalph, reverted } = completion
  const numbers = spent(completion)
  return [
    spread(
      [
        accent(id),
        '  ',
        title,
        dim(byRalph ? '' : '  not by ralph'),
        dim(reverted ? '  reverted since' : ''),
      ],
      [dim(commit.slice(0, 7))],
    ),
    // There are no numbers for people's work.
    ...(numbers === '' ? [] : [paragraph(['  '], numbers, 'dim')]),
    ...noteBlocks(notes),
  ]
}

/** Markdown stays unchanged; only its prose wraps. */
function noteBlocks(notes: string): View {
  return [...linesOf(notes)].flatMap(({ text, kind }): View => {
    if (kind === 'fence' || kind === 'fenced' || text.startsWith('|')) return [line('  ', text)]
    return text.trim() === '' ? [] : [proseLine(text)]
  })
}

/** The beginning of a line decides the indent of its wrapped rest. */
function proseLine(text: string): Block {
  const [, lead = ''] = /^(\s*(?:(?:[-*+]|\d+[.)])\s+)?)/.exec(text) ?? []
  return paragraph(['  ', lead], text.slice(lead.length))
}

function spent({ agent, model, attempts, seconds, usage }: CompletionRecord): string {
  return dotted(
    agent !== null && (model === null ? agent : `${agent} (${model})`),
    attempts !== null && attempts > 1 && `${attempts} attempts`,
    spentText(seconds, usage),
    formatTokens(usage),
  )
}

/** Completed tasks as Markdown for release notes, grouped by milestone. */
export function releaseNotes(
  completions: readonly CompletionRecord[],
  milestoneOf: (completion: CompletionRecord) => string | null,
): string {
  const groups = new Map<string | null, string[]>()
  for (const completion of completions.filter(({ reverted }) => !reverted)) {
    const milestone = milestoneOf(completion)
    groups.set(milestone, [...(groups.get(milestone) ?? []), noteItem(completion)])
  }
  return [...groups]
    .map(([milestone, items]) => `## ${milestone ?? 'Other tasks'}\n\n${items.join('\n').trimEnd()}\n`)
    .join('\n')
}

function noteItem({ id, title, commit, notes }: CompletionRecord): string {
  const lines = notes.trim() === '' ? [] : ['', ...notes.trim().split('\n'), '']
  const body = lines.map((text) => (text === '' ? '\n' : `\n  ${text}`)).join('')
  return `- **${id}** ${markdownText(title)} (${commit.slice(0, 7)})${body}`
}

/** The totals of the tasks: of all, and by milestone, tier and agent; `unnamed` as in the log. */
export function statsView(byName: Readonly<Record<string, Stats>>, unnamed: number): View {
  const [first] = Object.values(byName)
  if (!first || first.total.tasks + first.lost.attempts === 0) return nothingLogged(unnamed)
  const rows: Row[] = [rowOf(strong('total'), first.total)]
  for (const [name, { groups }] of Object.entries(byName)) {
    if (groups.length === 0) continue
    rows.push(SPACE, spread([strong(name)]))
    for (const group of groups) rows.push(rowOf(group.name, group))
  }
  return [...table(rows, { shrink: [0] }), ...missingNotes(first)]
}

/** What each gate took, and how often it failed. */
export function gatesView(gates: ReturnType<typeof gateStats>): View {
  if (gates.length === 0) return [line('no commit of a task says which gates passed')]
  const rows = gates.map(({ name, runs, medianSeconds, failures, flakes }): Row => [
    name,
    counted(runs, 'run'),
    medianSeconds === 0 ? 'under 1s' : `median ${formatDuration(medianSeconds)}`,
    failures === 0 ? '' : counted(failures, 'failure'),
    flakes === 0 ? '' : strong(`${counted(flakes, 'time')} flaky`),
  ])
  return table(rows, { shrink: [0] })
}

const SPACE: Row = spread([])

function rowOf(name: Piece, { tasks, attempts, seconds, usage }: Totals): readonly Cell[] {
  return [
    name,
    counted(tasks, 'task'),
    attempts === 0 ? '' : dim(counted(attempts, 'attempt')),
    usage.turns === null ? '' : counted(usage.turns, 'turn'),
    seconds === null ? '' : formatDuration(seconds),
    usage.costUsd === null ? '' : formatCost(usage.costUsd),
    dim(formatTokens(usage) ?? ''),
  ]
}

/** Notes on what the figures leave out. */
function missingNotes({ lost, total }: Stats): View {
  const notes = [
    lost.attempts > 0 &&
      `not counted above, because they completed nothing: ${counted(lost.attempts, 'attempt')} · ${spentText(lost.seconds, { ...lost.usage, turns: null })}`,
    total.notByRalph > 0 &&
      `${counted(total.notByRalph, 'task')} not completed by ralph: their files or commits say that they are`,
    total.unchecked > 0 &&
      `${counted(total.unchecked, 'task')} done without a gate: nothing checked the agent's work`,
  ]
  return notes.flatMap((note) => (note === false ? [] : [BLANK, line(dim(note))]))
}
