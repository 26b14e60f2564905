import { UserError } from '../../base/errors.ts'
import { resolveRange } from '../../git/range.ts'
import { diffBacklog, diffJson } from '../../history/backlog-diff.ts'
import { patchOf } from '../../history/task-code.ts'
import { readNamed } from '../../config/find-task.ts'
import { lintContext } from '../../authoring/lint-context.ts'
import type { Place } from '../../config/project.ts'
import { readHistory } from '../../git/open-repository.ts'
import { page } from '../../process/pager.ts'
import { diffMarkdown, diffView } from '../../screen/diff-view.ts'
import { canvasFor } from '../command.ts'
import type { ContextOf } from '../commands.ts'
import { forgeLinks } from '../github.ts'
import { codeOf, personsPager } from '../task-code.ts'

type Context = ContextOf<'diff'>

/** Shows the changes of a range of history to the backlog, or the code of a task. */
export async function run(context: Context): Promise<number> {
  const [typed] = context.args
  const { markdown } = context.options
  if (context.json && markdown) throw new UserError('give one of --json and --markdown')
  const place = await context.place()
  if (typed === undefined || !isTask(typed, place)) return showRange(context, place, typed)
  if (markdown) throw new UserError('--markdown is for a range, not for a task')
  return showTask(context, place, typed)
}

/** A longer number is probably the beginning of a commit's hash. */
function isTask(typed: string, { folders }: Place): boolean {
  return /^\d+$/.test(typed) ? typed.length <= 6 : !Number.isNaN(folders.ids.numberOf(typed))
}

async function showRange(context: Context, place: Place, typed: string | undefined): Promise<number> {
  const around = await lintContext(place)
  const diff = await readHistory(context.io, place.root, async (git) =>
    diffBacklog(git, await resolveRange(git, typed), { ...place, tiers: place.config.tiers, around }),
  )
  if (context.options.markdown)
    context.printRaw(diffMarkdown(diff, forgeLinks(context.io, place.root, diff.range.to)))
  else if (context.json) context.printJson(diffJson(diff))
  else context.print(diffView(diff))
  return 0
}

/** Shows a task's code: in a terminal with the person's pager, otherwise unchanged, for `git apply`. */
async function showTask(context: Context, place: Place, typed: string): Promise<number> {
  const { io, options } = context
  const { id } = await readNamed(place, typed)
  const found = await codeOf(io, place, id)
  if (found === null)
    throw new UserError(
      `there is no code of ${id} yet: no commit completed it, and no attempt at it is kept`,
      `ralph show ${id} shows its status.`,
    )
  const { code, git } = found
  const { colour } = canvasFor(io.stdout, io.env, options.noColor)
  const patch = await patchOf(git, code, colour && !context.json)
  return context.answer({ id, ...code, patch: patch.toString() }, async () => {
    const command = await personsPager(io, git)
    const { cwd, env } = io
    // While the pager has the terminal, Ctrl-C belongs to it.
    const isShown = command !== null && !io.signal.aborted && (await page(patch, { command, cwd, env }))
    if (!isShown) context.printRaw(patch)
    return []
  })
}
