import { removeJson, setJson } from './edit.ts'
import { foreignDraft, titleOf, wholeStatus, within, type ForeignTask, type Format } from './format.ts'
import {
  byPriority,
  criteriaOf,
  eachHas,
  entriesOf,
  keyed,
  statusOf,
  type Edit,
  type Entry,
} from './source.ts'

/** The issues of Beads, each on its line. An issue with children is a milestone. */
export const beads: Format = {
  about: 'issues of Beads (.beads/issues.jsonl)',
  find(path, sources) {
    const name = sources.tree.list(path).find((one) => /^(?:issues|beads)\.jsonl$/.test(one))
    const file = name === undefined ? path : within(path, name)
    const items = file.endsWith('.jsonl') ? sources.items(file) : null
    return items && eachHas(items, 'title') ? file : null
  },
  read(path, sources) {
    const lines = entriesOf(sources.open(path)!, sources.items(path) ?? [], 'an issue')
    const sorted = lines.toSorted((one, other) => byPriority(one, other) || madeAt(one) - madeAt(other) || 0)
    const issues = new Map(keyed(sorted).map(({ entry, key }) => [key, issueOf(entry, key)]))
    const all = [...issues.values()]
    for (const issue of all) {
      issues.get(issue.parent)?.parts.push(issue)
      const top = familyOf(issue, issues).at(-1)!
      if (issues.has(top.parent))
        issue.entry.report('dependencies', `${issue.key} is its own parent, or below such an issue`)
    }
    const epics = all.filter(({ parts }) => parts.length > 0)
    return {
      tasks: all
        .filter(({ parts }) => parts.length === 0)
        .map((issue) => taskOf(issue, issues, 1 + epics.findIndex(({ key }) => key === issue.parent))),
    }
  },
}

interface Issue {
  readonly key: string
  readonly entry: Entry
  readonly status: ReturnType<typeof statusOf>
  /** The key of its parent; empty if it has none. */
  readonly parent: string
  readonly needs: readonly string[]
  readonly parts: Issue[]
}

type Issues = ReadonlyMap<string, Issue>

function madeAt(entry: Entry): number {
  return Date.parse(entry.text('created_at'))
}

/** Types of issues that agents write to each other, and nobody works on. */
const RECORDS = /^(?:message|event|gate|agent|role|rig|convoy|molecule|merge-request)$/

function issueOf(entry: Entry, key: string): Issue {
  const linked = (types: RegExp): readonly string[] =>
    entry
      .entries('dependencies')
      .flatMap((link) => (types.test(link.text('type') || 'blocks') ? link.text('depends_on_id') : []))
  return {
    key,
    entry,
    status: RECORDS.test(entry.text('issue_type')) ? 'dropped' : statusOf(entry),
    parent: linked(/^parent-child$/)[0] ?? '',
    needs: linked(/^(?:blocks|conditional-blocks|waits-for)$/),
    parts: [],
  }
}

/** An issue, its parent, the parent's parent and so on, each once. */
function familyOf(issue: Issue, issues: Issues): readonly Issue[] {
  const family: Issue[] = []
  for (let at: Issue | undefined = issue; at && !family.includes(at); at = issues.get(at.parent))
    family.push(at)
  return family
}

/** Its own needs and those of the issues above it; not those above it themselves, which wait for it. */
function dependsOf(issue: Issue, issues: Issues): readonly string[] {
  const family = familyOf(issue, issues)
  return family.flatMap((owner) =>
    owner.needs.flatMap((need) => {
      const needed = issues.get(need)
      if (!needed) return [need]
      if (family.includes(needed) || familyOf(needed, issues).includes(owner)) return []
      if (needed.parts.length === 0) return [need]
      const below = [...issues.values()].filter(({ parts }) => parts.length === 0)
      return below.flatMap((one) => (familyOf(one, issues).includes(needed) ? one.key : []))
    }),
  )
}

const WORDS = { TODO: 'open', DONE: 'closed', BLOCKED: 'blocked' } as const
const EPIC_WORDS = { completed: 'closed', in_progress: 'in_progress', pending: 'open' } as const

function taskOf(issue: Issue, issues: Issues, number: number): ForeignTask {
  const { key, entry, status } = issue
  const epic = issues.get(issue.parent)
  return {
    key,
    draft() {
      const title = titleOf(entry.text('title'))
      return foreignDraft({
        key,
        title,
        status,
        blockedReason: status === 'BLOCKED' ? `it is ${entry.text('status')} in its origin` : '',
        milestone: epic ? `${number} — ${titleOf(epic.entry.text('title'))}` : null,
        depends: dependsOf(issue, issues),
        description: entry.text('description') || title,
        background: epic?.entry.text('description')
          ? [[`Part of: ${titleOf(epic.entry.text('title'))}`, epic.entry.text('description')]]
          : [],
        criteria: criteriaOf(entry, 'acceptance_criteria'),
        hints: [entry.text('design'), entry.text('notes')].filter(Boolean).join('\n\n'),
        priority: entry.text('priority') || null,
        tags: entry.texts('labels'),
        place: entry.source.placeOf(entry.at),
      })
    },
    write({ status: end, at }) {
      const whole = epic && wholeStatus(epic.parts.map((one) => (one === issue ? end : one.status)))
      return [...marked(entry, WORDS[end], at), ...(whole ? marked(epic.entry, EPIC_WORDS[whole], at) : [])]
    },
  }
}

/** Beads takes the later `updated_at`, and refuses an open issue that was closed at some time. */
function marked(entry: Entry, word: string, at: Date): readonly Edit[] {
  return [
    ...setJson(entry, 'status', word),
    ...(word === 'closed' ? [] : removeJson(entry, 'closed_at')),
    ...setJson(entry, 'updated_at', at.toISOString()),
  ]
}
