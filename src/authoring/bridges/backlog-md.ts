import { frontmatterIn } from '../../backlog/markdown/lines.ts'
import { parseFrontmatter, type FrontmatterEntry } from '../../backlog/markdown/frontmatter.ts'
import { readBoxes } from './boxes.ts'
import { foreignDraft, foreignStatus, titleOf, type ForeignDraft } from './draft.ts'
import { folderOf, nameOf, within, type Format, type OriginEnd } from './format.ts'
import type { Source, Sources } from './source.ts'
import { readYamlValue } from './value.ts'

/** Backlog.md: one file for each task in `backlog/tasks/`, with frontmatter, and sections between markers. */
export const backlogMd: Format = {
  about: 'Backlog.md (backlog/tasks/)',
  find: ({ path, names, sources, source }) => {
    if (names === null) {
      const folder = folderOf(path)
      return nameOf(folder) === 'tasks' && idIn(source()) !== null ? folderOf(folder) : null
    }
    const folder = nameOf(path) === 'tasks' ? folderOf(path) : path
    const files = taskFiles(folder, sources).slice(0, 5)
    return files.some((file) => idIn(sources.open(file)) !== null) ? folder : null
  },
  read(path, sources) {
    const statuses = statusesOf(path, sources)
    const seen = new Map<string, string>()
    const drafts = taskFiles(path, sources).flatMap((file) => {
      const source = sources.open(file)
      const draft = draftIn(source, { path, sources, statuses })
      if (!draft) return []
      const key = draft.key.toLowerCase()
      const before = seen.get(key)
      if (before !== undefined) source?.report(0, `the id ${draft.key} is taken already, by ${before}`)
      seen.set(key, file)
      return [draft]
    })
    const sorted = drafts.toSorted((one, other) => NATURAL.compare(one.key, other.key))
    const archived = archivedIn(path, sources)
    const named = byNumber([...sorted.map(({ key }) => key), ...archived])
    return { drafts: sorted.map((draft) => ({ ...draft, depends: draft.depends.map(named) })), archived }
  },
  files: taskFiles,
  write: written,
}

/** 7 before 7.1 before 10. */
const NATURAL = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** A project with a new id prefix may still refer to tasks by the old one: their numbers identify them. */
function byNumber(keys: readonly string[]): (need: string) => string {
  const numberOf = (key: string): string => key.slice(key.lastIndexOf('-') + 1)
  const exact = new Set(keys.map((key) => key.toLowerCase()))
  const numbers = new Map(keys.map((key) => [numberOf(key), key]))
  return (need) => (exact.has(need.toLowerCase()) ? need : (numbers.get(numberOf(need)) ?? need))
}

function taskFiles(path: string, { tree }: Sources): readonly string[] {
  const folder = within(path, 'tasks')
  return tree
    .list(folder)
    .flatMap((name) => (/^[\p{L}\p{N}_]+-\d.*\.md$/u.test(name) ? [`${folder}/${name}`] : []))
}

/** The ids in the file names of finished or archived tasks: `task-7 - Title.md`. */
function archivedIn(path: string, { tree }: Sources): readonly string[] {
  const names = ['completed', 'archive/tasks'].flatMap((folder) => tree.list(within(path, folder)))
  return names.flatMap((name) => /^[\p{L}\p{N}_]+-\d+(?:\.\d+)*/u.exec(name)?.[0] ?? [])
}

/** Its words for a task's status; the last one means done. */
function statusesOf(path: string, sources: Sources): readonly string[] {
  const file = ['config.yml', 'config.yaml']
    .map((name) => within(path, name))
    .find((name) => sources.tree.text(name) !== null)
  const read = file === undefined ? null : readYamlValue(sources.tree.text(file) ?? '')
  const list = read?.ok && read.value.kind === 'table' ? read.value.entries.get('statuses') : undefined
  const words =
    list?.kind === 'list' ? list.items.flatMap((item) => (item.kind === 'scalar' ? [item.text] : [])) : []
  return words.length > 0 ? words : ['To Do', 'In Progress', 'Done']
}

interface Head {
  readonly entries: ReadonlyMap<string, FrontmatterEntry>
  readonly bodyAt: number
}

function headOf(source: Source | null): Head | null {
  const place = source && frontmatterIn(source.text)
  if (!place) return null
  const reading = parseFrontmatter(source.text, place.yaml)
  if (reading.kind === 'error') source.report(reading.at, reading.message)
  if (reading.kind !== 'entries') return null
  return { entries: new Map(reading.entries.map((entry) => [entry.key, entry])), bodyAt: place.end }
}

