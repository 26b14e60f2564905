import { linesOf } from '../../backlog/markdown/lines.ts'
import { readBoxes } from './boxes.ts'
import { foreignDraft, titleOf, type ForeignDraft } from './draft.ts'
import { setJson } from './edit.ts'
import type { Format } from './format.ts'
import { entriesOf, entryAt, keyed, type Entry, type Sources } from './source.ts'

/** The issues of a repository, as `gh issue list --json number,title,body,labels,milestone,state` prints them. */
export const githubIssues: Format = {
  about: 'issues of GitHub (gh issue list --json …)',
  find: (look) => {
    const value = look.value()
    const isIssue = (keys: ReadonlyMap<string, unknown>): boolean => keys.has('number') && keys.has('title')
    const found = value?.kind === 'list' && value.items.length > 0
    return found && value.items.every((item) => item.kind === 'table' && isIssue(item.entries))
      ? look.path
      : null
  },
  read(path, sources) {
    return { drafts: keyedIssues(path, sources).map(({ entry, key }) => draftIn(entry, key)) }
  },
  write(path, sources, { key, status }) {
    const issue = keyedIssues(path, sources).find((one) => one.key === key)?.entry
    if (!issue || isClosed(issue) === (status === 'DONE')) return new Map()
    const word = status === 'DONE' ? 'CLOSED' : 'OPEN'
    const state = /^[a-z]/.test(issue.text('state')) ? word.toLowerCase() : word
    return issue.source.edited(setJson(issue, 'state', state))
  },
}

function keyedIssues(path: string, sources: Sources): ReturnType<typeof keyed> {
  const file = sources.value(path)
  const issues = file?.value.kind === 'list' ? entriesOf(file.source, file.value, 'an issue') : []
  return keyed(
    issues.toSorted((one, other) => numberOf(one) - numberOf(other)),
    (issue) => issue.text('number'),
  )
}

function numberOf(issue: Entry): number {
  return Number(issue.text('number')) || 0
}

function isClosed(issue: Entry): boolean {
  return issue.text('state').toLowerCase() === 'closed'
}

const NEEDS = /\b(?:depends on|blocked by|requires|after)\b:?[ \t]*((?:(?:,|and|&)?[ \t]*#\d+)+)/gi

function draftIn(issue: Entry, key: string): ForeignDraft {
  const title = titleOf(issue.text('title'))
  const body = issue.text('body').replaceAll(/\r\n?/g, '\n')
  const boxes = readBoxes(body)
  const lines = new Set(boxes.map(({ markAt }) => body.lastIndexOf('\n', markAt) + 1))
  const rest = [...linesOf(body)].flatMap(({ text, at }) => (lines.has(at) ? [] : [text]))
  const milestone = issue.value('milestone')
  const named =
    milestone && milestone.kind === 'table' ? entryAt(issue.source, milestone, 'a milestone') : null
  const number = named?.text('number') ?? ''
  const name = named?.text('title') ?? ''
  return foreignDraft({
    key,
    title,
    status: isClosed(issue) ? 'DONE' : 'TODO',
    milestone: name === '' ? null : number === '' || /^\d/.test(name) ? name : `${number} — ${name}`,
    depends: [...body.matchAll(NEEDS)].flatMap(([, list = '']) => list.match(/\d+/g) ?? []),
    description: rest.join('\n').trim() || title,
    criteria: boxes.map(({ text, isTicked }) => ({ text, met: isTicked })),
    tags: issue.texts('labels'),
    place: issue.source.placeOf(issue.at),
  })
}
