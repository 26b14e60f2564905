import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { counted, fewOf } from '../../base/text.ts'
import { withoutRun } from '../../engine/alone.ts'
import { runFolder } from '../../engine/folder.ts'
import { openHome } from '../../engine/slot/home.ts'
import { Readying } from '../../engine/slot/ready.ts'
import { forgetSlot, isTaken } from '../../engine/workers/slots.ts'
import { openReadingGit } from '../../git/door.ts'
import { findRepository } from '../../git/repository.ts'
import { runProgram } from '../../process/run.ts'
import type { Place } from '../../config/project.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import { linksInside, slotNumbers, slotsFolder } from '../setup/slots.ts'
import { finding, orProblem, type Finding } from './findings.ts'
import type { World } from '../../base/world.ts'

/** Where slots are, how large they are, and what a run puts into each. */
export async function slotFindings(
  { env }: Pick<World, 'env'>,
  { root, config }: Pick<Place, 'root' | 'config'>,
): Promise<readonly Finding[]> {
  const repository = await findRepository(openReadingGit({ cwd: root, env }))
  if (!repository) return []
  return orProblem('slots', async () => {
    const folder = slotsFolder({ root, config }, repository.root, env)
    const git = openReadingGit({ cwd: repository.root, env })
    const readying = new Readying(await openHome(git, repository, root), config.workspace)
    const [commands, copies] = [readying.commandsFor(root), await readying.filesToCopy()]
    const gets = [
      commands.length === 0
        ? 'nothing to install'
        : `the packages of the checkout, or else ${commands.join(' and ')}`,
      ...(copies.length > 0 ? [`a copy of ${fewOf(copies)}`] : []),
      ...(readying.linked.length > 0 ? [`${fewOf(readying.linked)} beside it`] : []),
    ]
    const { length } = slotNumbers(folder)
    const inside = linksInside({ root, config }, repository.root)
    return [
      length === 0
        ? finding('slots', 'ok', `no slot yet: the first run makes one in ${folder}`)
        : finding(
            'slots',
            'ok',
            `${counted(length, 'slot')} in ${folder}, ${await sizeOf(folder, env)}`,
            'ralph doctor --fix removes them',
          ),
      finding('slots', 'ok', `each has what is committed, and ${gets.join(', ')}`),
      ...(inside === null ? [] : [finding('slots', 'note', inside, 'Name it in workspace.copy')]),
    ]
  })
}

async function sizeOf(folder: string, env: World['env']): Promise<string> {
  const { stdout } = await runProgram({ program: 'du', args: ['-sk', folder], cwd: '/', env })
  const kilobytes = Number(stdout.toString().split('\t')[0])
  return kilobytes < 1024 ? `${kilobytes} kB` : `${Math.round(kilobytes / 1024)} MB`
}

/** Removes the slots of a checkout, while no run is at work. What a run has done in them is on refs. */
export async function removeSlots(
  world: World,
  place: Pick<Place, 'root' | 'config'>,
): Promise<readonly Finding[]> {
  const { root } = place
  const { repository } = await openWithCommit(world, root)
  const folder = slotsFolder(place, repository.root, world.env)
  const numbers: number[] = []
  // A worker of any run may be using one.
  for (const number of slotNumbers(folder)) if (!(await isTaken(folder, number))) numbers.push(number)
  if (numbers.length === 0) return []
  const me = { pid: world.pid, now: world.now() }
  return withoutRun(runFolder(root, repository), me, async () => {
    for (const number of numbers) {
      rmSync(join(folder, String(number)), { recursive: true, force: true })
      forgetSlot(folder, number)
    }
    const isEmpty = existsSync(folder) && slotNumbers(folder).length === 0
    if (isEmpty) rmSync(folder, { recursive: true, force: true })
    return [finding('slots', 'ok', `removed ${counted(numbers.length, 'slot')} from ${folder}`)]
  })
}
