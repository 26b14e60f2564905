import { createHash } from 'node:crypto'
import { fenced, inlineCode, unfenced } from '../../backlog/markdown/fence.ts'
import { readDocument } from '../../prompt/document.ts'
import { wordMap, type Vocabulary } from '../../backlog/vocabulary.ts'
import { PHASES, type Phase } from './answers.ts'

/** The current phase of a plan; `done` after its tasks are written. */
export type PlanStatus = Phase | 'done' | 'aborted'
const STATUSES: readonly PlanStatus[] = [...PHASES, 'done', 'aborted']

/** A plan as stored in its `plan.md`: all that another clone needs to continue. */
export interface Plan {
  readonly slug: string
  readonly title: string
  readonly status: PlanStatus
  /** The request in words; empty if there are only documents. */
  readonly wish: string
  /** The documents that were passed, as they were when last planned. */
  readonly specs: readonly KnownFile[]
  readonly web: boolean
  readonly verifyTasks: boolean
  /** Whether its tasks are also in a file for other tools, which is kept in sync. */
  readonly exports: boolean
  readonly decisions: readonly KnownFile[]
  /** The tasks that cover each requirement. */
  readonly coverage: readonly { readonly requirement: string; readonly tasks: readonly string[] }[]
  /** Those that it has written, with a digest of each file then: another digest means an edit by a person. */
  readonly tasks: readonly { readonly id: string; readonly key: string; readonly digest: string }[]
}

/** A file, relative to the root, and a digest of its text. */
export interface KnownFile {
  readonly file: string
  readonly digest: string
}

/** A digest of a text, ignoring its kind of line ends. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text.replace(/\r\n?/g, '\n')).digest('hex').slice(0, 12)
}

/** The text of `plan.md`. */
export function planText(plan: Plan): string {
  const { title, status, wish, specs, web, verifyTasks, exports, decisions, coverage, tasks } = plan
  const fields = [
    `- **Status**: ${status}`,
    ...(web ? [] : ['- **Web**: no']),
    ...(verifyTasks ? ['- **Verify Tasks**: yes'] : []),
    ...(exports ? ['- **Export**: implementation'] : []),
  ]
  const sections = [
    section('Wish', wish === '' ? '' : fenced(wish, 'text')),
    section('Specs', specs.map(knownLine).join('\n')),
    section('Decisions', decisions.map(knownLine).join('\n')),
    section(
      'Coverage',
      table(
        ['Requirement', 'Tasks'],
        coverage.map((one) => [cell(one.requirement), one.tasks.join(', ')]),
      ),
    ),
    section(
      'Tasks',
      table(
        ['Task', 'Key', 'As it was written'],
        tasks.map(({ id, key, digest }) => [id, cell(key), digest]),
      ),
    ),
  ]
  return [`# Plan: ${title}`, fields.join('\n'), ...sections].filter(Boolean).join('\n\n') + '\n'
}

function section(title: string, body: string): string {
  return body === '' ? '' : `## ${title}\n\n${body}`
}

function knownLine({ file, digest }: KnownFile): string {
  return `- ${inlineCode(file)} (${digest})`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')
}

/** A bar would begin another cell. */
function cell(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('\\', '\\\\').replaceAll('|', '\\|')
}

function cellsIn(line: string): readonly string[] {
  const cells = line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
  return cells.map((text) => text.trim().replace(/\\([\\|])/g, '$1'))
}

const FIELDS = ['Status', 'Web', 'Verify Tasks', 'Export'] as const
const SECTIONS = ['Wish', 'Specs', 'Decisions', 'Coverage', 'Tasks'] as const

const VOCABULARY: Vocabulary<(typeof FIELDS)[number], (typeof SECTIONS)[number]> = {
  fields: wordMap(FIELDS, {}),
  sections: wordMap(SECTIONS, {}),
  fieldSections: new Set(),
  lists: new Set(),
}

/** Reads `plan.md`; returns a message if it cannot be read. */
export async function readPlan(slug: string, text: string): Promise<Plan | string> {
  const document = await readDocument('plan', text, VOCABULARY)
  const word = document.field('Status')?.toLowerCase() ?? ''
  const status = STATUSES.find((known) => known === word)
  if (!status) return `its Status is none of ${STATUSES.join(', ')}`
  const wish = document.body('Wish')
  return {
    slug,
    title: document.title.replace(/^Plan:\s*/i, ''),
    status,
    wish: unfenced(wish) ?? wish,
    specs: knownIn(document.body('Specs')),
    web: document.field('Web')?.toLowerCase() !== 'no',
    verifyTasks: document.field('Verify Tasks')?.toLowerCase() === 'yes',
    exports: document.field('Export')?.toLowerCase() === 'implementation',
    decisions: knownIn(document.body('Decisions')),
    coverage: rowsIn(document.body('Coverage')).map(([requirement = '', tasks = '']) => ({
      requirement,
      tasks: tasks.split(/,\s*/).filter(Boolean),
    })),
    tasks: rowsIn(document.body('Tasks')).map(([id = '', key = '', digest = '']) => ({ id, key, digest })),
  }
}

function knownIn(body: string): readonly KnownFile[] {
  return body.split('\n').flatMap((line) => {
    const [, , file, digest] = /^[-*+] (`+) ?(.*?) ?\1(?: \(([0-9a-f]*)\))?\s*$/.exec(line) ?? []
    return file === undefined ? [] : [{ file, digest: digest ?? '' }]
  })
}

/** The rows below the head and its line. */
function rowsIn(body: string): readonly (readonly string[])[] {
  const lines = body.split('\n').filter((line) => line.trim().startsWith('|'))
  return lines.slice(2).map(cellsIn)
}
