import { linesOf } from '../../backlog/markdown/lines.ts'
import { readBoxes } from './boxes.ts'
import { setJson } from './edit.ts'
import { foreignDraft, titleOf, type ForeignDraft, type Format } from './format.ts'
import { eachHas, entriesOf, entryAt, keyed, type Entry } from './source.ts'

/** The issues of a repository, as `gh issue list --json number,title,body,labels,milestone,state` prints them. */
export const githubIssues: Format = {
  about: 'issues of GitHub (github:owner/repo, gh issue list --json …)',
  find(path, sources) {
    const items = sources.items(path) ?? []
    if (path.startsWith('github:')) return path
    return items.length > 0 && eachHas(items, 'number') && eachHas(items, 'title') ? path : null
  },
  read(path, sources) {
    const issues = entriesOf(sources.open(path)!, sources.items(path) ?? [], 'an issue')
    const sorted = issues.toSorted((one, other) => numberIn(one) - numberIn(other))
    return {
      tasks: keyed(sorted, (issue) => issue.text('number')).map(({ entry, key }) => ({
        key,
        draft: () => draftOf(entry, key),
        write({ status }) {
          if (isClosed(entry) === (status === 'DONE')) return []
          const word = status === 'DONE' ? 'CLOSED' : 'OPEN'
          return setJson(entry, 'state', /^[a-z]/.test(entry.text('state')) ? word.toLowerCase() : word)
        },
      })),
    }
  },
}

function numberIn(issue: Entry): number {
  return Number(issue.text('number')) || 0
}

function isClosed(issue: Entry): boolean {
  return issue.text('state').toLowerCase() === 'closed'
}

const NEEDS = /\b(?:depends on|blocked by|requires|after)\b:?[ \t]*((?:(?:,|and|&)?[ \t]*#\d+)+)/gi

function draftOf(issue: Entry, key: string): ForeignDraft {
  const title = titleOf(issue.text('title'))
  const body = issue.text('body').replaceAll(/\r\n?/g, '\n')
  const boxes = readBoxes(body)
  const lines = new Set(boxes.map(({ markAt }) => body.lastIndexOf('\n', markAt) + 1))
  const shown = [...linesOf(body)].filter(({ kind }) => kind !== 'comment')
  const rest = shown.flatMap(({ text, at }) => (lines.has(at) ? [] : [text]))
  const prose = shown.filter(({ kind }) => kind !== 'fenced' && kind !== 'quote').map(({ text }) => text)
  return foreignDraft({
    key,
    title,
    status: isClosed(issue) ? 'DONE' : 'TODO',
    milestone: milestoneOf(issue),
    depends: [...prose.join('\n').matchAll(NEEDS)].flatMap(([, list = '']) => list.match(/\d+/g) ?? []),
    description: rest.join('\n').trim() || title,
    criteria: boxes.map(({ text, isTicked }) => ({ text, met: isTicked })),
    tags: issue.entries('labels').map((label) => label.text('name')),
    place: issue.source.placeOf(issue.at),
  })
}

function milestoneOf(issue: Entry): string | null {
  const value = issue.value('milestone')
  const milestone = value?.kind === 'table' ? entryAt(issue.source, value, 'a milestone') : null
  const [number, name] = [milestone?.text('number'), milestone?.text('title')]
  if (!name) return null
  return !number || /^\d/.test(name) ? name : `${number} — ${name}`
}
