import { UserError } from '../../base/errors.ts'
import type { Git } from '../../git/git.ts'
import { resolveRange } from '../../git/range.ts'
import { diffBacklog, diffJson } from '../../history/backlog-diff.ts'
import { patchOf, type TaskCode } from '../../history/task-code.ts'
import { readNamed } from '../../config/find-task.ts'
import { lintContext } from '../../authoring/lint-context.ts'
import { openPlace, type Place } from '../../config/project.ts'
import { readHistory } from '../../git/open-repository.ts'
import { diffMarkdown, diffView } from '../../screen/diff-view.ts'
import { wantsColour } from '../../screen/style.ts'
import type { ContextOf } from '../commands.ts'
import { personsPager, showInPager } from '../pager.ts'
import { codeOf } from '../task-code.ts'

type Context = ContextOf<'diff'>

/** Shows the changes of a range of history to the backlog, or the code of a task. */
export async function run(context: Context): Promise<number> {
  const [typed] = context.args
  if (context.json && context.options.markdown) throw new UserError('give one of --json and --markdown')
  const place = await openPlace(context.where)
  return typed !== undefined && isTask(typed)
    ? showTask(context, place, typed)
    : showRange(context, place, typed)
}

/** A longer number is probably the beginning of a commit's hash. */
function isTask(typed: string): boolean {
  return /^t-\d+$|^\d{1,6}$/i.test(typed)
}

async function showRange(context: Context, place: Place, typed: string | undefined): Promise<number> {
  const around = await lintContext(place)
  const diff = await readHistory(context.io, place.root, async (git) =>
    diffBacklog(git, await resolveRange(git, typed), { ...place, tiers: place.config.tiers, around }),
  )
  if (context.json) context.printJson(diffJson(diff))
  else if (context.options.markdown) context.printRaw(diffMarkdown(diff))
  else await context.print(diffView(diff))
  return 0
}

async function showTask(context: Context, place: Place, typed: string): Promise<number> {
  if (context.options.markdown) throw new UserError('--markdown is for a range, not for a task')
  const task = await readNamed(place, typed)
  const found = await codeOf(context.io, place, task.id)
  if (found === null) {
    throw new UserError(
      `there is no code of ${task.id} yet: no commit completed it, and no attempt at it is kept`,
      `ralph show ${task.id} shows its status.`,
    )
  }
  const { code, git } = found
  if (context.json) {
    const patch = (await patchOf(git, code, false)).toString()
    context.printJson({ version: 1, id: task.id, ...code, patch })
  } else await showPatch(context, git, code)
  return 0
}

/** In a terminal with the person's pager; otherwise unchanged, for `git apply`. */
async function showPatch({ io, options, printRaw }: Context, git: Git, code: TaskCode): Promise<void> {
  const isTerminal = io.stdout.columns !== null
  const colour = wantsColour({ noColor: options.noColor, env: io.env, isTerminal })
  const patch = await patchOf(git, code, colour)
  const command = await personsPager(io, git)
  // While the pager has the terminal, Ctrl-C belongs to it.
  const isInterrupted = command !== null && io.signal.aborted
  if (isInterrupted) printRaw(patch)
  else await showInPager(io, command, patch)
}
