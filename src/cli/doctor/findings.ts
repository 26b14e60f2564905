import { UserError } from '../../base/errors.ts'
import { nativePath, pathWithin } from '../../base/paths.ts'
import { shortened, counted, fewOf } from '../../base/text.ts'
import { formatDuration } from '../../base/time.ts'
import { livingOf, livingTree, type LivingProcess, type RunTrace } from '../../process/tree.ts'
import type { Git } from '../../git/git.ts'
import { findRepository, type Repository } from '../../git/repository.ts'
import { runFolder } from '../../engine/folder.ts'
import { lockOwner } from '../../process/lock.ts'
import { readStatus } from '../../git/status.ts'
import { obstacles } from '../../engine/preflight.ts'
import { readNote } from '../../engine/note.ts'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { withoutRun } from '../../engine/alone.ts'
import { openHome } from '../../engine/slot/home.ts'
import { Readying } from '../../engine/slot/ready.ts'
import { forgetSlot, isTaken } from '../../engine/workers/slots.ts'
import { openReadingGit } from '../../git/door.ts'
import { runProgram } from '../../process/run.ts'
import type { Place } from '../../config/project.ts'
import { openWithCommit } from '../../git/open-repository.ts'
import { linksInside, slotNumbers, slotsFolder } from '../setup/slots.ts'
import type { World } from '../../base/world.ts'

/** One check: whether all is well, and what to do if not. */
export interface Finding {
  readonly area: string
  /** `problem` keeps a run from starting; `note` is only worth knowing. */
  readonly level: 'ok' | 'note' | 'problem'
  readonly message: string
  readonly fix: string
}

/** A finding, with what to do about it. */
export function finding(area: string, level: Finding['level'], message: string, fix = ''): Finding {
  return { area, level, message, fix }
}

/** The findings; a refusal is a problem. */
export async function orProblem(
  area: string,
  look: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [finding(area, 'problem', error.message.replaceAll('\n', '; '), error.fix)]
  }
}

/** What is checked in a checkout. Git runs in the project's root. */
interface Where {
  readonly git: Git
  readonly root: string
  /** The task folder. */
  readonly dir: string
  readonly now: Date
}

/** Checks git, the checkout and what earlier runs have left, and changes nothing. */
export async function doctorFindings(where: Where): Promise<readonly Finding[]> {
  const { git } = where
  const version = await gitVersion(git)
  const repository = await findRepository(git)
  if (!repository) {
    const fix = 'Make one: git init, then commit what there is'
    return [version, finding('git', 'problem', 'there is no git repository here', fix)]
  }
  const { linkedWorktree, root } = repository
  return [
    version,
    finding('git', 'ok', linkedWorktree ? 'a linked worktree' : `the repository at ${root}`),
    ...(await treeFindings(where, repository)),
    ...(await runFindings(where, repository)),
  ]
}

/** The oldest git that has every option in use: `git merge-tree --write-tree`. */
const OLDEST_GIT = [2, 38] as const

async function gitVersion(git: Git): Promise<Finding> {
  const version = (await git.run(['version'])).stdout.toString().trim().replace('git version ', '')
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOld = major < OLDEST_GIT[0] || (major === OLDEST_GIT[0] && minor < OLDEST_GIT[1])
  if (!isOld) return finding('git', 'ok', `git ${version}`)
  return finding(
    'git',
    'problem',
    `git ${version} is too old`,
    `Install git ${OLDEST_GIT.join('.')} or later`,
  )
}

async function treeFindings({ git, root, dir }: Where, repository: Repository): Promise<readonly Finding[]> {
  const inside = pathWithin(nativePath(repository.root), nativePath(root)) ?? ''
  const prefix = inside === '' ? '' : `${inside}/`
  const found = await obstacles(git.at(repository.root), prefix, dir)
  const { head, branch, entries } = await readStatus(git)
  const what = entries.length === 1 ? '1 file is' : `${entries.length} files are`
  return [
    ...found.map(({ message, fix }) => finding('git', 'problem', message, fix)),
    ...(head === null
      ? [finding('git', 'problem', 'there is no commit yet', 'git add -A && git commit')]
      : []),
    ...(branch === null ? [finding('git', 'note', 'HEAD is detached: commits will be on no branch')] : []),
    entries.length === 0
      ? finding('tree', 'ok', 'everything is committed')
      : finding(
          'tree',
          'note',
          `${what} not committed: a run works on what is committed, and leaves the rest as it is`,
        ),
  ]
}

