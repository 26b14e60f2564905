import { listRecords } from '../../git/record.ts'
import { readCompletions } from '../../history/completions.ts'
import { dependantsOf, unblocks } from '../../backlog/select/selection.ts'
import { tierOf } from '../../backlog/select/tier.ts'
import { readTask } from '../../backlog/read.ts'
import { showView } from '../../screen/show-view.ts'
import type { Context } from '../command.ts'
import { disciplineOf } from '../../agents/registry.ts'
import { findTask } from '../../config/find-task.ts'
import { selectByHeads, type Place } from '../../config/project.ts'
import { taskJson } from '../../backlog/select/task-json.ts'
import { tasksUnderWay } from '../under-way.ts'
import { readHistory, unlessGitIsMissing } from '../../git/open-repository.ts'

/** Shows one task. */
export async function run(context: Context): Promise<number> {
  const place = await context.place()
  const { root, vocabulary, config } = place
  const selection = await selectByHeads(place)
  const heads = selection.states.map(({ task }) => task)
  const found = findTask(heads, context.args[0]!)
  const task = await readTask(root, found.file, vocabulary)
  const state = { ...selection.states[heads.indexOf(found)]!, task }
  const choice = tierOf(task, config.tiers)
  const past = await pastOf(context, place, task.id)
  const underWay = await tasksUnderWay(root)
  const document = {
    task: taskJson(state, () => choice, underWay),
    dependants: dependantsOf(selection, task.number).map((dependant) => dependant.task.id),
    unblocks: unblocks(selection, task.id).map(({ id }) => id),
    sections: task.sections.map(({ title }) => title),
    ...past,
  }
  return context.answer(document, async () =>
    showView({ state, selection, choice, underWay, ...past }, await disciplineOf(root, task)),
  )
}

/** What git knows of the task; nothing without a repository or a commit. */
async function pastOf({ io }: Context, { root, vocabulary, config }: Place, id: string) {
  const { subject } = config.commit
  const [attempts, completions] = await Promise.all([
    unlessGitIsMissing(
      readHistory(io, root, (git) => listRecords(git, id)),
      [],
    ),
    unlessGitIsMissing(
      readHistory(io, root, (git) => readCompletions(git, { vocabulary, subject })),
      [],
    ),
  ])
  const own = completions.filter((completion) => completion.id === id)
  return { attempts, completion: own.find(({ reverted }) => !reverted) ?? own[0] ?? null }
}
