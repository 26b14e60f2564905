import { placeAt } from '../../base/diagnostic.ts'
import { isText, itemIn, linesOf } from '../../backlog/markdown/lines.ts'
import { safeNotes } from '../../backlog/notes.ts'
import type { Answers } from './answers.ts'
import type { Desk } from './desk.ts'
import { lineText, topHeading, words } from './documents.ts'
import type { PlanPorts } from './ports.ts'

/** The name of a decision's file: `0003-which-database.md`. */
export function decisionFileName(number: number, question: string): string {
  return `${String(number).padStart(4, '0')}-${words(question, 56) || 'decision'}.md`
}

/** The next number in a folder of decisions. */
export function nextDecision(names: readonly string[]): number {
  return 1 + Math.max(0, ...names.map((name) => Number(/^(\d{1,6})-.*\.md$/.exec(name)?.[1] ?? 0)))
}

/** The text of an open decision in MADR's format, with a recommendation. */
export function decisionText(
  decision: Answers['decisions']['decisions'][number],
  { date, plan }: { date: string; plan: string },
): string {
  const { question, context, options, recommended, why } = decision
  const option = quoted(options[recommended]?.title ?? '')
  const consequences = options.flatMap(({ title, consequences: text }) => [
    `### ${lineText(title)}`,
    safeNotes(text),
  ])
  return (
    [
      `---\nstatus: proposed\ndate: ${date}\n---`,
      `# ${lineText(question)}`,
      '## Context and Problem Statement',
      safeNotes(context),
      '## Considered Options',
      options.map(({ title }) => `- ${lineText(title)}`).join('\n'),
      '## Decision Outcome',
      `Recommended option: ${option}${because(why)}`,
      '<!-- To decide: set the status above to accepted, and name the option on a line of its own, as in\n' +
        `Chosen option: ${option.replaceAll('--', '—')}, because … -->`,
      '## Pros and Cons of the Options',
      ...consequences,
      '## More Information',
      `Asked by the plan ${plan}.`,
    ].join('\n\n') + '\n'
  )
}

function quoted(title: string): string {
  return `"${lineText(title).replaceAll('"', "'")}"`
}

function because(why: string): string {
  const reason = lineText(why).replace(/^because\s+/i, '')
  if (reason === '') return ''
  return `, because ${reason}${/[.!?。]$/.test(reason) ? '' : '.'}`
}

/** An open decision, and what its file lacks. */
export interface OpenFile {
  readonly file: string
  readonly line: number
  readonly title: string
  readonly message: string
}

/**
 * What is open in a decision's file, in any usual form that a person may use: MADR's frontmatter, a bullet, or a section.
 * Null if it is decided, or rejected or replaced.
 */
export function openIn(file: string, text: string): OpenFile | null {
  const title = topHeading(text) ?? file
  const { word, offset } = statusIn(text)
  if (/^(?:rejected|deprecated|superseded|withdrawn)/.test(word)) return null
  if (!/^(?:accepted|approved)/.test(word)) return { file, line: 1, title, message: 'it is not decided' }
  if (chosenIn(text) !== '') return null
  const message = 'it is accepted and names no option: write a line such as Chosen option: "…"'
  return { file, line: placeAt(text, offset).line, title, message }
}

