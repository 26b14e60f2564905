import { sectionBodies } from '../../backlog/edit-section.ts'
import { type Comment, type Criterion, NO_DATE, OF_ALL } from '../../backlog/draft.ts'
import type { SectionName, Task } from '../../backlog/model.ts'
import { readOrigin } from '../../backlog/origin.ts'
import { isNone } from '../../backlog/values.ts'
import { foreignDraft, type ForeignDraft } from './draft.ts'

/** Converts a task back into a draft, for another format. The key is that of its origin, or its id. */
export function draftOfTask(task: Task, keyOf: (id: string) => string): ForeignDraft {
  const body = (name: SectionName): string => sectionBodies(task, name).join('\n\n').replaceAll('\r\n', '\n')
  const [description = '', ...rest] = body('Description').split(/^### (?=About |When the whole |Part of: )/m)
  return foreignDraft({
    key: keyOf(task.id),
    title: task.title,
    status: task.status ?? 'TODO',
    blockedReason: body('Blocked'),
    milestone: task.milestone,
    depends: task.depends.map(({ id }) => keyOf(id)),
    description: description.trim(),
    background: rest.map((part) => {
      const [heading = '', ...lines] = part.split('\n')
      return [heading.trim(), lines.join('\n').trim()] as const
    }),
    criteria: readCriteria(body('Acceptance Criteria')),
    hints: body('Hints'),
    touches: task.touches,
    produces: (task.produces ?? []).map(({ text }) => text),
    context: task.context,
    tags: task.tags,
    priority: task.priority,
    discipline: task.discipline,
    feature: task.feature,
    turns: task.turns,
    provenance: task.provenance,
    comments: readComments(body('Comments')),
    place: { file: task.file, line: 1, column: 1 },
  })
}

function readCriteria(text: string): readonly Criterion[] {
  const [own = '', all = ''] = text.split(`${OF_ALL}\n`)
  const items = (part: string): readonly Omit<Criterion, 'ofAll'>[] =>
    [...part.matchAll(/^[-*+] (?:\[([ xX])\] )?(.*(?:\n[ \t]+\S.*)*)/gm)].map(([, mark = ' ', item = '']) => {
      return {
        text: item
          .replace(/\s*\n\s*/g, ' ')
          .replaceAll('\\<', '<')
          .trim(),
        met: mark !== ' ',
      }
    })
  return [...items(own), ...items(all).map((one) => ({ ...one, ofAll: true }))].filter(
    ({ text: one }) => !isNone(one),
  )
}

function readComments(text: string): readonly Comment[] {
  return text.split(/^- (?=\*\*)/m).flatMap((part): readonly Comment[] => {
    const [head = '', ...lines] = part.split('\n')
    const [author, created = '', task = ''] = head.split(' · ')
    const named = /^\*\*(.*)\*\*$/.exec(author ?? '')?.[1]
    if (named === undefined) return []
    return [
      {
        author: named,
        created: created === NO_DATE ? '' : created,
        task,
        body: lines
          .map((line) => line.replace(/^ {2}/, ''))
          .join('\n')
          .trim(),
      },
    ]
  })
}

/** The key of each task: the one in its origin if that is such a file, otherwise its id. */
export function originKeys(tasks: readonly Task[], isFrom: RegExp): ReadonlyMap<string, string> {
  const keys = new Map<string, string>()
  const taken = new Set<string>()
  for (const task of tasks) {
    const origin = readOrigin(task.origin)
    const key = origin && isFrom.test(origin.path) && !taken.has(origin.key) ? origin.key : task.id
    keys.set(task.id, key)
    taken.add(key)
  }
  return keys
}
