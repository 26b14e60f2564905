import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { cacheFolder } from '../../base/cache-folder.ts'
import { UserError } from '../../base/errors.ts'
import { nativePath, pathWithin } from '../../base/paths.ts'
import { readPlainFile } from '../../base/read-file.ts'
import { fewOf } from '../../base/text.ts'
import { removeAll } from '../../base/remove.ts'
import { readNote } from '../../engine/note.ts'
import { runFolder } from '../../engine/folder.ts'
import { gateRunner } from '../../engine/gates/run.ts'
import type { Programs, Slots } from '../../engine/ports.ts'
import { hooksInTree, type Home } from '../../engine/slot/home.ts'
import { Readying } from '../../engine/slot/ready.ts'
import { Slot, type Side } from '../../engine/slot/slot.ts'
import { StartedProcesses } from '../../process/started.ts'
import type { Agents } from '../../agents/agents.ts'
import { closeIssue } from '../../authoring/github.ts'
import { openOrigins } from '../../authoring/origins.ts'
import type { Place } from '../../config/project.ts'
import { openRepository } from '../../git/open-repository.ts'
import type { Sandbox } from './sandbox.ts'
import { promptOf } from './task-prompt.ts'
import type { World } from '../../base/world.ts'

/** The folder of a checkout's slots: outside the checkout, because tools in it would find each file several times. */
export function slotsFolder(
  { root, config }: Pick<Place, 'root' | 'config'>,
  top: string,
  env: World['env'],
): string {
  const { dir } = config.workspace
  const parent = dir === null ? cacheFolder(env) : nativePath(resolve(root, dir))
  if (parent === null)
    throw new UserError('there is no folder of caches for slots', 'Set HOME, or "workspace": { "dir": … }.')
  if (pathWithin(top, parent) !== null)
    throw new UserError(
      `workspace.dir is ${parent}, inside of the repository`,
      'Name a folder outside of it: inside, tests, compilers and editors would find each file several times.',
    )
  const hash = createHash('sha256').update(nativePath(top)).digest('hex').slice(0, 8)
  return join(parent, `${basename(top)}-${hash}`)
}

/** What a person should know of links to a place inside of the repository, which agents see anyway; null if there are none. */
export function linksInside({ root, config }: Place, top: string): string | null {
  const inside = config.workspace.link.filter((path) => pathWithin(top, resolve(root, path)) !== null)
  return inside.length === 0
    ? null
    : `workspace.link has no effect for ${fewOf(inside)}, inside of the repository`
}

/** What connects slots with the rest. */
interface Wiring {
  readonly home: Home
  readonly env: World['env']
  readonly agents: Pick<Agents, 'open'>
  readonly sandbox: Sandbox
  readonly started: StartedProcesses
  /** Whether agents only read in them, as in planning. */
  readonly isReadOnly?: boolean
}

/** The slots of a checkout, as configured. */
export function slotsOf(
  place: Place,
  { home, env, agents, sandbox, started, isReadOnly = false }: Wiring,
): Slots {
  const { root, config } = place
  const { repository } = home
  const folder = slotsFolder(place, repository.root, env)
  const readying = new Readying(home, config.workspace)
  const made = new Map<number, Slot>()
  const known = new Map<string, Promise<Programs>>()
  const open = async (slot: Slot, side: Side): Promise<Programs> => {
    const starts = await sandbox.starts(
      {
        root: side.root,
        top: side.folder.files,
        checkout: repository.root,
        git: home.git,
        isReadOnly,
        borrowed: [
          ...objectsOf(home),
          ...readying.linked.map((path) => resolve(root, path)),
          ...(side === slot.check ? hooksOf(slot, home) : []),
        ],
      },
      started,
    )
    return {
      agent: (choice) => agents.open(choice, starts),
      runGate: gateRunner(starts.gate),
      runInstall: gateRunner(starts.prepare),
    }
  }
  return {
    folder,
    readying,
    get(number) {
      if (made.size === 0) takeFolder(folder, root)
      const slot = made.get(number) ?? new Slot(number, { home, folder, readying, env })
      made.set(number, slot)
      return slot
    },
    programs(slot, side) {
      const name = `${slot.number} ${side.name}`
      const programs = known.get(name) ?? open(slot, side)
      known.set(name, programs)
      return programs
    },
    prompt: (side) => promptOf({ ...place, root: side.root }, home.git.at(root)),
    origins: (side) => openOrigins(config.bridges, side.root),
    closeOrigin: (task) => closeIssue({ cwd: root, env }, config.bridges, task),
  }
}

/** The file in a folder of slots with the path of its project, written at each use. */
const PROJECT = 'checkout'
const DAY_MS = 24 * 60 * 60 * 1000
/** A checkout may be gone for a while, as one on another disk. */
const GONE_DAYS = 1
const UNUSED_DAYS = 30

/** Notes whose slots are in a folder, and removes those of projects that are gone, or had no run for a month. */
function takeFolder(folder: string, project: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, PROJECT), project)
  const now = statSync(join(folder, PROJECT)).mtimeMs
  for (const name of readdirSync(dirname(folder))) {
    const other = join(dirname(folder), name)
    const of = readPlainFile(join(other, PROJECT), 4096)
    if (of === null || of === '') continue
    const days = (now - statSync(join(other, PROJECT)).mtimeMs) / DAY_MS
    // What a dead run has left in its slots is recorded by the next one.
    const isOver = existsSync(of) ? days > UNUSED_DAYS && !existsSync(runFolder(of).note) : days > GONE_DAYS
    if (isOver) removeAll(other)
  }
}

/** The folders of objects that git reads in a repository: its own, and those that it borrows. */
function objectsOf({ repository }: Home): readonly string[] {
  const own = join(repository.commonDir, 'objects')
  const alternates = join(own, 'info/alternates')
  const borrowed = existsSync(alternates) ? readFileSync(alternates, 'utf8').split('\n').filter(Boolean) : []
  return [own, ...borrowed.map((path) => resolve(own, path))]
}

/** The folders of hooks that run in a slot's clean room. */
function hooksOf(slot: Slot, home: Home): readonly string[] {
  return [slot.hooks, ...(hooksInTree(home) === null ? [home.hooks] : [])]
}

/** The numbers of the slots that a folder has. */
export function slotNumbers(folder: string): readonly number[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
}

/** The work of a running run at that task: its folder, and the commit that it is based on; null if there is none. */
export async function workUnderWay({ env }: Pick<World, 'env'>, place: Place, id: string) {
  const { repository } = await openRepository({ env }, place.root)
  const note = readNote(runFolder(place.root, repository).note)
  const job = note?.jobs.find(({ attempt }) => attempt.task === id && attempt.blocking === null)
  if (!job) return null
  const folder = slotsFolder(place, repository.root, env)
  const files = join(folder, String(job.workspace), 'work', basename(repository.root))
  return { folder: files, base: job.attempt.base }
}