const IN_FRONTMATTER = /^(?:\ufeff)?---\r?\n(?:.*\r?\n)*?status:[ \t]*["']?([a-z][^\r\n"']*)/i
const AS_BULLET = /^[-*+][ \t]+\**status\**[ \t]*:\**[ \t]*([a-z].*)$/im
const AS_SECTION = /^##[ \t]+status[ \t]*\r?\n+[ \t]*([a-z].*)$/im

function statusIn(text: string): { word: string; offset: number } {
  for (const form of [IN_FRONTMATTER, AS_BULLET, AS_SECTION]) {
    const match = form.exec(text)
    if (match) return { word: match[1]!.trim().toLowerCase(), offset: match.index + match[0].length - 1 }
  }
  return { word: '', offset: 0 }
}

/** The text after `Chosen option:`, without quotes and reasons. */
function chosenIn(text: string): string {
  const line = [...linesOf(text)].find((one) => isText(one) && /^\W*chosen option\W*:/i.test(one.text))
  if (line === undefined) return ''
  const chosen = line.text.replace(/^\W*chosen option\W*:[\s*_]*/i, '').trim()
  const inQuotes = /^["“„«'`](.+?)["”“»'`](?=$|[\s,.;(*_])/.exec(chosen)?.[1]
  const option = inQuotes ?? chosen.replace(/,?\s+because\b.*$/i, '')
  return /[\p{L}\p{N}]/u.test(option) ? option.trim() : ''
}

/** The options in a decision's file, for a person to choose from, and which is recommended. */
export type Choices = ReturnType<typeof choicesIn>

export function choicesIn(text: string) {
  const [, recommended = null, why = ''] =
    /^Recommended option:\s*"([^"]*)"(?:,\s*because\s+(.*))?$/im.exec(text) ?? []
  const titles = bodyOf(text, '## Considered Options').flatMap((line) => itemIn(line)?.text.trim() || [])
  return {
    options: titles.map((title) => ({ title, consequences: bodyOf(text, `### ${title}`).join(' ').trim() })),
    recommended,
    why,
  }
}

/** The lines below a heading, up to the next heading. */
function bodyOf(text: string, heading: string): readonly string[] {
  const lines = text.split(/\r\n|\r|\n/)
  const start = lines.findIndex((line) => line.trim() === heading)
  if (start < 0) return []
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => /^#{1,6}[ \t]/.test(line))
  return rest.slice(0, end < 0 ? undefined : end)
}

/** The chosen option, a short remark by whom, and why. */
export interface Choice {
  readonly chosen: string
  /** `(the recommendation, taken with --yes)`; empty if a person chose. */
  readonly remark: string
  readonly why: string
}

/** The file with the chosen option: only its status and its outcome change. */
export function decidedText(text: string, { chosen, remark, why }: Choice): string {
  const outcome = `Chosen option: ${quoted(chosen)}${remark}${because(why)}`
  const accepted = text.replace(
    /^((?:\ufeff)?---\r?\n(?:.*\r?\n)*?status:[ \t]*).*$/im,
    (_, head: string) => `${head}accepted`,
  )
  const proposal = /^Recommended option:.*$(?:\s*<!-- To decide:[\s\S]*?-->)?/im
  if (proposal.test(accepted)) return accepted.replace(proposal, () => outcome)
  return `${accepted.trimEnd()}\n\n## Decision Outcome\n\n${outcome}\n`
}

/** Settles open decisions: with the recommendations, by a person, or leaves them open. Returns the changed texts by path. */
export async function settleDecisions(
  files: readonly string[],
  { desk, options, decide }: PlanPorts,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  const open = openDecisions(files, desk).filter(({ file }) => desk.read(file) !== null)
  for (const [index, { file, title }] of open.entries()) {
    const text = desk.read(file) ?? ''
    const choices = choicesIn(text)
    const choice =
      options.yes || options.dryRun
        ? recommendation(choices)
        : await decide?.({ ...choices, title, number: index + 1, of: open.length })
    if (choice === 'later') break
    if (!choice) continue
    const decided = decidedText(text, choice)
    texts.set(file, decided)
    desk.lay(file, decided)
  }
  return texts
}

function recommendation({ recommended, why }: Choices): Choice | null {
  if (recommended === null) return null
  return { chosen: recommended, remark: ' (the recommendation, taken with --yes)', why }
}

/** The decisions that are not complete. */
export function openDecisions(files: readonly string[], desk: Desk): readonly OpenFile[] {
  const message = 'it is gone: bring it back, or take its line out of plan.md'
  return files.flatMap((file) => {
    const text = desk.read(file)
    return text === null ? [{ file, line: 1, title: file, message }] : (openIn(file, text) ?? [])
  })
}
