import { listRecords } from '../../git/record.ts'
import { openReadingGit } from '../../git/door.ts'
import type { Git } from '../../git/git.ts'
import { readCompletions, type CompletionRecord } from '../../history/completions.ts'
import { dependantsOf, unblocks, type Selection, type TaskState } from '../../backlog/select/selection.ts'
import { tierOf } from '../../backlog/select/tier.ts'
import type { Task, TaskHead } from '../../backlog/model.ts'
import { readTask } from '../../backlog/read.ts'
import { showView, type ShowScreen, type TaskPast } from '../../screen/show-view.ts'
import type { Context } from '../command.ts'
import { disciplineOf } from '../../agents/agent-wishes.ts'
import { findTask } from '../../config/find-task.ts'
import { openPlace, selectByHeads, type Place } from '../../config/project.ts'
import { taskJson } from '../../backlog/select/task-json.ts'
import { unlessGitIsMissing } from '../../git/open-repository.ts'

/** Shows one task. */
export async function run(context: Context): Promise<number> {
  const place = await openPlace(context.where)
  const selection = await selectByHeads(place)
  const state = await stateOf(place, selection, context.args[0] ?? '')
  const choice = tierOf(state.task, place.config.tiers)
  const past = await pastOf(context, place, state.task)
  if (context.json) context.printJson(showJson({ state, selection, choice, ...past }))
  else {
    const discipline = await disciplineOf(place.root, state.task)
    await context.print(showView({ state, selection, choice, discipline, ...past }))
  }
  return 0
}

/** The state of the named task, read whole. */
async function stateOf(
  { root, vocabulary }: Place,
  { states }: Selection<TaskHead>,
  typed: string,
): Promise<TaskState> {
  const { file } = findTask(
    states.map(({ task }) => task),
    typed,
  )
  const state = states.find(({ task }) => task.file === file)!
  return { ...state, task: await readTask(root, file, vocabulary) }
}

/** What git knows of the task; nothing without a repository. */
async function pastOf({ io }: Context, place: Place, task: Task): Promise<TaskPast> {
  const git = openReadingGit({ cwd: place.root, env: io.env })
  const [attempts, completions] = await Promise.all([
    unlessGitIsMissing(listRecords(git, task.id), []),
    unlessGitIsMissing(completionsOf(git, task, place), []),
  ])
  return {
    attempts,
    completion: completions.find(({ reverted }) => !reverted) ?? completions[0] ?? null,
  }
}

async function completionsOf(
  git: Git,
  task: Task,
  { vocabulary, config }: Place,
): Promise<readonly CompletionRecord[]> {
  const { code } = await git.run(['rev-parse', '--verify', '--quiet', 'HEAD'], { okCodes: [0, 1, 128] })
  if (code !== 0) return []
  return (await readCompletions(git, { vocabulary, subject: config.commit.subject })).filter(
    ({ id }) => id === task.id,
  )
}

function showJson({
  state,
  selection,
  choice,
  attempts,
  completion,
}: Omit<ShowScreen, 'discipline'>): object {
  const { task } = state
  return {
    version: 1,
    task: taskJson(state, () => choice),
    dependants: dependantsOf(selection, task.number).map((dependant) => dependant.task.id),
    unblocks: unblocks(selection, task.id).map(({ id }) => id),
    sections: task.sections.map(({ title }) => title),
    attempts,
    completion,
  }
}
