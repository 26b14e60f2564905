import { listRecords } from '../../git/record.ts'
import { attemptsView } from '../../screen/attempts-view.ts'
import type { Context } from '../command.ts'
import { readNamed } from '../../config/find-task.ts'
import { openPlace } from '../../config/project.ts'
import { openRepository } from '../../git/open-repository.ts'

/** Shows the attempts at a task, how they ended and where they are kept. */
export async function run(context: Context): Promise<number> {
  const place = await openPlace(context.where)
  const task = await readNamed(place, context.args[0] ?? '')
  const { git } = await openRepository(context.io, place.root)
  const attempts = await listRecords(git, task.id)
  if (context.json) context.printJson({ version: 1, id: task.id, attempts })
  else await context.print(attemptsView(task, attempts))
  return 0
}
