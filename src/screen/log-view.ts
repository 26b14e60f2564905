import { linesOf } from '../backlog/markdown/lines.ts'
import { dayText } from '../base/time.ts'
import type { CompletionRecord } from '../history/completions.ts'
import { formatTokens } from '../base/usage.ts'
import { strong, dim, accent, line, paragraph, spread, BLANK, type Block } from './block.ts'
import { markdownText } from './printable.ts'
import { counted } from '../base/text.ts'
import { spentText } from './told.ts'

/**
 * Completed tasks like a changelog: by day, newest first, each with its notes. If there are none, `unnamed` tells how
 * many tasks are DONE all the same.
 */
export function logView(completions: readonly CompletionRecord[], unnamed: number): readonly Block[] {
  if (completions.length === 0) return nothingLogged(unnamed)
  let day = ''
  return completions.flatMap((completion) => {
    const own = dayText(new Date(completion.committedAt * 1000))
    const heading = own === day ? [] : [...(day === '' ? [] : [BLANK]), line(strong(own))]
    day = own
    return [...heading, BLANK, ...completionBlocks(completion)]
  })
}

/** The words where no commit completed a task: a backlog may have come here with tasks that were done elsewhere. */
export function nothingLogged(unnamed: number): readonly Block[] {
  const rest =
    unnamed === 0 ? '' : ` ${counted(unnamed, 'task')} ${unnamed === 1 ? 'is' : 'are'} DONE all the same.`
  return [paragraph([], `No commit in this history says that it completed a task.${rest}`)]
}

function completionBlocks(completion: CompletionRecord): readonly Block[] {
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
function noteBlocks(notes: string): readonly Block[] {
  return [...linesOf(notes)].flatMap(({ text, kind }): readonly Block[] => {
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
  const parts = [
    agent !== null && (model === null ? agent : `${agent} (${model})`),
    attempts !== null && attempts > 1 && `${attempts} attempts`,
    spentText(seconds, usage),
    formatTokens(usage),
  ]
  return parts.filter(Boolean).join(' · ')
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
