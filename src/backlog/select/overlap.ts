import { parseGlob } from '../../base/glob.ts'

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
