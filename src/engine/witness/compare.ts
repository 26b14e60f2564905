import { testsIn, withoutImports, withoutPlaces, type TestsIn } from './read-tests.ts'

/** A file of the work, as it was and as it is; null where there is none. */
export interface FileVersions {
  /** From the project's root. */
  readonly path: string
  readonly was: string | null
  readonly is: string | null
  readonly isTestSide: boolean
}

/** A test, and what the work does to it. */
export interface TestChange {
  readonly file: string
  readonly test: string
  /** `gone`: removed together with what it tests. `alone`: it runs, and hides all others. */
  readonly what: 'removed' | 'skipped' | 'alone' | 'gone'
}

/** What work does to the tests, as far as their text shows it. */
export interface TestChanges {
  /** What leaves fewer tests that run. */
  readonly weakened: readonly TestChange[]
  readonly gone: readonly TestChange[]
  /** The test-side files of the base that are not as they were, but for the places that they name. */
  readonly touched: readonly string[]
  /** Whether there are tests that the base does not have. */
  readonly added: number
  readonly removed: number
}

interface Compared extends FileVersions {
  readonly before: TestsIn
  readonly after: TestsIn
  /** The names that only one of the versions has, without tests that have moved to another file, or from one. */
  readonly lost: string[]
  readonly gained: string[]
}

/** Compares the tests of a base with those of the work on it. The title is that of the task, which may ask for less. */
export function compareTests(files: readonly FileVersions[], title: string): TestChanges {
  const compared = files.flatMap((file) => comparedIn(file) ?? [])
  const counterparts = takeMoved(compared)
  const goneNames = namesGoneFrom(files.filter(({ isTestSide }) => !isTestSide))
  const changes = compared.flatMap((one) => {
    const others = [one, ...(counterparts.get(one) ?? [])]
    return [...removedFrom(one, others, goneNames), ...hiddenIn(one, others)].map((change) =>
      ASKS_FOR_LESS[change.what].test(title) ? { ...change, what: 'gone' as const } : change,
    )
  })
  // What is gone needs no further look.
  const isNamed = ({ path, is }: FileVersions): boolean =>
    is === null && changes.some(({ file }) => file === path)
  const sum = (count: (one: Compared) => number): number => compared.reduce((all, one) => all + count(one), 0)
  return {
    weakened: changes.filter(({ what }) => what !== 'gone'),
    gone: changes.filter(({ what }) => what === 'gone'),
    touched: files.filter((file) => isTouched(file, files) && !isNamed(file)).map(({ path }) => path),
    added: sum(({ gained }) => gained.length),
    removed: sum(({ lost }) => lost.length),
  }
}

/** Titles of tasks after which tests may be removed, or skipped. */
const ASKS_FOR_LESS = {
  removed: /\b(?:remov|delet|drop|revert|retir|prun|dedup)|\bget rid of\b|\bduplicate tests\b/i,
  skipped: /\b(?:skip|disabl|quarantin|xfail|revert)/i,
  alone: /(?!)/,
  gone: /(?!)/,
}

const NO_TESTS: TestsIn = { names: [], skipped: [], alone: [], tables: 0, texts: [] }

function comparedIn(file: FileVersions): Compared | null {
  const read = (text: string | null): TestsIn =>
    (text === null || text.length > LONGEST ? null : testsIn(file.path, text)) ?? NO_TESTS
  const [before, after] = [read(file.was), read(file.is)]
  if (before === NO_TESTS && after === NO_TESTS) return null
  // Sources may have tests, too.
  if (!file.isTestSide && before.names.length === 0) return null
  const [lost, gained] = [without(before.names, after.names), without(after.names, before.names)]
  return { ...file, before, after, lost, gained }
}

/** Longer files are data. */
const LONGEST = 2_000_000

/** Takes tests that have moved out of what is lost and gained; returns the files that took over tests of each. */
function takeMoved(compared: readonly Compared[]): ReadonlyMap<Compared, ReadonlySet<Compared>> {
  const counterparts = new Map<Compared, Set<Compared>>()
  for (const one of compared) {
    const taking = new Set(compared.filter((other) => isRenamed(one, other)))
    for (const test of one.lost.slice()) {
      const other = compared.find(({ gained }) => gained.includes(test))
      if (!other) continue
      taking.add(other)
      one.lost.splice(one.lost.indexOf(test), 1)
      other.gained.splice(other.gained.indexOf(test), 1)
    }
    counterparts.set(one, taking)
  }
  return counterparts
}

