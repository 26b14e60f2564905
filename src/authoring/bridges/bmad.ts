import type { Span } from '../../base/diagnostic.ts'
import { openCriteria } from '../../backlog/draft.ts'
import type { Status } from '../../backlog/model.ts'
import { readHeadings } from './boxes.ts'
import { setYaml } from './edit.ts'
import {
  chained,
  folderOf,
  foreignDraft,
  foreignStatus,
  grouped,
  nameOf,
  titleOf,
  within,
  wholeStatus,
  type ForeignDraft,
  type ForeignStatus,
  type Format,
} from './format.ts'
import { entryAt, openSources, type Edit, type Entry, type Source, type Sources } from './source.ts'
import type { Tree } from './tree.ts'

/** The stories of BMAD, in a folder or as their `sprint-status.yaml` lists them. A story's file is its task's context. */
export const bmad: Format = {
  about: 'stories of BMAD (docs/stories/1.1.story.md, sprint-status.yaml)',
  find(path, sources) {
    if (nameOf(path) === SPRINT) return sources.open(path) ? path : null
    if (sources.tree.list(path).includes(SPRINT)) return within(path, SPRINT)
    const folder = STORY.test(nameOf(path)) ? folderOf(path) : path
    const [first] = storyFiles(folder, sources.tree)
    return first !== undefined && statusPlace(sources.open(first)!.text) ? folder : null
  },
  read(path, sources, how) {
    const stories = path.endsWith('.yaml') ? sprintStories(path, sources) : folderStories(path, sources)
    const open = stories.filter(({ status }) => status !== 'dropped')
    const epics = grouped(open, ({ epic }) => epic)
    return {
      tasks: stories.map((story) => ({
        key: story.key,
        draft: () => draftOf(story, chained(epics.get(story.epic) ?? [], how)(story.key)),
        write: ({ status }) => [
          ...storyEdits(story, status),
          ...sprintEdits(
            story,
            status,
            epics.get(story.epic)!.map((one) => (one === story ? status : one.status)),
          ),
        ],
      })),
    }
  },
  files(path, tree) {
    if (!path.endsWith('.yaml')) return storyFiles(path, tree)
    return [path, ...storyFolders(path, openSources(tree)).flatMap((folder) => storyFiles(folder, tree))]
  },
}

const SPRINT = 'sprint-status.yaml'

/** `1.1.story.md`, `1.1.some-title.md` or `1-1-some-title.md`. */
const STORY = /^(\d+)[.-](\d+[a-z]?)[.-].*\.md$/

function storyFiles(folder: string, tree: Tree): readonly string[] {
  const names = tree.list(folder).filter((name) => STORY.test(name))
  return names.toSorted(NATURAL.compare).map((name) => within(folder, name))
}

const NATURAL = new Intl.Collator('en', { numeric: true })

interface Story {
  readonly key: string
  readonly epic: string
  readonly status: ForeignStatus
  /** The team's word for the status. */
  readonly word: string
  /** Null if it is not written yet. */
  readonly source: Source | null
  /** The map of `sprint-status.yaml` that holds its status. */
  readonly statuses?: Entry
  readonly place: ForeignDraft['place']
}

function folderStories(path: string, sources: Sources): readonly Story[] {
  return storyFiles(path, sources.tree).map((file) => {
    const source = sources.open(file)!
    const at = statusPlace(source.text)
    const word = at ? source.text.slice(at.start, at.end) : ''
    const [, epic = '', number] = STORY.exec(nameOf(file))!
    const key = file.endsWith('.story.md') ? `${epic}.${number}` : nameOf(file).slice(0, -'.md'.length)
    return {
      key,
      epic,
      status: statusOf(word, source, at?.start ?? 0),
      word,
      source,
      place: source.placeOf(0),
    }
  })
}

