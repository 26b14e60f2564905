import { openCriteria } from '../../backlog/draft.ts'
import { foreignDraft, foreignStatus, titleOf, type ForeignDraft, type ForeignStatus } from './draft.ts'
import { folderOf, nameOf, within, type Format } from './format.ts'
import { keyReader, type Entry, type Sources } from './source.ts'

/** A request planned by an orchestrator: `.ralph/tasks/task-001.json`, with a state file beside it, which ralph never writes. */
export const orchestrator: Format = {
  about: 'a planned request (.ralph/tasks/task-001.json)',
  find: ({ path, names, sources }) => {
    const folder = names === null ? folderOf(path) : nameOf(path) === 'tasks' ? folderOf(path) : path
    const isPart = names !== null || nameOf(path) === 'state.json' || TASK_FILE.test(nameOf(path))
    const root = names === null && nameOf(folder) === 'tasks' ? folderOf(folder) : folder
    return isPart && taskFiles(within(root, 'tasks'), sources).length > 0 ? within(root, 'tasks') : null
  },
  read(path, sources) {
    const folder = folderOf(path)
    const state = stateOf(within(folder, 'state.json'), sources)
    const context = ['prd.md', 'research.json', 'decisions.json']
      .map((name) => within(folder, name))
      .filter((file) => sources.tree.text(file) !== null)
    const readKey = keyReader()
    const drafts = taskFiles(path, sources).flatMap((file): readonly ForeignDraft[] => {
      const task = sources.root(file, 'an object with a task')
      if (!task) return []
      const key = readKey(task, task.text('id', 'task_id') || nameOf(file).replace(/\.json$/, ''))
      const word = (key !== null && state.statuses.get(key)) || task.text('status')
      const status = foreignStatus(word)
      if (status === undefined) task.report('status', `"${word}" is no status that ralph knows`)
      return key === null ? [] : [draftIn(task, { key, status: status ?? 'TODO', context })]
    })
    const place = (draft: ForeignDraft): number => {
      const at = state.order.indexOf(draft.key)
      return at < 0 ? Infinity : at
    }
    return { drafts: drafts.toSorted((one, other) => place(one) - place(other) || 0) }
  },
  files: (path, sources) => [...taskFiles(path, sources), within(folderOf(path), 'state.json')],
}

const TASK_FILE = /^[\w.-]*task[\w.-]*\.json$/i

function taskFiles(folder: string, { tree }: Sources): readonly string[] {
  const names = tree.list(folder).filter((name) => TASK_FILE.test(name) && name !== 'tasks.json')
  return names.map((name) => within(folder, name))
}

interface State {
  readonly order: readonly string[]
  readonly statuses: ReadonlyMap<string, string>
}

function stateOf(file: string, sources: Sources): State {
  const state = sources.root(file, 'the state of a request')
  const statuses = state?.value('task_statuses')
  return {
    order: state?.texts('task_order') ?? [],
    statuses: new Map(
      statuses?.kind === 'table'
        ? [...statuses.entries].flatMap(([key, value]) =>
            value.kind === 'scalar' ? [[key, value.text]] : [],
          )
        : [],
    ),
  }
}

/** The names of its keys vary between tools. */
function draftIn(
  task: Entry,
  {
    key,
    status,
    context,
  }: { readonly key: string; readonly status: ForeignStatus; readonly context: readonly string[] },
): ForeignDraft {
  const description = task.text('description', 'details', 'body', 'prompt')
  const title = titleOf(task.text('title', 'name', 'summary') || description)
  return foreignDraft({
    key,
    title,
    status,
    milestone: task.text('milestone', 'epic', 'group') || null,
    depends: task.texts('dependencies', 'depends_on', 'dependsOn', 'blocked_by'),
    description: description || title,
    criteria: openCriteria(
      task.texts(
        'acceptance_criteria',
        'acceptanceCriteria',
        'criteria',
        'success_criteria',
        'test_criteria',
      ),
    ),
    hints: task.texts('hints', 'notes', 'implementation_notes').join('\n\n'),
    touches: task.texts('files', 'files_to_modify', 'files_affected', 'touches'),
    produces: task.texts('outputs', 'files_to_create', 'output_files', 'produces'),
    priority: task.text('priority') || null,
    context,
    place: task.source.placeOf(task.at),
  })
}
