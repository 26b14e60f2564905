/** A pattern of paths: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any folders. */
export interface Glob {
  /** The fixed folder of all matches; empty for the root. */
  readonly base: string
  matches(path: string): boolean
}

/** Parses a glob; null for a plain path. */
export function parseGlob(text: string): Glob | null {
  if (!/[*?[{]/.test(text)) return null
  const pattern = text.replace(/^(?:\.\/)+/, '')
  const start = /^[^*?[{]*/.exec(pattern)![0]
  const alternatives = braces(pattern).map((one) => one.split('/'))
  // Parsed when the first path is compared: of very many patterns most are never used.
  let tokens: readonly (readonly Name[])[] | undefined
  return {
    base: baseOf(alternatives),
    matches(path) {
      if (!path.startsWith(start)) return false
      tokens ??= alternatives.map((parts) => parts.map(nameOf))
      const names = path.split('/')
      return tokens.some((parts) => matchParts(parts, names))
    },
  }
}

/** Whether a path matches one of these patterns; a plain path is a file, or a folder with all below it. */
export function matchesOneOf(patterns: readonly string[]): (path: string) => boolean {
  const globs = patterns.map((pattern) => ({ plain: plainPath(pattern), glob: parseGlob(pattern) }))
  return (path) => globs.some(({ plain, glob }) => glob?.matches(path) ?? `${path}/`.startsWith(`${plain}/`))
}

/** `packages/api` for `./packages/api/`. */
export function plainPath(text: string): string {
  return text.replaceAll(/^(?:\.\/)+|\/+$/g, '')
}

/** A part of a pattern between slashes: any folders, or the tokens of a name. */
type Name = '**' | readonly string[]

function nameOf(part: string): Name {
  return part === '**' ? part : (part.match(/\[[!^]?\]?[^\]]*\]|[\s\S]/g) ?? [])
}

/** Beyond this, braces are not expanded and match literally. */
const MOST_ALTERNATIVES = 64

function braces(text: string): readonly string[] {
  let patterns = [text]
  for (;;) {
    const next = patterns.flatMap(firstBrace)
    if (next.length === patterns.length || next.length > MOST_ALTERNATIVES) return patterns
    patterns = next
  }
}

function firstBrace(text: string): readonly string[] {
  const match = /\{([^{}]*,[^{}]*)\}/.exec(text)
  if (!match) return [text]
  const [before, after] = [text.slice(0, match.index), text.slice(match.index + match[0].length)]
  return match[1]!.split(',').map((choice) => before + choice + after)
}

function baseOf(alternatives: readonly (readonly string[])[]): string {
  const [first = []] = alternatives
  const plain = first.findIndex(
    (part, index) =>
      index === first.length - 1 ||
      /[*?[{]/.test(part) ||
      alternatives.some((parts) => parts[index] !== part),
  )
  return first.slice(0, Math.max(0, plain)).join('/')
}

/** Backtracks only to the last `**`, so it takes quadratic time at most. */
function matchParts(parts: readonly Name[], path: readonly string[]): boolean {
  return matchSequence(
    { length: parts.length, isStar: (index) => parts[index] === '**' },
    { length: path.length, equals: (at, index) => matchName(parts[index]!, path[at]!) },
  )
}

function matchName(tokens: Name, name: string): boolean {
  return matchSequence(
    { length: tokens.length, isStar: (index) => tokens[index] === '*' },
    { length: name.length, equals: (at, index) => matchUnit(tokens[index]!, name[at]!) },
  )
}

interface Pattern {
  readonly length: number
  readonly isStar: (index: number) => boolean
}
interface Subject {
  readonly length: number
  readonly equals: (at: number, index: number) => boolean
}

function matchSequence(pattern: Pattern, subject: Subject): boolean {
  let [index, at, star, starAt] = [0, 0, -1, 0]
  while (at < subject.length) {
    if (index < pattern.length && pattern.isStar(index)) {
      star = index++
      starAt = at
    } else if (index < pattern.length && subject.equals(at, index)) {
      index++
      at++
    } else if (star !== -1) {
      index = star + 1
      at = ++starAt
    } else return false
  }
  while (index < pattern.length && pattern.isStar(index)) index++
  return index === pattern.length
}

function matchUnit(token: string, unit: string): boolean {
  if (token === '?') return true
  if (token.length === 1) return token === unit
  const isNegated = token[1] === '!' || token[1] === '^'
  return inClass(token.slice(isNegated ? 2 : 1, -1), unit) !== isNegated
}

function inClass(members: string, unit: string): boolean {
  for (let index = 0; index < members.length; index++) {
    const [from, to] =
      members[index + 1] === '-' && index + 2 < members.length
        ? [members[index]!, members[index + 2]!]
        : [members[index]!, members[index]!]
    if (from <= unit && unit <= to) return true
    if (from !== to) index += 2
  }
  return false
}
