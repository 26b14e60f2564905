import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { UserError } from '../base/errors.ts'
import { type Comment, type Criterion, NO_DATE, OF_ALL } from '../backlog/draft.ts'
import { sectionBodies } from '../backlog/edit-section.ts'
import type { ExportName } from '../backlog/formats.ts'
import type { SectionName, Task } from '../backlog/model.ts'
import { readOrigin } from '../backlog/origin.ts'
import { isNone } from '../backlog/values.ts'
import type { Project } from '../config/project.ts'
import { DISCIPLINES, FEATURES, namesIn } from '../prompt/library.ts'
import { tasksJsoncText } from './bridges/change.ts'
import { tasksYaml, yamlList } from './bridges/db.ts'
import { disciplineRow, featureRow } from './bridges/db-documents.ts'
import { beside, foreignDraft, nameOf, type ForeignDraft } from './bridges/format.ts'
import { FORMATS } from './bridges/formats.ts'
import { implementationText } from './bridges/implementation.ts'
import { exportedState } from './bridges/run-state.ts'
import { originNow } from './export-origin.ts'

/**
 * The backlog in another tool's format: a text for each file; most formats have one file, without a name. Where tasks came
 * from such a backlog and have only been worked on, it is that one, with their statuses.
 */
export async function exportedTexts(
  { root, tasks }: Pick<Project, 'root' | 'tasks'>,
  as: ExportName,
  { now, isPrinted }: { now: Date; isPrinted: boolean },
): Promise<ReadonlyMap<string, string>> {
  const project = { root, tasks, now }
  switch (as) {
    case 'implementation': {
      const textOf = (some: readonly Task[]) =>
        implementationText(draftsOf(some, /(?:^|\/)implementation\.json$/), now)
      const origin = await originNow(project, 'implementation', textOf)
      return new Map([['', origin?.tree.text(origin.path) ?? textOf(tasks)]])
    }
    case 'tasks-jsonc': {
      const textOf = (some: readonly Task[]) => tasksJsoncText(draftsOf(some, /(?:^|\/)tasks\.jsonc$/))
      const origin = await originNow(project, 'change', textOf)
      const files = origin?.path.endsWith('.jsonc') ? FORMATS.change.files!(origin.path, origin.tree) : []
      // What is printed is one file.
      if (!origin || files.length === 0 || (isPrinted && files.length > 1))
        return new Map([['', textOf(tasks)]])
      return new Map(
        files.map((file, index) => [index === 0 ? '' : `../${nameOf(file)}`, origin.tree.text(file) ?? '']),
      )
    }
    case 'state':
      return new Map([['', jsonText(exportedState(tasks, now, join(root, '.ralph/state.json')))]])
    case 'json':
      return new Map([['', jsonText({ version: 1, tasks: draftsOf(tasks, /^$/).map(jsonOf) })]])
    case 'db': {
      const arePlain = tasks.every(({ number }) => typeof number === 'number')
      const textOf = (some: readonly Task[]) =>
        tasksYaml(
          draftsOf(some, /\.ya?ml$/),
          some.map(({ number }, index) => (arePlain ? Number(number) : index + 1)),
        )
      const origin = await originNow(project, 'db', textOf)
      const there = (name: string): string | null => origin && origin.tree.text(beside(origin.path, name))
      return new Map([
        [
          'disciplines.yaml',
          there('disciplines.yaml') ??
            yamlList('disciplines', await rowsIn(root, DISCIPLINES, disciplineRow)),
        ],
        [
          'features.yaml',
          there('features.yaml') ?? yamlList('features', await rowsIn(root, FEATURES, featureRow)),
        ],
        ['tasks.yaml', origin?.tree.text(origin.path) ?? textOf(tasks)],
      ])
    }
  }
}

function rowsIn(
  root: string,
  folder: Parameters<typeof namesIn>[1],
  rowOf: typeof featureRow,
): Promise<readonly object[]> {
  const names = namesIn(root, folder)
  return Promise.all(names.map((name) => rowOf(name, readFileSync(join(root, folder, `${name}.md`), 'utf8'))))
}

function jsonOf({ key, title, place, ...draft }: ForeignDraft): object {
  return { id: key, title, file: place.file, ...draft, isDropped: undefined }
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** The tasks as drafts. The key of each is the one in its origin, if that is such a file; otherwise its id. */
function draftsOf(tasks: readonly Task[], isFrom: RegExp): readonly ForeignDraft[] {
  const keys = new Map<string, string>()
  const taken = new Set<string>()
  for (const { id, origin } of tasks) {
    const from = readOrigin(origin)
    const key = from && isFrom.test(from.path) && !taken.has(from.key) ? from.key : id
    keys.set(id, key)
    taken.add(key)
  }
  return tasks.map((task) => draftOf(task, (id) => keys.get(id) ?? id))
}

function draftOf(task: Task, keyOf: (id: string) => string): ForeignDraft {
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
    attempts: readComments(body('Previous Attempts')),
    place: { file: task.file, line: 1, column: 1 },
  })
}

function readCriteria(text: string): readonly Criterion[] {
  const [own = '', all = ''] = text.split(`${OF_ALL}\n`)
  const items = (part: string): readonly Criterion[] =>
    [...part.matchAll(/^[-*+] (?:\[([ xX])\] )?(.*(?:\n[ \t]+\S.*)*)/gm)].map(([, mark = ' ', item = '']) => {
      const line = item.replace(/\s*\n\s*/g, ' ')
      return { text: line.replaceAll('\\<', '<').trim(), met: mark !== ' ' }
    })
  const criteria = [...items(own), ...items(all).map((one) => ({ ...one, ofAll: true }))]
  return criteria.filter((one) => !isNone(one.text))
}

function readComments(text: string): readonly Comment[] {
  return text.split(/^- (?=\*\*)/m).flatMap((part): readonly Comment[] => {
    const [head = '', ...lines] = part.split('\n')
    const [name = '', created = '', task = ''] = head.split(' · ')
    const author = /^\*\*(.*)\*\*$/.exec(name)?.[1]
    const body = lines.map((line) => line.replace(/^ {2}/, ''))
    if (author === undefined) return []
    return [{ author, created: created === NO_DATE ? '' : created, task, body: body.join('\n').trim() }]
  })
}

/** Writes the texts to new files; never replaces a file, which may be another tool's state, or a person's work. */
export function writeExport(
  cwd: string,
  output: string,
  texts: ReadonlyMap<string, string>,
): readonly string[] {
  const files = [...texts].map(([name, text]) => ({ path: resolve(cwd, output, name), text }))
  const there = files.find(({ path }) => existsSync(path))
  if (there)
    throw new UserError(
      `${there.path} is there already, and nothing is overwritten`,
      'Name another file, or remove this one first.',
    )
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: 'wx' })
  }
  return files.map(({ path }) => path)
}
