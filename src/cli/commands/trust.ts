import { UserError } from '../../base/errors.ts'
import { fewOf } from '../../base/text.ts'
import { withoutRun } from '../../engine/alone.ts'
import { runFolder } from '../../engine/folder.ts'
import { branchToLandOn } from '../../engine/preflight.ts'
import { openBranch } from '../../engine/slot/branch.ts'
import type { Moved } from '../../engine/slot/follow.ts'
import { openHome, type Home } from '../../engine/slot/home.ts'
import { lastTrusted } from '../../engine/trust.ts'
import { untrusted } from '../setup/read-from-branch.ts'
import type { Base } from '../../git/head.ts'
import { makeCommit } from '../../git/made-commit.ts'
import { composeMessage } from '../../git/trailers.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import { refuseInside } from '../../base/world.ts'
import { line } from '../../screen/block.ts'
import type { ContextOf } from '../commands.ts'

type Context = ContextOf<'trust'>

/** Shows what agents have changed in the configuration, and accepts it if a person says so. */
export async function run(context: Context): Promise<number> {
  const { io } = context
  const { root } = await context.place()
  refuseInside(io, root)
  const { git, repository } = await openWithCommit(io, root)
  const home = await openHome(git, repository, root)
  const tip = await openBranch(home, await branchToLandOn({ branch: null }, home), () => undefined).tip()
  const from = await lastTrusted(home, tip.head)
  const paths = await untrusted(home, from, tip.head)
  const answer = (trusted: boolean, text: string): Promise<number> =>
    context.answer({ since: from, paths, trusted }, () => [line(text)])
  if (paths.length === 0) return answer(true, 'Agents have changed nothing that decides how a run works.')
  if (!context.json) context.printRaw(await untrustedDiff(home, { from, tip: tip.head, paths }))
  if (!context.options.yes && !(await isAccepted(context, paths))) {
    await answer(false, `${fewOf(paths)} is not in force. To accept it: ralph trust --yes`)
    return 1
  }
  const moved = await withoutRun(runFolder(root, repository), io, () => trustTip(home, tip, paths))
  if (moved.kind !== 'moved')
    throw new UserError(
      'the branch was moved just now, so nothing was accepted',
      'Look at it once more: ralph trust',
    )
  return answer(true, `${fewOf(paths)} is in force from now on.`)
}

async function isAccepted({ io, json }: Context, paths: readonly string[]): Promise<boolean> {
  const dialogue = json ? null : io.dialogue()
  if (dialogue === null) return false
  const { confirm } = await import('@clack/prompts')
  return (await confirm({ message: `Accept ${fewOf(paths)}?`, ...dialogue })) === true
}

/** What agents changed in these files since a commit, as git shows it. */
async function untrustedDiff(
  { git }: Home,
  { from, tip, paths }: { from: string; tip: string; paths: readonly string[] },
): Promise<string> {
  const specs = paths.map((path) => `:(top,literal)${path}`)
  return (await git.run(['diff', '--no-color', '--no-ext-diff', from, tip, '--', ...specs])).stdout.toString()
}

/** Accepts all that agents have written up to a tip, in a commit of the person's that changes no file. */
async function trustTip(home: Home, tip: Base, paths: readonly string[]): Promise<Moved> {
  const message = composeMessage({
    subject: 'Trust what agents changed in the configuration',
    body: paths.map((path) => `- ${path}`).join('\n'),
    trailers: [{ key: 'Trusts', value: tip.head }],
  })
  const commit = await makeCommit(home.git, { tree: `${tip.head}^{tree}`, parent: tip.head, message })
  return openBranch(home, tip.branch, () => undefined).publish(tip.head, commit)
}
