import { frontmatterIn } from '../../backlog/markdown/lines.ts'
import { parseFrontmatter, type FrontmatterEntry } from '../../backlog/markdown/frontmatter.ts'
import type { Status } from '../../backlog/model.ts'
import { readBoxes } from './boxes.ts'
import { foreignDraft, foreignStatus, folderOf, nameOf, titleOf, within, type Format } from './format.ts'
import type { Edit, Source, Sources } from './source.ts'
import type { Tree } from './tree.ts'

/** Backlog.md: one file for each task in `backlog/tasks/`, with frontmatter, and sections between markers. */
export const backlogMd: Format = {
  about: 'Backlog.md (backlog/tasks/)',
  find(path, sources) {
    const isTask = (file: string): boolean => Boolean(headIn(sources.open(file))?.field('id'))
    if (nameOf(folderOf(path)) === 'tasks' && isTask(path)) return folderOf(folderOf(path))
    const folder = nameOf(path) === 'tasks' ? folderOf(path) : path
    return taskFiles(folder, sources.tree).slice(0, 5).some(isTask) ? folder : null
  },
  read(path, sources, { only }) {
    const { tree } = sources
    const statuses = statusesOf(path, sources)
    const files = taskFiles(path, tree)
    const wanted = only === undefined ? files : files.filter((file) => startsWithId(nameOf(file), only))
    const heads = wanted.flatMap((file) => headIn(sources.open(file)) ?? [])
    reportIds(heads)
    const tasks = heads
      .map((head) => ({ key: head.field('id'), head }))
      .filter(({ key }) => key !== '')
      .toSorted((one, other) => NATURAL.compare(one.key, other.key))
    const archived = ['completed', 'archive/tasks']
      .flatMap((folder) => tree.list(within(path, folder)))
      .flatMap((name) => ID.exec(name)?.[0] ?? [])
    const named = byNumber([...tasks.map(({ key }) => key), ...archived])
    return {
      tasks: tasks.map(({ key, head }) => ({
        key,
        draft() {
          const milestone = milestoneOf(head.field('milestone'), path, sources)
          const depends = listIn(head.field('dependencies')).map(named)
          return foreignDraft({ ...factsOf(head, statuses), key, milestone, depends })
        },
        write: ({ status, at }) => editsOf(head, wordFor(status, statuses), at),
      })),
      archived,
    }
  },
  files: taskFiles,
}

/** 7 before 7.1 before 10. */
const NATURAL = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** The id at the start of a file name: `task-7 - Title.md`. */
const ID = /^[\p{L}\p{N}_]+-\d+(?:\.\d+)*/u

function taskFiles(path: string, tree: Tree): readonly string[] {
  const names = tree.list(within(path, 'tasks'))
  return names
    .filter((name) => ID.test(name) && name.endsWith('.md'))
    .map((name) => within(path, `tasks/${name}`))
}

function startsWithId(name: string, key: string): boolean {
  const lower = name.toLowerCase()
  return lower.startsWith(`${key.toLowerCase()} `) || lower === `${key.toLowerCase()}.md`
}

/** A project with a new id prefix may still refer to tasks by the old one: their numbers identify them. */
function byNumber(keys: readonly string[]): (need: string) => string {
  const numberOf = (key: string): string => key.slice(key.lastIndexOf('-') + 1)
  const exact = new Set(keys.map((key) => key.toLowerCase()))
  const numbers = new Map(keys.map((key) => [numberOf(key), key]))
  return (need) => (exact.has(need.toLowerCase()) ? need : (numbers.get(numberOf(need)) ?? need))
}

/** Its words for a task's status; the last one means done. */
function statusesOf(path: string, sources: Sources): readonly string[] {
  const files = ['config.yml', 'config.yaml'].map((name) => within(path, name))
  const file = files.find((one) => sources.tree.text(one) !== null)
  const words = (file === undefined ? null : sources.items(file, 'statuses')) ?? []
  const texts = words.flatMap((word) => (word.kind === 'scalar' ? [word.text] : []))
  return texts.length > 0 ? texts : ['To Do', 'In Progress', 'Done']
}

/** A task's file, with the fields of its frontmatter; a missing one is empty. */
interface Head {
  readonly source: Source
  readonly entries: ReadonlyMap<string, FrontmatterEntry>
  readonly field: (name: string) => string
  readonly bodyAt: number
}

