import { UserError } from '../../base/errors.ts'
import { fewOf } from '../../base/text.ts'
import { withoutRun } from '../../engine/alone.ts'
import { runFolder } from '../../engine/folder.ts'
import { branchToLandOn } from '../../engine/preflight.ts'
import { openBranch } from '../../engine/slot/branch.ts'
import { openHome } from '../../engine/slot/home.ts'
import { lastTrusted } from '../../engine/trust.ts'
import { trustTip, untrusted, untrustedDiff } from '../setup/trust.ts'
import { openPlace } from '../../config/project.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import { refuseInside } from '../../base/world.ts'
import { line } from '../../screen/block.ts'
import type { ContextOf } from '../commands.ts'

type Context = ContextOf<'trust'>

/** Shows what agents have changed in the configuration, and accepts it if a person says so. */
export async function run(context: Context): Promise<number> {
  const { io } = context
  const { root } = await openPlace(context.where)
  refuseInside(io, root)
  const { git, repository } = await openWithCommit(io, root)
  const home = await openHome(git, repository, root)
  const tip = await openBranch(home, await branchToLandOn({ branch: null }, home), () => undefined).tip()
  const from = await lastTrusted(home, tip.head)
  const paths = await untrusted(home, from, tip.head)
  const answer = async (trusted: boolean, code: number, text: string): Promise<number> => {
    if (context.json) context.printJson({ version: 1, since: from, paths, trusted })
    else await context.print([line(text)])
    return code
  }
  if (paths.length === 0) return answer(true, 0, 'Agents have changed nothing that decides how a run works.')
  if (!context.json) context.printRaw(await untrustedDiff(home, { from, tip: tip.head, paths }))
  if (!context.options.yes && !(await isAccepted(context, paths)))
    return answer(false, 1, `${fewOf(paths)} is not in force. To accept it: ralph trust --yes`)
  const me = { pid: io.pid, now: io.now() }
  const moved = await withoutRun(runFolder(root, repository), me, () => trustTip(home, tip, paths))
  if (moved.kind !== 'moved')
    throw new UserError(
      'the branch was moved just now, so nothing was accepted',
      'Look at it once more: ralph trust',
    )
  return answer(true, 0, `${fewOf(paths)} is in force from now on.`)
}

async function isAccepted({ io, json }: Context, paths: readonly string[]): Promise<boolean> {
  const dialogue = json ? null : io.dialogue()
  if (dialogue === null) return false
  const { confirm } = await import('@clack/prompts')
  return (await confirm({ message: `Accept ${fewOf(paths)}?`, ...dialogue })) === true
}
