import { listRecords } from '../../git/record.ts'
import { attemptsView } from '../../screen/show-view.ts'
import type { Context } from '../command.ts'
import { readNamed } from '../../config/find-task.ts'
import { openPlace } from '../../config/project.ts'
import { openRepository } from '../../git/open-repository.ts'

/** Shows the attempts at a task, how they ended and where they are kept. */
export async function run(context: Context): Promise<number> {
  const place = await openPlace(context.where)
  const task = await readNamed(place, context.args[0]!)
  const { git } = await openRepository(context.io, place.root)
  const attempts = await listRecords(git, task.id)
  return context.answer({ id: task.id, attempts }, () => attemptsView(task, attempts))
}