function headIn(source: Source | null): Head | null {
  const place = source && frontmatterIn(source.text)
  if (!place) return null
  const reading = parseFrontmatter(source.text, place.yaml)
  if (reading?.error) source.report(reading.error.at, reading.error.message)
  if (!reading || reading.error) return null
  const entries = new Map(reading.entries.map((entry) => [entry.key, entry]))
  return { source, entries, field: (name) => entries.get(name)?.value ?? '', bodyAt: place.end }
}

function reportIds(heads: readonly Head[]): void {
  const seen = new Map<string, string>()
  for (const { field, source } of heads) {
    const id = field('id')
    const before = seen.get(id.toLowerCase())
    if (id === '') source.report(0, 'the task has no id')
    else if (before !== undefined) source.report(0, `the id ${id} is taken already, by ${before}`)
    seen.set(id.toLowerCase(), source.file)
  }
}

function factsOf({ source, entries, field, bodyAt }: Head, statuses: readonly string[]) {
  const word = field('status')
  const status = word === statuses.at(-1) ? 'DONE' : foreignStatus(word)
  if (status === undefined && !statuses.includes(word))
    source.report(entries.get('status')?.span.start ?? 0, `"${word}" is no status: ${statuses.join(', ')}`)
  const title = titleOf(field('title'))
  const body = sectionsOf(source.text.slice(bodyAt))
  const plan = [body.get('implementation plan'), body.get('implementation notes')]
  return {
    title,
    status: status ?? 'TODO',
    description: body.get('description') ?? body.get('') ?? title,
    criteria: readBoxes(body.get('acceptance criteria') ?? '').map(({ text, isTicked }) => ({
      text: text.replace(/^#\d+\s+/, ''),
      met: isTicked,
    })),
    hints: plan.filter(Boolean).join('\n\n'),
    priority: field('priority') || null,
    tags: listIn(field('labels')),
    place: source.placeOf(0),
  }
}

function listIn(text: string): readonly string[] {
  const items = text.split(',').map((item) => item.trim())
  return items.filter(Boolean)
}

/** A milestone may be given by its id: then its file has the name. */
function milestoneOf(text: string, path: string, sources: Sources): string | null {
  const number = /^m-(\d+)$/i.exec(text)?.[1]
  if (number === undefined) return text || null
  const files = sources.tree.list(within(path, 'milestones'))
  const file = files.find((name) => name.toLowerCase().startsWith(`${text.toLowerCase()} `))
  const head = file === undefined ? null : headIn(sources.open(within(path, `milestones/${file}`)))
  const name = head?.field('title') ?? ''
  return name === '' ? text : `${number} — ${name}`
}

/** The sections of a body by lower-case heading, without the markers around them. */
function sectionsOf(body: string): ReadonlyMap<string, string> {
  const plain = body.replaceAll(
    /^[ \t]*<!-- ?(?:SECTION:|AC:|DOD:|COMMENTS?:|COMMENT:)[^\r\n]*-->[ \t]*(?:\r\n|\n|\r|$)/gm,
    '',
  )
  const parts = ['', ...plain.split(/^## +(.+?) *#* *$/m)]
  const sections = new Map<string, string>()
  for (let at = 0; at < parts.length; at += 2) {
    const name = parts[at]!.toLowerCase().replace(/ \(optional\)$/, '')
    const text = parts[at + 1]!.trim()
    if (text !== '' && !sections.has(name)) sections.set(name, text)
  }
  return sections
}

/** The word for a status; most boards have none for blocked tasks: then theirs stays. */
function wordFor(status: Status, statuses: readonly string[]): string | undefined {
  if (status === 'BLOCKED') return statuses.find((word) => /blocked|on hold/i.test(word))
  return status === 'DONE' ? statuses.at(-1) : statuses[0]
}

function editsOf({ source, entries }: Head, word: string | undefined, at: Date): readonly Edit[] {
  const edit = (key: string, value: string): readonly Edit[] => {
    const entry = entries.get(key)
    if (!entry || entry.value === value) return []
    const quote = /^["']/.exec(source.text.slice(entry.valueSpan.start))?.[0] ?? ''
    return [{ source, ...entry.valueSpan, text: quote + value + quote }]
  }
  const status = word === undefined ? [] : edit('status', word)
  const isTimed = entries.get('updated_date')?.value.includes(':')
  const date = at
    .toISOString()
    .slice(0, isTimed ? 16 : 10)
    .replace('T', ' ')
  return status.length === 0 ? [] : [...status, ...edit('updated_date', date)]
}