/** Where the files of stories may be: their place is named relative to the project. */
function storyFolders(path: string, sources: Sources): readonly string[] {
  const named = sources.root(path, 'an object with "development_status"')?.text('story_location') ?? ''
  const location = named.replace(/^\{project-root\}\/|^\.\//, '').replace(/\/$/, '')
  const own = /^\/|(?:^|\/)\.\.(?:\/|$)/.test(location) || location === '' ? [] : [location]
  return [folderOf(path), within(folderOf(path), 'stories'), ...own]
}

function sprintStories(path: string, sources: Sources): readonly Story[] {
  const source = sources.open(path)!
  const map = sources.root(path, 'an object with "development_status"')?.value('development_status')
  const statuses = map && entryAt(source, map, 'a map of stories')
  if (!statuses) return []
  const folders = storyFolders(path, sources)
  const stories = [...statuses.table.entries].flatMap(([key, { span }]): readonly Story[] => {
    const epic = /^(\d+)-\d+[a-z]?-/.exec(key)?.[1]
    if (epic === undefined) return []
    const files = folders.map((folder) => sources.open(within(folder, `${key}.md`)))
    const story = files.find((file) => file !== null) ?? null
    const word = statuses.text(key)
    const status = story ? statusOf(word, source, span.start) : 'dropped'
    return [{ key, epic, status, word, source: story, statuses, place: source.placeOf(span.start) }]
  })
  const missing = stories.filter((story) => story.source === null).length
  if (missing > 0)
    source.report(
      statuses.at,
      `${missing} of ${stories.length} stories have no file yet: left out`,
      'warning',
    )
  return stories
}

/** A story that nobody has approved, or that waits for a person's review, is nothing for an agent. */
function statusOf(word: string, source: Source, at: number): ForeignStatus {
  const plain = word.replaceAll(/[^\p{L}\s-]/gu, ' ').trim()
  if (/^(?:draft|backlog|(?:ready[\s-]*for[\s-]*|in[\s-]*)?review)/i.test(plain)) return 'BLOCKED'
  if (/^(?:approved|ready|in[\s-]*progress)/i.test(plain)) return 'TODO'
  const status = foreignStatus(/^\p{L}*/u.exec(plain)![0])
  if (status === undefined)
    source.report(at, `"${word}" is no status of a story: it is blocked here`, 'warning')
  return status ?? 'BLOCKED'
}

/** Where the status is: in a section of its own, or in a line above all sections. */
function statusPlace(text: string): Span | null {
  const headings = readHeadings(text)
  const index = headings.findIndex((heading) => /^status$/i.test(heading.text))
  const section = headings.find(({ depth }) => depth > 1)
  const [from, to] =
    index < 0
      ? [0, section?.at ?? text.length]
      : [headings[index]!.bodyAt, headings[index + 1]?.at ?? text.length]
  const pattern =
    index < 0
      ? /^[ \t>*-]*status[*]*[ \t]*[:：][ \t*]*([^\s*][^\r\n*]*)/im
      : /^[ \t>*-]*(?:status[*]*[:：][ \t*]*)?([^\s>*-][^\r\n*]*)/im
  const found = pattern.exec(text.slice(from, to))
  if (!found) return null
  const word = found[1]!.trimEnd()
  const start = from + found.index + found[0].length - found[1]!.length
  return { start, end: start + word.length }
}

function draftOf(story: Story, depends: readonly string[]): ForeignDraft {
  const { key, epic, status, word, source, place } = story
  const text = source?.text ?? ''
  const headings = readHeadings(text)
  const section = (title: RegExp): string => {
    const index = headings.findIndex((heading) => heading.depth === 2 && title.test(heading.text))
    const next = headings.slice(index + 1).find(({ depth }) => depth <= 2)
    return index < 0 ? '' : text.slice(headings[index]!.bodyAt, next?.at).trim()
  }
  const [, title = key] = /^(?:story\s+)?(?:[\d.]+\s*[:：–—-]\s*)?(.+)/i.exec(headings[0]?.text ?? '') ?? []
  const criteria = section(/^acceptance criteria/i)
  const items = [
    ...criteria.matchAll(/^(?:\d+[.)]|[-*+])[ \t]+(?:\[[ xX]\][ \t]+)?(.+(?:\r?\n(?:[ \t].*)?$)*)/gm),
  ]
  return foreignDraft({
    key,
    title: titleOf(title),
    status,
    blockedReason: status === 'BLOCKED' ? `its story is "${word}"` : '',
    milestone: `${epic} — Epic ${epic}`,
    depends,
    description: section(/^(?:user )?story/i) || title,
    background: items.length === 0 && criteria !== '' ? [['Acceptance Criteria of the story', criteria]] : [],
    criteria: openCriteria(items.map(([, item = '']) => item.replace(/\s+/g, ' ').trim())),
    hints: section(/^tasks/i),
    context: source ? [source.file] : [],
    place,
  })
}

const WORDS = { DONE: ['done', 'Done'], TODO: ['ready-for-dev', 'Approved'], BLOCKED: [] } as const

function storyEdits({ source, statuses }: Story, status: Status): readonly Edit[] {
  const place = source && statusPlace(source.text)
  const word = WORDS[status][statuses ? 0 : 1]
  return place && word !== undefined ? [{ source, ...place, text: word }] : []
}

/** The epic is done with its last story. */
function sprintEdits({ key, epic, statuses }: Story, status: Status, all: readonly ForeignStatus[]) {
  const [word] = WORDS[status]
  const map = statuses?.table.entries
  const below = map?.get(key)
  if (!statuses || !map || !below || word === undefined) return []
  const name = `epic-${epic}`
  const isDone = wholeStatus(all) === 'completed'
  const isChanged = map.has(name) && isDone !== (statuses.text(name) === 'done')
  return [
    ...setYaml(statuses, key, word, below),
    ...(isChanged ? setYaml(statuses, name, isDone ? 'done' : 'in-progress', below) : []),
  ]
}
