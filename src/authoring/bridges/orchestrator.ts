import { openCriteria } from '../../backlog/draft.ts'
import {
  foreignDraft,
  folderOf,
  nameOf,
  titleOf,
  within,
  type ForeignDraft,
  type ForeignStatus,
  type Format,
} from './format.ts'
import { entryAt, keyed, statusOf, type Entry } from './source.ts'
import type { Tree } from './tree.ts'

/** A request planned by an orchestrator: `.ralph/tasks/task-001.json`, with a state file beside it. */
export const orchestrator: Format = {
  about: 'a planned request (.ralph/tasks/task-001.json)',
  isReadOnly: true,
  find(path, { tree }) {
    const isFile = nameOf(path) === 'state.json' || TASK_FILE.test(nameOf(path))
    const folder = isFile ? folderOf(path) : path
    const tasks = nameOf(folder) === 'tasks' ? folder : within(folder, 'tasks')
    return taskFiles(tasks, tree).length > 0 ? tasks : null
  },
  read(path, sources) {
    const folder = folderOf(path)
    const state = sources.root(within(folder, 'state.json'), 'the state of a request')
    const statuses = state?.value('task_statuses')
    const wordIn = (task: Entry, key: string): string => {
      const known = statuses?.kind === 'table' ? statuses.entries.get(key) : undefined
      return known?.kind === 'scalar' && known.text !== '' ? known.text : task.text('status')
    }
    const last = state?.value('last_failure')
    const failure = last && entryAt(state!.source, last, 'the last failure')
    const attemptsOf = (key: string, word: string): ForeignDraft['attempts'] => {
      const isLast = failure?.text('task_id') === key
      if (!isLast && word !== 'failed') return []
      const body = (isLast && failure.text('error_message')) || 'It failed there; why is not known.'
      return [{ author: 'agent', created: isLast ? failure.text('failed_at') : '', task: '', body }]
    }
    const order = state?.texts('task_order') ?? []
    const placeOf = (key: string): number => (order.includes(key) ? order.indexOf(key) : Infinity)
    const context = ['prd.md', 'research.json', 'decisions.json']
      .map((name) => within(folder, name))
      .filter((file) => sources.tree.text(file) !== null)
    const entries = taskFiles(path, sources.tree).flatMap(
      (file) => sources.root(file, 'an object with a task') ?? [],
    )
    const tasks = keyed(
      entries,
      (task) => task.text('id', 'task_id') || nameOf(task.source.file).replace(/\.json$/, ''),
    )
    return {
      tasks: tasks
        .toSorted((one, other) => placeOf(one.key) - placeOf(other.key) || 0)
        .map(({ entry, key }) => ({
          key,
          draft() {
            const word = wordIn(entry, key)
            return draftIn(entry, {
              key,
              status: statusOf(entry, word),
              attempts: attemptsOf(key, word),
              context,
            })
          },
        })),
    }
  },
}

const TASK_FILE = /^[\w.-]*task[\w.-]*\.json$/i

function taskFiles(folder: string, tree: Tree): readonly string[] {
  const names = tree.list(folder).filter((name) => TASK_FILE.test(name) && name !== 'tasks.json')
  return names.map((name) => within(folder, name))
}

/** The names of its keys vary between tools. */
function draftIn(
  task: Entry,
  known: Pick<ForeignDraft, 'key' | 'attempts' | 'context'> & { status: ForeignStatus },
): ForeignDraft {
  const description = task.text('description', 'details', 'body', 'prompt')
  const title = titleOf(task.text('title', 'name', 'summary') || description)
  return foreignDraft({
    ...known,
    title,
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
    place: task.source.placeOf(task.at),
  })
}