async function runFindings({ root, now }: Where, checkout: Repository): Promise<readonly Finding[]> {
  const folder = runFolder(root, checkout)
  const lock = await lockOwner(folder.lock)
  const note = readNote(folder.note)
  const nothing = note ? [] : [finding('leftovers', 'ok', 'nothing is left of an earlier run')]
  const ago = (since: string): string => formatDuration((now.getTime() - Date.parse(since)) / 1000)
  if (lock?.alive) {
    const { pid, host, since } = lock.owner
    const processes = processLines(await startedBy(lock, note))
    return [
      finding('lock', 'note', `a run is at work: process ${pid} on ${host}, for ${ago(since)}`),
      ...processes.map((line) => finding('processes', 'note', line)),
      ...nothing,
    ]
  }
  const free = lock ? 'a dead run’s lock, which the next one takes over' : 'no run is at work'
  const left = note ? processLines(await livingOf(note)) : []
  return [
    finding('lock', 'ok', free),
    ...nothing,
    ...left.map((line) =>
      // The others are below a process that is named here.
      /^\d/.test(line)
        ? finding('leftovers', 'note', `running: ${line}`, 'The next ralph run ends it')
        : finding('leftovers', 'note', line),
    ),
    ...(note?.jobs ?? []).map(({ attempt: { task, number, startedAt } }) =>
      finding(
        'leftovers',
        'note',
        `a run died during attempt ${number} at ${task}, begun ${ago(startedAt)} ago`,
        'The next ralph run records its work, and continues',
      ),
    ),
  ]
}

/** The processes of a living run: its descendants, and those that its note leads to. */
async function startedBy(
  { owner: { pid }, visible }: NonNullable<Awaited<ReturnType<typeof lockOwner>>>,
  trace: RunTrace | null,
): Promise<readonly LivingProcess[]> {
  const below = visible ? await livingTree(pid) : []
  const noted = trace === null ? [] : await livingOf(trace)
  const living = new Map([...below, ...noted].map((process) => [process.pid, process]))
  living.delete(pid)
  return [...living.values()]
}

const LONGEST = 100

/** Processes as a tree, one line each: `12 npm test`, and below it `└─ 13 node test.mjs`. */
export function processLines(processes: readonly LivingProcess[]): readonly string[] {
  const pids = new Set(processes.map(({ pid }) => pid))
  const draw = ({ pid, command }: LivingProcess, sign: string, indent: string): readonly string[] => {
    const children = processes.filter((child) => child.parent === pid && child.pid !== pid)
    const last = children.at(-1)
    return [
      sign + shortened(`${pid} ${command.replace(/\s+/g, ' ')}`.trim(), LONGEST),
      ...children.flatMap((child) =>
        child === last
          ? draw(child, `${indent}└─ `, `${indent}   `)
          : draw(child, `${indent}├─ `, `${indent}│  `),
      ),
    ]
  }
  const roots = processes.filter(({ parent }) => !pids.has(parent))
  return roots.flatMap((root) => draw(root, '', ''))
}

/** Where slots are, how large they are, and what a run puts into each. */
export async function slotFindings({ env }: Pick<World, 'env'>, place: Place): Promise<readonly Finding[]> {
  const { root, config } = place
  const repository = await findRepository(openReadingGit({ cwd: root, env }))
  if (!repository) return []
  return orProblem('slots', async () => {
    const folder = slotsFolder(place, repository.root, env)
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
    const inside = linksInside(place, repository.root)
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
export async function removeSlots(world: World, place: Place): Promise<readonly Finding[]> {
  const { root } = place
  const { repository } = await openWithCommit(world, root)
  const folder = slotsFolder(place, repository.root, world.env)
  const numbers: number[] = []
  // A worker of any run may be using one.
  for (const number of slotNumbers(folder)) if (!(await isTaken(folder, number))) numbers.push(number)
  if (numbers.length === 0) return []
  return withoutRun(runFolder(root, repository), world, async () => {
    for (const number of numbers) {
      rmSync(join(folder, String(number)), { recursive: true, force: true })
      forgetSlot(folder, number)
    }
    const isEmpty = existsSync(folder) && slotNumbers(folder).length === 0
    if (isEmpty) rmSync(folder, { recursive: true, force: true })
    return [finding('slots', 'ok', `removed ${counted(numbers.length, 'slot')} from ${folder}`)]
  })
}
