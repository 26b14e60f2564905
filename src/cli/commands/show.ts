import { listAttempts } from '../../git/attempts.ts'
import { openGit } from '../../git/door.ts'
import type { Git } from '../../git/git.ts'
import { attemptRecord } from '../../run/attempt-record.ts'
import { readCompletions, type CompletionRecord } from '../../run/completions.ts'
import type { Selection, TaskState } from '../../select/selection.ts'
import { unblocks } from '../../select/selection.ts'
import type { Task } from '../../task/model.ts'
import { showView, type TaskPast } from '../../ui/show-view.ts'
import type { Context } from '../command.ts'
import { findTask } from '../find-task.ts'
import { openProject, type Project } from '../project.ts'
import { taskJson } from '../task-json.ts'
import { unlessGitIsMissing } from '../task-prompt.ts'

/** Shows one task. */
export async function run(context: Context): Promise<number> {
  const project = await openProject(context)
  const { selection, tierOf, tasks } = project
  const task = findTask(tasks, context.args[0] ?? '')
  const state = stateOf(selection, task)
  const past = await pastOf(context, project, task)
  if (context.json) context.printJson(showJson(state, project, past))
  else await context.print(showView({ state, selection, choice: tierOf(task), ...past }))
  return 0
}

/** What git knows of the task; without a repository nothing. */
async function pastOf({ io }: Context, project: Project, task: Task): Promise<TaskPast> {
  const git = openGit({ cwd: project.root, env: io.env })
  const [kept, completions] = await Promise.all([
    unlessGitIsMissing(listAttempts(git, task.id), []),
    unlessGitIsMissing(completionsOf(git, task, project), []),
  ])
  return {
    attempts: kept.flatMap((attempt) => attemptRecord(attempt) ?? []),
    completion: completions.find(({ reverted }) => !reverted) ?? completions[0] ?? null,
  }
}

async function completionsOf(
  git: Git,
  task: Task,
  { vocabulary, config }: Project,
): Promise<readonly CompletionRecord[]> {
  const { code } = await git.run(['rev-parse', '--verify', '--quiet', 'HEAD'], { okCodes: [0, 1, 128] })
  if (code !== 0) return []
  return (await readCompletions(git, { vocabulary, subject: config.commit.subject })).filter(
    ({ id }) => id === task.id,
  )
}

function stateOf(selection: Selection, task: Task): TaskState {
  const state = selection.states.find((state) => state.task === task)
  if (!state) throw new Error(`${task.id} is not in the selection`)
  return state
}

function showJson(
  state: TaskState,
  { selection, tierOf }: Project,
  { attempts, completion }: TaskPast,
): object {
  const { task } = state
  const needsIt = (other: Task): boolean => other.needs.includes(task.number)
  return {
    version: 1,
    task: taskJson(state, tierOf),
    dependants: selection.states.filter((other) => needsIt(other.task)).map((other) => other.task.id),
    unblocks: unblocks(selection, task.id).map(({ id }) => id),
    sections: task.sections.map(({ title }) => title),
    attempts,
    completion,
  }
}