/** Whether a file that is gone lives on as the other. */
function isRenamed(one: FileVersions, other: FileVersions): boolean {
  if (one.was === null || one.is !== null || other.was !== null || other.is === null) return false
  const lines = linesOf(one.was)
  const kept = new Set(linesOf(other.is))
  return lines.filter((line) => kept.has(line)).length * 2 >= lines.length
}

function linesOf(text: string): readonly string[] {
  return withoutImports(text)
    .split('\n')
    .flatMap((line) => line.trim() || [])
}

/** The tests that are gone without another in their place: a new title alone is no loss, nor is a table of cases. */
function removedFrom(
  one: Compared,
  others: readonly Compared[],
  goneNames: ReadonlySet<string>,
): readonly TestChange[] {
  const isGone = (test: string): boolean => {
    const texts = one.before.texts.filter((_, at) => one.before.names[at] === test)
    return [...texts, one.is === null ? one.was! : ''].some((text) =>
      wordsOf(text).some((word) => goneNames.has(word)),
    )
  }
  const ran = without(one.lost, one.before.skipped)
  const changes = ran.map(
    (test) => ({ file: one.path, test, what: isGone(test) ? 'gone' : 'removed' }) as const,
  )
  const removed = changes.filter(({ what }) => what === 'removed').length
  const isTable = others.some(({ before, after }) => after.tables > before.tables)
  const instead = others.reduce((sum, { gained, after }) => sum + without(gained, after.skipped).length, 0)
  return isTable || removed <= instead ? changes.filter(({ what }) => what === 'gone') : changes
}

/** The tests that are there and do not run any more. */
function hiddenIn(one: Compared, others: readonly Compared[]): readonly TestChange[] {
  const isNew = new Set(one.gained)
  const had = others.flatMap(({ before }) => before.skipped)
  const skipped = without(one.after.skipped, had).filter((mark) => !isNew.has(mark))
  const alone = without(one.after.alone, one.before.alone)
  return [
    ...skipped.map((test) => ({ file: one.path, test, what: 'skipped' }) as const),
    ...alone.map((test) => ({ file: one.path, test, what: 'alone' }) as const),
  ]
}

/** Those of the first list that the second does not have as often. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return all.filter((one) => {
    const at = left.indexOf(one)
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
}

/** What the sources declared, and none of them has any more: names, and files. */
function namesGoneFrom(sources: readonly FileVersions[]): ReadonlySet<string> {
  const texts = (version: 'was' | 'is'): readonly string[] =>
    sources.flatMap((file) => file[version]?.slice(0, LONGEST) ?? [])
  const files = (version: 'was' | 'is'): readonly string[] =>
    sources.flatMap((file) => (file[version] === null ? [] : stemOf(file.path)))
  const still = new Set([...texts('is').flatMap(wordsOf), ...files('is')])
  const were = texts('was').flatMap((text) => [...declaredIn(text), ...wordsOf(text).filter(isCompound)])
  return new Set(
    [...were, ...files('was')].filter((name) => name.length >= SHORTEST_NAME && !still.has(name)),
  )
}

function declaredIn(text: string): readonly string[] {
  return [...text.matchAll(DECLARED)].map(([, name]) => name!)
}

/** Names of several words are rarely anything else. */
function isCompound(word: string): boolean {
  return /[a-z\d][A-Z]|\w_\w/.test(word)
}

const DECLARED =
  /^[ \t]*(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|override|pub(?:\([^)]*\))?)[ \t]+)*(?:(?:function\*?|class|def|defp?|fn|func|fun|type|interface|enum|struct|trait|module|const|object|record)[ \t]+(?:\([^)]*\)[ \t]*)?|(?=\w+\([^;=\n]*\)[^;\n]*\{[ \t]*$))([A-Za-z_]\w*)/gm

const SHORTEST_NAME = 4

function wordsOf(text: string): readonly string[] {
  return text.match(/[A-Za-z_]\w*(?:-\w+)*/g)?.flatMap((word) => [word, ...word.split('-')]) ?? []
}

function stemOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\..*$/, '')
}

/** Whether a test-side file of the base is not as it was, even where it is now. */
function isTouched({ path, was, is, isTestSide }: FileVersions, files: readonly FileVersions[]): boolean {
  if (!isTestSide || was === null) return false
  if (testsIn(path, '') === null) return true
  const text = withoutPlaces(was)
  if (is !== null) return withoutPlaces(is) !== text
  return !files.some((other) => other.was === null && other.is !== null && withoutPlaces(other.is) === text)
}
