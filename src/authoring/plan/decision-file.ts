import { placeAt } from '../../base/diagnostic.ts'
import { isText, itemIn, linesOf } from '../../backlog/markdown/lines.ts'
import { safeNotes } from '../../backlog/notes.ts'
import type { DecisionAnswer } from './answers.ts'
import { lineText, topHeading } from './documents.ts'
import { words } from './slug.ts'

/** The chosen option, a short remark by whom, and why. */
export interface Choice {
  readonly chosen: string
  /** `(the recommendation, taken with --yes)`; empty if a person chose. */
  readonly remark: string
  readonly why: string
}

/** A decision as in its file. */
interface Decision {
  readonly title: string
  readonly standing:
    | { readonly kind: 'accepted'; readonly chosen: string }
    | { readonly kind: 'open' }
    /** Rejected or replaced: nobody needs to decide it any more. */
    | { readonly kind: 'dropped' }
    /** The file says that it is decided, and not how. */
    | { readonly kind: 'unclear'; readonly line: number; readonly message: string }
}

/** The name of a decision's file: `0003-which-database.md`. */
export function decisionFileName(number: number, question: string): string {
  return `${String(number).padStart(4, '0')}-${words(question, 56) || 'decision'}.md`
}

/** The next number in a folder of decisions. */
export function nextDecision(names: readonly string[]): number {
  return 1 + Math.max(0, ...names.map((name) => Number(/^(\d{1,6})-.*\.md$/.exec(name)?.[1] ?? 0)))
}

/** The text of a decision in MADR's format: open, with a recommendation, or decided. */
export function decisionText(
  decision: DecisionAnswer,
  { date, plan, choice }: { readonly date: string; readonly plan: string; readonly choice: Choice | null },
): string {
  const { question, context, options, recommended, why } = decision
  const outcome = choice
    ? [`Chosen option: ${quoted(choice.chosen)}${choice.remark}${because(choice.why)}`]
    : [
        `Recommended option: ${quoted(options[recommended]?.title ?? '')}${because(why)}`,
        '<!-- To decide: set the status above to accepted, and name the option on a line of its own, as in\n' +
          `Chosen option: ${commentSafe(quoted(options[recommended]?.title ?? ''))}, because … -->`,
      ]
  const consequences = options.flatMap(({ title, consequences: text }) => [
    `### ${lineText(title)}`,
    safeNotes(text),
  ])
  return (
    [
      `---\nstatus: ${choice ? 'accepted' : 'proposed'}\ndate: ${date}\n---`,
      `# ${lineText(question)}`,
      '## Context and Problem Statement',
      safeNotes(context),
      '## Considered Options',
      options.map(({ title }) => `- ${lineText(title)}`).join('\n'),
      '## Decision Outcome',
      ...outcome,
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

function commentSafe(text: string): string {
  return text.replaceAll('--', '—')
}

/** Reads a decision in any usual form that a person may use: MADR's frontmatter, a bullet, or a section. */
export function readDecision(file: string, text: string): Decision {
  return { title: topHeading(text) ?? file, standing: standingOf(text) }
}

function standingOf(text: string): Decision['standing'] {
  const { word, offset } = statusIn(text)
  if (/^(?:rejected|deprecated|superseded|withdrawn)/.test(word)) return { kind: 'dropped' }
  if (!/^accepted|^approved/.test(word)) return { kind: 'open' }
  const chosen = chosenIn(text)
  if (chosen !== '') return { kind: 'accepted', chosen }
  const message = 'it is accepted and names no option: write a line such as Chosen option: "…"'
  return { kind: 'unclear', line: placeAt(text, offset).line, message }
}

const IN_FRONTMATTER = /^(?:\ufeff)?---\r?\n(?:.*\r?\n)*?status:[ \t]*["']?([a-z][^\r\n"']*)/i
const AS_BULLET = /^[-*+][ \t]+\**status\**[ \t]*:\**[ \t]*([a-z].*)$/im
const AS_SECTION = /^##[ \t]+status[ \t]*\r?\n+[ \t]*([a-z].*)$/im

function statusIn(text: string): { readonly word: string; readonly offset: number } {
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

/** The options in a decision's file, and which is recommended. */
export interface Choices {
  readonly options: readonly { readonly title: string; readonly consequences: string }[]
  readonly recommended: string | null
  readonly why: string
}

/** The options in the file, for a person to choose from. */
export function choicesIn(text: string): Choices {
  const [, recommended = null, why = ''] =
    /^Recommended option:\s*"([^"]*)"(?:,\s*because\s+(.*))?$/im.exec(text) ?? []
  const titles = bodyOf(text, 'Considered Options').flatMap((line) => itemIn(line)?.text.trim() || [])
  return {
    options: titles.map((title) => ({ title, consequences: bodyOf(text, title, '###').join(' ').trim() })),
    recommended,
    why,
  }
}

/** The lines below a heading, up to the next heading. */
function bodyOf(text: string, heading: string, marks = '##'): readonly string[] {
  const lines = text.split(/\r\n|\r|\n/)
  const start = lines.findIndex((line) => line.trim() === `${marks} ${heading}`)
  if (start < 0) return []
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => /^#{1,6}[ \t]/.test(line))
  return rest.slice(0, end < 0 ? undefined : end)
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