function idIn(source: Source | null): string | null {
  return headOf(source)?.entries.get('id')?.value ?? null
}

function draftIn(
  source: Source | null,
  around: { readonly path: string; readonly sources: Sources; readonly statuses: readonly string[] },
): ForeignDraft | null {
  const head = headOf(source)
  if (!source || !head) return null
  const field = (name: string): string => head.entries.get(name)?.value ?? ''
  const list = (name: string): readonly string[] =>
    field(name)
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean)
  const key = field('id')
  if (key === '') {
    source.report(0, 'the task has no id')
    return null
  }
  const word = field('status')
  const status = word === around.statuses.at(-1) ? 'DONE' : foreignStatus(word)
  if (status === undefined && !around.statuses.includes(word))
    source.report(
      head.entries.get('status')?.span.start ?? 0,
      `"${word}" is no status: ${around.statuses.join(', ')}`,
    )
  const title = titleOf(field('title'))
  const body = sectionsOf(source.text.slice(head.bodyAt))
  const plan = [body.get('implementation plan'), body.get('implementation notes')]
    .filter(Boolean)
    .join('\n\n')
  return foreignDraft({
    key,
    title,
    status: status ?? 'TODO',
    milestone: milestoneOf(field('milestone'), around),
    depends: list('dependencies'),
    description: body.get('description') ?? body.get('') ?? title,
    criteria: readBoxes(body.get('acceptance criteria') ?? '').map(({ text, isTicked }) => ({
      text: text.replace(/^#\d+\s+/, ''),
      met: isTicked,
    })),
    hints: plan,
    priority: field('priority') || null,
    tags: list('labels'),
    place: { ...source.placeOf(0) },
  })
}

/** A milestone may be given by its id: then its file has the name. */
function milestoneOf(
  text: string,
  { path, sources }: { readonly path: string; readonly sources: Sources },
): string | null {
  if (text === '') return null
  const number = /^m-(\d+)$/i.exec(text)?.[1]
  if (number === undefined) return text
  const file = sources.tree
    .list(within(path, 'milestones'))
    .find((name) => name.toLowerCase().startsWith(`${text.toLowerCase()} `))
  const head = file === undefined ? null : headOf(sources.open(within(path, `milestones/${file}`)))
  const name = head?.entries.get('title')?.value ?? ''
  return name === '' ? text : `${number} — ${name}`
}

/** The sections of a body by lower-case heading, without the markers around them. */
function sectionsOf(body: string): ReadonlyMap<string, string> {
  const plain = body.replaceAll(
    /^[ \t]*<!-- ?(?:SECTION:|AC:|DOD:|COMMENTS?:|COMMENT:)[^\r\n]*-->[ \t]*(?:\r\n|\n|\r|$)/gm,
    '',
  )
  const parts = plain.split(/^## +(.+?) *#* *$/m)
  const sections = new Map<string, string>(
    [['', (parts[0] ?? '').trim()]].filter(([, text]) => text !== '') as [string, string][],
  )
  for (let at = 1; at < parts.length; at += 2) {
    const name = parts[at]!.toLowerCase().replace(/ \(optional\)$/, '')
    const text = (parts[at + 1] ?? '').trim()
    if (text !== '' && !sections.has(name)) sections.set(name, text)
  }
  return sections
}

function written(path: string, sources: Sources, { key, status }: OriginEnd): ReadonlyMap<string, string> {
  const statuses = statusesOf(path, sources)
  const file = taskFiles(path, sources).find((name) => startsWithId(nameOf(name), key)) ?? null
  const source = file === null ? null : sources.open(file)
  const entry = headOf(source)?.entries.get('status')
  const word = status === 'DONE' ? statuses.at(-1) : status === 'TODO' ? statuses[0] : blockedWord(statuses)
  if (!source || !entry || word === undefined || entry.value === word) return new Map()
  const quote = /^["']/.exec(source.text.slice(entry.valueSpan.start))?.[0] ?? ''
  return source.edited([{ ...entry.valueSpan, text: quote + word + quote }])
}

function startsWithId(name: string, key: string): boolean {
  const lower = name.toLowerCase()
  return lower.startsWith(`${key.toLowerCase()} `) || lower === `${key.toLowerCase()}.md`
}

/** Most boards have no status for blocked tasks: then the status stays. */
function blockedWord(statuses: readonly string[]): string | undefined {
  return statuses.find((word) => /blocked|on hold/i.test(word))
}
