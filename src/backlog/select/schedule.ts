import { compareNumbers } from '../ids.ts'
import type { TaskHead } from '../model.ts'
import { parseGlob } from '../../base/glob.ts'

/** The facts of a task that scheduling needs. */
type Schedulable = Pick<TaskHead, 'id' | 'number'> & { readonly touches: readonly string[] }

/** A task under way: an agent works on it, its candidate waits to land, or it cannot land yet. */
export interface Busy<T extends Schedulable> {
  readonly task: T
  readonly phase: 'working' | 'ready' | 'held'
  /** The paths that its candidate changes. */
  readonly changed?: readonly string[]
}

/** Everything that the decision depends on. */
export interface Standing<T extends Schedulable> {
  /** The eligible tasks by number; busy ones may be among them. */
  readonly eligible: readonly T[]
  readonly busy: readonly Busy<T>[]
  /** How many agents may work at once. */
  readonly jobs: number
  readonly overlap: 'wait' | 'ignore'
  /**
   * Tasks that met others in this run, the one that did so first at the front: they claim these paths as if they were their
   * Touches, and a task that fails only together with others works while nobody else does.
   */
  readonly claims: ReadonlyMap<string, Claim>
  /** How many more tasks may begin. */
  readonly mayBegin: number
  /** Tasks that have begun before and need another attempt: they are not counted again. */
  readonly again: ReadonlySet<string>
  /** Whether nothing more may begin; what is ready still lands. */
  readonly isEnding: boolean
  /** Whether nothing may land either, because somebody stops the run. */
  readonly isStopping: boolean
  readonly isLanding: boolean
}

/** What a task that met others may not share with another one. */
export interface Claim {
  readonly paths: readonly string[]
  readonly isAlone: boolean
}

/** A run that has not begun. */
export const IDLE = {
  busy: [],
  claims: new Map<string, Claim>(),
  mayBegin: Infinity,
  again: new Set<string>(),
  isEnding: false,
  isStopping: false,
  isLanding: false,
} as const

/** Why an eligible task does not begin now. */
export type Wait =
  | { readonly kind: 'overlap'; readonly id: string; readonly path: string }
  /** All workspaces are in use, or the most tasks have begun. */
  | { readonly kind: 'jobs' }

/** What to do now. */
export interface Schedule<T extends Schedulable> {
  /** The tasks to begin, each in a free workspace. */
  readonly begin: readonly T[]
  readonly waiting: readonly { readonly task: T; readonly wait: Wait }[]
  /** The candidate to land next; null if none is ready, or one is landing. */
  readonly land: T | null
  /** Whether nothing is under way and nothing can begin. */
  readonly isOver: boolean
}

/**
 * Decides what a run does next: the lowest-numbered eligible tasks begin that overlap with nothing under way, and the
 * candidate with the lowest number lands. Of tasks that met others, the one that did so first goes first.
 */
export function schedule<T extends Schedulable>(standing: Standing<T>): Schedule<T> {
  const { eligible, busy, jobs, again, claims, isEnding, isStopping, isLanding } = standing
  const ready = busy.filter(({ phase }) => phase === 'ready').map(({ task }) => task)
  const working = busy.filter(({ phase }) => phase === 'working').length
  // If landing is slower than the agents, more work would only wait and become outdated.
  const free = isEnding || isStopping || ready.length >= jobs ? 0 : jobs - working
  const ids = new Set(busy.map(({ task }) => task.id))
  const order = [...claims.keys()]
  const byClaim = (task: T): number => order.indexOf(task.id) + 1 || order.length + 1
  const begin: T[] = []
  const waiting: { task: T; wait: Wait }[] = []
  /** Tasks that would begin if others were not in their way: nobody passes them in what they claim. */
  const before: T[] = []
  let { mayBegin } = standing
  for (const task of eligible.toSorted((a, b) => byClaim(a) - byClaim(b))) {
    if (ids.has(task.id)) continue
    const inTheWay =
      meets(task, [...busy.map((one) => one.task), ...begin, ...before], standing) ??
      (isLanding ? landsBelow(task, standing) : null)
    if (claims.has(task.id)) before.push(task)
    if (inTheWay) waiting.push({ task, wait: inTheWay })
    else if (begin.length < free && (again.has(task.id) || mayBegin-- > 0)) begin.push(task)
    else waiting.push({ task, wait: { kind: 'jobs' } })
  }
  const beginning = begin.map((task) => ({ task, phase: 'working' as const }))
  const underWay = [...busy, ...beginning]
  const landable = busy.filter((one) => one.phase === 'ready' && !wouldMeet(one, underWay, claims))
  const byNumber = landable.map(({ task }) => task).toSorted((a, b) => compareNumbers(a.number, b.number))
  const land = isLanding || isStopping ? null : (byNumber[0] ?? null)
  const isOver = working + begin.length === 0 && !isLanding && land === null
  return { begin, waiting, land, isOver }
}

