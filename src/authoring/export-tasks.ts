import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { UserError } from '../base/errors.ts'
import { tasksJsoncText } from './bridges/change.ts'
import { tasksYaml, yamlList } from './bridges/db.ts'
import { disciplineRows, featureRows, type NamedText } from './bridges/db-documents.ts'
import { draftOfTask, originKeys } from './bridges/from-task.ts'
import type { ForeignDraft } from './bridges/draft.ts'
import { implementationText } from './bridges/implementation.ts'
import type { ExportName } from '../backlog/formats.ts'
import { DISCIPLINES, FEATURES, namesIn } from '../prompt/library.ts'
import { initialState } from './bridges/run-state.ts'
import type { Task } from '../backlog/model.ts'
import type { Project } from '../config/project.ts'

/** The backlog in another tool's format: a text for each file; most formats have one file, without a name. */
export async function exportedTexts(
  project: Pick<Project, 'root' | 'tasks'>,
  as: ExportName,
  now: Date,
): Promise<ReadonlyMap<string, string>> {
  const { root, tasks } = project
  switch (as) {
    case 'implementation':
      return new Map([['', implementationText(draftsOf(tasks, /(?:^|\/)implementation\.json$/), now)]])
    case 'tasks-jsonc':
      return new Map([['', tasksJsoncText(draftsOf(tasks, /(?:^|\/)tasks\.jsonc$/))]])
    case 'state':
      return new Map([['', jsonText({ ...initialState(tasks, now), phase: phaseOf(tasks) })]])
    case 'json':
      return new Map([['', jsonText({ version: 1, tasks: draftsOf(tasks, /^$/).map(jsonOf) })]])
    case 'db':
      return new Map([
        ['disciplines.yaml', yamlList(await disciplineRows(await textsIn(root, DISCIPLINES)))],
        ['features.yaml', yamlList(await featureRows(await textsIn(root, FEATURES)))],
        ['tasks.yaml', dbTasks(tasks)],
      ])
  }
}

function draftsOf(tasks: readonly Task[], isFrom: RegExp): readonly ForeignDraft[] {
  const keys = originKeys(tasks, isFrom)
  return tasks.map((task) => draftOfTask(task, (id) => keys.get(id) ?? id))
}

/** The tasks keep their imported numbers, if each has one and no number occurs twice. */
function dbTasks(tasks: readonly Task[]): string {
  const drafts = draftsOf(tasks, /\.ya?ml$/)
  const areNumbers = drafts.every(({ key }) => /^\d+$/.test(key))
  const own = new Map(
    drafts.map((draft, index) => [draft, areNumbers ? Number(draft.key) : (tasks[index]?.number ?? 0)]),
  )
  return tasksYaml(drafts, (draft) => own.get(draft) ?? 0)
}

function phaseOf(tasks: readonly Task[]): string {
  if (tasks.some(({ status }) => status === 'BLOCKED')) return 'failed'
  return tasks.every(({ status }) => status === 'DONE') ? 'completed' : 'planning_complete'
}

function jsonOf({ key, title, place, ...draft }: ForeignDraft): object {
  return { id: key, title, file: place.file, ...draft, isDropped: undefined }
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

async function textsIn(
  root: string,
  folder: typeof DISCIPLINES | typeof FEATURES,
): Promise<readonly NamedText[]> {
  const names = namesIn(root, folder)
  return names.map((name) => ({ name, text: readFileSync(join(root, folder, `${name}.md`), 'utf8') }))
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
