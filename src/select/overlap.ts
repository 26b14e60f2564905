import { parseGlob } from '../base/glob.ts'

/** What both lists of Touches name: the first path of one that a path, a folder or a pattern of the other is about. */
export function overlapOf(touches: readonly string[], others: readonly string[]): string | null {
  const [ours, theirs] = [touches.map(areaOf), others.map(areaOf)]
  return ours.find((one) => theirs.some((other) => meet(one, other)))?.text ?? null
}

/** Where a path, a folder or a pattern leads. */
interface Area {
  readonly text: string
  /** Without a leading `./` and a trailing slash; empty for the root. */
  readonly path: string
  readonly matches: ((path: string) => boolean) | null
  /** The folder that all matches of a pattern are in. */
  readonly base: string
  /** What the names that a pattern matches end with, as far as it says so. */
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
    // What two patterns have in common nobody can list; they differ for sure only by their folders or their ends.
    return (
      (holds(one.base, other.base) || holds(other.base, one.base)) &&
      (one.end.endsWith(other.end) || other.end.endsWith(one.end))
    )
  const [glob, plain] = one.matches ? [one, other] : [other, one]
  return glob.matches!(plain.path) || holds(plain.path, glob.base) || isFolderIn(glob, plain.path)
}

/** Whether a folder is a path, or has it in it. */
function holds(folder: string, path: string): boolean {
  return folder === '' || folder === path || path.startsWith(`${folder}/`)
}

/** A plain path below a pattern's base that is a folder, as far as a name can say so, may hold matches. */
function isFolderIn({ base, path: pattern }: Area, path: string): boolean {
  const isDeep = pattern.includes('**') || pattern.slice(base.length + 1).includes('/')
  return isDeep && holds(base, path) && !/\.[^/.]+$/.test(path)
}