/** Whether a candidate would have another task, which met somebody before it did, begin again once more. */
function wouldMeet<T extends Schedulable>(
  { task, changed = [] }: Busy<T>,
  busy: readonly Busy<T>[],
  claims: Standing<T>['claims'],
): boolean {
  const order = [...claims.keys()]
  const own = order.indexOf(task.id)
  return busy.some((other) => {
    const claim = claims.get(other.task.id)
    const isBefore = own === -1 || order.indexOf(other.task.id) < own
    if (!claim || other.task.id === task.id || other.phase === 'held' || !isBefore) return false
    return claim.isAlone || overlapOf(changed, claim.paths) !== null
  })
}

/** The candidate that may be landing now in what a task claims: from what is there before, it would begin in vain. */
function landsBelow<T extends Schedulable>(
  { id }: T,
  { busy, claims }: Pick<Standing<T>, 'busy' | 'claims'>,
): Wait | null {
  for (const { task, phase, changed = [] } of busy) {
    const path = phase === 'ready' ? overlapOf(claims.get(id)?.paths ?? [], changed) : null
    if (path !== null) return { kind: 'overlap', id: task.id, path }
  }
  return null
}

/** What keeps a task from working beside others; null if nothing does. */
function meets<T extends Schedulable>(
  task: T,
  others: readonly T[],
  { overlap, claims }: Pick<Standing<T>, 'overlap' | 'claims'>,
): Wait | null {
  const claim = claims.get(task.id)
  for (const other of others) {
    const theirs = claims.get(other.id)
    if (claim?.isAlone || theirs?.isAlone) return { kind: 'overlap', id: other.id, path: '.' }
    const path = overlapOf(pathsOf(task, claim, overlap), pathsOf(other, theirs, overlap))
    if (path !== null) return { kind: 'overlap', id: other.id, path }
  }
  return null
}

/** The paths that a task does not share: what it touches, if that counts, and what it claims. */
function pathsOf(
  { touches }: Schedulable,
  claim: Claim | undefined,
  overlap: 'wait' | 'ignore',
): readonly string[] {
  return [...(overlap === 'wait' ? touches : []), ...(claim?.paths ?? [])]
}

/** The budget of one more job: an equal share, for each free workspace, of what is not reserved. */
export function shareOf(money: {
  readonly budget: number
  readonly spent: number
  readonly reserved: readonly number[]
  readonly jobs: number
}): number {
  const { budget, spent, reserved, jobs } = money
  const left = budget - spent - reserved.reduce((sum, one) => sum + one, 0)
  return Math.max(0, left / Math.max(1, jobs - reserved.length))
}

/** What two Touches lists share: the first path of one list that overlaps with an entry of the other. */
export function overlapOf(touches: readonly string[], others: readonly string[]): string | null {
  const [ours, theirs] = [touches.map(areaOf), others.map(areaOf)]
  return ours.find((one) => theirs.some((other) => meet(one, other)))?.text ?? null
}

/** The area that a path, a folder or a pattern covers. */
interface Area {
  readonly text: string
  /** Without a leading `./` and a trailing slash; empty for the root. */
  readonly path: string
  readonly matches: ((path: string) => boolean) | null
  /** The folder that all matches of a pattern are in. */
  readonly base: string
  /** The fixed ending of all names that a pattern matches. */
  readonly end: string
}

function areaOf(text: string): Area {
  const path = text.replaceAll('\\', '/').replace(/^(?:\.\/+)+|^\.$|\/+$/g, '')
  const glob = parseGlob(path)
  const end = glob ? /[^*?\]}/]*$/.exec(path)![0] : ''
  return { text, path, matches: glob && ((other) => glob.matches(other)), base: glob?.base ?? path, end }
}

function meet(one: Area, other: Area): boolean {
  if (!one.matches && !other.matches) return holds(one.path, other.path) || holds(other.path, one.path)
  if (one.matches && other.matches)
    // Two patterns certainly differ only if their folders or endings do.
    return (
      (holds(one.base, other.base) || holds(other.base, one.base)) &&
      (one.end.endsWith(other.end) || other.end.endsWith(one.end))
    )
  const [glob, plain] = one.matches ? [one, other] : [other, one]
  return glob.matches!(plain.path) || holds(plain.path, glob.base) || isFolderIn(glob, plain.path)
}

/** Whether a folder is the path or contains it. */
function holds(folder: string, path: string): boolean {
  return folder === '' || folder === path || path.startsWith(`${folder}/`)
}

/** Whether a plain path below a pattern's base seems to be a folder, which may contain matches. */
function isFolderIn({ base, path: pattern }: Area, path: string): boolean {
  const isDeep = pattern.includes('**') || pattern.slice(base.length + 1).includes('/')
  return isDeep && holds(base, path) && !/\.[^/.]+$/.test(path)
}
