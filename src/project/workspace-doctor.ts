import { existsSync, readdirSync, rmdirSync } from 'node:fs'
import { UserError } from '../base/errors.ts'
import { counted, fewOf } from '../base/text.ts'
import { openReadingGit } from '../git/door.ts'
import { findRepository } from '../git/repository.ts'
import { withoutRun } from '../run/alone.ts'
import { runFolder } from '../run/folder.ts'
import { refuseUnlendable } from '../workspace/clone.ts'
import { forgetSlot, isTaken } from '../worker/slots.ts'
import { filesToCopy } from '../workspace/furnish.ts'
import { openWorkspace } from '../workspace/open.ts'
import { OwnWorkspace, workspacesFolder } from '../workspace/own.ts'
import type { Place } from './project.ts'
import { openWithCommit } from './repository.ts'
import { furnitureOf } from './workspaces.ts'
import type { World } from './world.ts'

/** A finding of the doctor about workspaces. */
interface WorkspaceFinding {
  readonly area: 'workspaces'
  readonly level: 'ok' | 'note' | 'problem'
  readonly message: string
  readonly fix: string
}

const finding = (level: WorkspaceFinding['level'], message: string, fix = ''): WorkspaceFinding => {
  return { area: 'workspaces', level, message, fix }
}

/** Where workspaces are, how many there are, and what a new one gets; empty if no run has used one. */
export async function workspaceFindings(
  world: Pick<World, 'env'>,
  { root, config }: Pick<Place, 'root' | 'config'>,
): Promise<readonly WorkspaceFinding[]> {
  const git = openReadingGit({ cwd: root, env: world.env })
  const repository = await findRepository(git)
  if (!repository) return []
  try {
    const { dir } = config.workspace
    const folder = workspacesFolder({ root, top: repository.root }, { dir, env: world.env })
    const numbers = numbersIn(folder)
    if (config.jobs === 1 && numbers.length === 0) return []
    const lender = { git: openReadingGit({ cwd: repository.root, env: world.env }), repository, prefix: '' }
    await refuseUnlendable(lender)
    const { prepare, link } = furnitureOf(root, config.workspace)
    const copies = await filesToCopy(git, config.workspace)
    const gets = [
      prepare === null ? 'nothing to prepare' : `prepared with ${prepare}`,
      ...(copies.length > 0 ? [`a copy of ${fewOf(copies)}`] : []),
      ...(link.length > 0 ? [`links to ${fewOf(link)}`] : []),
    ]
    const fix = numbers.length > 0 ? 'ralph doctor --fix removes them, and keeps what nobody else has' : ''
    return [
      finding('ok', `${counted(numbers.length, 'workspace')} in ${folder}`, fix),
      finding('ok', `each: ${gets.join(', ')}`),
    ]
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const isAskedFor = config.jobs > 1 || config.workspace.dir !== null
    return isAskedFor ? [finding('problem', error.message, error.fix)] : []
  }
}

/** Removes the workspaces of a checkout, while no run is at work, after keeping in the checkout what that does not have. */
export async function removeWorkspaces(
  world: World,
  { root, config }: Pick<Place, 'root' | 'config'>,
): Promise<readonly WorkspaceFinding[]> {
  const { git, repository } = await openWithCommit(world, root)
  const { dir } = config.workspace
  const folder = workspacesFolder({ root, top: repository.root }, { dir, env: world.env })
  const numbers: number[] = []
  // A worker of any run may be using one.
  for (const number of numbersIn(folder)) if (!(await isTaken(folder, number))) numbers.push(number)
  if (numbers.length === 0) return []
  const home = openWorkspace(git, repository, root)
  const plan = {
    lender: { git, repository, prefix: home.prefix },
    home,
    folder,
    furniture: furnitureOf(root, config.workspace),
    env: world.env,
    checkpoint: () => undefined,
  }
  const me = { pid: world.pid, now: world.now() }
  return withoutRun(runFolder(root, repository), me, async () => {
    const kept: string[] = []
    for (const number of numbers) {
      kept.push(...(await new OwnWorkspace(number, plan).remove()))
      forgetSlot(folder, number)
    }
    if (readdirSync(folder).length === 0) rmdirSync(folder)
    const refs = kept.length === 0 ? '' : `; what they held is kept under ${fewOf(kept)}`
    return [finding('ok', `removed ${counted(numbers.length, 'workspace')} from ${folder}${refs}`)]
  })
}

function numbersIn(folder: string): readonly number[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
}
