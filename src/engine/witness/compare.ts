import { isData, isHidden } from './test-files.ts'
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
  /**
   * `gone`: removed together with what it tests. `alone`: it runs, and hides all others. `sometimes`: skipped under a
   * condition.
   */
  readonly what: 'removed' | 'skipped' | 'alone' | 'gone' | 'sometimes'
}

/** What work does to the tests, as far as their text shows it. */
export interface TestChanges {
  /** What leaves fewer tests that run. */
  readonly weakened: readonly TestChange[]
  /** What is only named. */
  readonly named: readonly TestChange[]
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
  lost: readonly string[]
  gained: readonly string[]
  /** The marks that only the new version has, without those that have moved here. */
  readonly marks: Pick<TestsIn, 'skipped' | 'sometimes'>
}

/** Compares the tests of a base with those of the work on it. The title is that of the task, which may ask for less. */
export function compareTests(files: readonly FileVersions[], title: string): TestChanges {
  const compared = takeMovedMarks(files.flatMap((file) => comparedIn(file) ?? []))
  const counterparts = takeMoved(compared)
  const isLess = compared.some(({ lost }) => lost.length > 0)
  const goneNames = namesGoneFrom(isLess ? files.filter(({ isTestSide }) => !isTestSide) : [])
  const changes = compared.flatMap((one) => {
    const others = [one, ...(counterparts.get(one) ?? [])]
    return [...removedFrom(one, others, goneNames), ...hiddenIn(one, others)]
  })
  const isOnlyNamed = ({ what, test }: TestChange): boolean =>
    ONLY_NAMED[what].test(title) || (what === 'removed' && isCompound(test) && title.includes(test))
  // What is gone needs no further look.
  const isNamed = ({ path, is }: FileVersions): boolean =>
    is === null && changes.some(({ file }) => file === path)
  const sum = (count: (one: Compared) => number): number => compared.reduce((all, one) => all + count(one), 0)
  return {
    weakened: changes.filter((change) => !isOnlyNamed(change)),
    named: changes.filter(isOnlyNamed),
    touched: touchedIn(files).flatMap((file) => (isNamed(file) ? [] : file.path)),
    added: sum(({ gained }) => gained.length),
    removed: sum(({ lost }) => lost.length),
  }
}

/** The titles of tasks that ask for it: then it is only named. A title may also name the very test. */
const ONLY_NAMED: Readonly<Record<TestChange['what'], RegExp>> = {
  removed:
    /\b(?:remov|delet|drop|deprecat|revert|retir|prun|dedup)|\bget rid of\b|\b(?:duplicate|redundan|unnec|combin|consolidat|integrat|merg|disabl|clean|simplif|refactor|rework|migrat|convert)\w*\b.*\btests?\b/i,
  skipped: /\b(?:skip|disabl|quarantin|xfail|revert)/i,
  alone: /(?!)/,
  gone: /^/,
  sometimes: /^/,
}

const NO_TESTS: TestsIn = { names: [], skipped: [], sometimes: [], alone: [], tables: 0, texts: [] }

function comparedIn(file: FileVersions): Compared | null {
  const read = (text: string | null): TestsIn =>
    (text === null || text.length > LONGEST ? null : testsIn(file.path, text)) ?? NO_TESTS
  const [before, after] = [read(file.was), read(file.is)]
  if (before === NO_TESTS && after === NO_TESTS) return null
  if (file.isTestSide ? isData(file.path) : !mayHoldTests(file)) return null
  const [lost, gained] = [without(before.names, after.names), without(after.names, before.names)]
  return { ...file, before, after, lost, gained, marks: newMarks(after, before) }
}

/** Sources have tests in Rust, and where they ask for vitest. */
function mayHoldTests({ path, was, is }: FileVersions): boolean {
  return path.endsWith('.rs') || [was, is].some((text) => text?.includes('import.meta.vitest'))
}

/** Longer files are data. */
const LONGEST = 2_000_000

/** Takes tests that have moved out of what is lost and gained; returns the files that took over tests of each. */
function takeMoved(compared: readonly Compared[]): ReadonlyMap<Compared, ReadonlySet<Compared>> {
  const gaining = new Map<string, Compared[]>()
  for (const one of compared)
    for (const test of one.gained) {
      const others = gaining.get(test) ?? []
      others.push(one)
      gaining.set(test, others)
    }
  const taken = new Map<Compared, string[]>(compared.map((one) => [one, []]))
  const counterparts = new Map<Compared, Set<Compared>>()
  for (const one of compared) {
    const taking = new Set<Compared>()
    one.lost = one.lost.filter((test) => {
      const others = gaining.get(test) ?? []
      const at = others.findLastIndex((other) => !isHidden(one.path, other.path))
      const [other] = at === -1 ? [] : others.splice(at, 1)
      if (!other) return true
      taking.add(other)
      taken.get(other)!.push(test)
      return false
    })
    counterparts.set(one, taking)
  }
  for (const [one, tests] of taken) one.gained = without(one.gained, tests)
  takeRewritten(compared)
  for (const [one, taking] of counterparts)
    if (one.lost.length > 0) for (const other of compared) if (isRenamed(one, other)) taking.add(other)
  return counterparts
}

/** The marks that only the first has; one that depends on something may have been there for all. */
function newMarks(after: TestsIn, before: TestsIn): TestsIn {
  const skipped = without(after.skipped, before.skipped)
  return { ...after, skipped, sometimes: without(after.sometimes, [...before.sometimes, ...before.skipped]) }
}

/** Takes out the tests most of whose lines are in tests of another file now, whatever they are called there. */
function takeRewritten(compared: readonly Compared[]): void {
  const losing = compared.filter(({ lost }) => lost.length > 0)
  if (losing.length === 0) return
  const found = compared.filter(
    ({ path, was }) => was !== null || !losing.some((one) => isHidden(one.path, path)),
  )
  const linesIn = ({ texts }: TestsIn): readonly string[] => linesOf(texts.join(''))
  const isThere = taking(found.flatMap(({ before, after }) => without(linesIn(after), linesIn(before))))
  for (const one of losing) {
    const textOf = new Map(one.before.names.map((test, at) => [test, one.before.texts[at]!]))
    one.lost = one.lost.filter((test) => !isMostly(linesOf(textOf.get(test)!).slice(1), isThere))
  }
}

/** Tests take their marks along when they move. */
function takeMovedMarks(compared: readonly Compared[]): readonly Compared[] {
  const left = compared.map(({ before, after }) => newMarks(before, after))
  const [isSkipped, isSometimes] = [
    taking(left.flatMap(({ skipped }) => skipped)),
    taking(left.flatMap(({ sometimes }) => sometimes)),
  ]
  return compared.map((one) => {
    const skipped = one.marks.skipped.filter((mark) => !isSkipped(mark))
    return { ...one, marks: { skipped, sometimes: one.marks.sometimes.filter((mark) => !isSometimes(mark)) } }
  })
}

/** Whether a file that is gone lives on as the other. */
function isRenamed(one: Compared, other: Compared): boolean {
  if (one.was === null || one.is !== null || other.was !== null || other.is === null) return false
  if (other.gained.length === 0 || isHidden(one.path, other.path)) return false
  const kept = new Set(linesOf(other.is))
  return isMostly(linesOf(one.was), (line) => kept.has(line))
}

function isMostly(lines: readonly string[], isOne: (line: string) => boolean): boolean {
  return lines.length > 0 && lines.filter(isOne).length * 2 >= lines.length
}

function linesOf(text: string): readonly string[] {
  return withoutImports(text)
    .split('\n')
    .flatMap((line) => (/\w/.test(line) ? line.trim() : []))
}

/** The tests that are gone without another in their place: a new title alone is no loss, nor is a table of cases. */
function removedFrom(
  one: Compared,
  others: readonly Compared[],
  goneNames: ReadonlySet<string>,
): readonly TestChange[] {
  const ran = without(one.lost, one.before.skipped)
  if (ran.length === 0) return []
  const hasGone = (text: string): boolean => wordsOf(text).some((word) => goneNames.has(word))
  const isAllGone = one.is === null && hasGone(one.was!)
  const { names, texts } = one.before
  const gone = new Set(isAllGone ? names : names.filter((_, at) => hasGone(texts[at]!)))
  const changes = ran.map(
    (test) => ({ file: one.path, test, what: gone.has(test) ? 'gone' : 'removed' }) as const,
  )
  const removed = changes.filter(({ what }) => what === 'removed').length
  const isTable = others.some(({ before, after }) => after.tables > before.tables)
  const instead = others.reduce((sum, { gained, after }) => sum + without(gained, after.skipped).length, 0)
  return isTable || removed <= instead ? changes.filter(({ what }) => what === 'gone') : changes
}

/** The tests that are there and do not run any more. */
function hiddenIn(one: Compared, others: readonly Compared[]): readonly TestChange[] {
  // New tests may be skipped, and a whole file of them.
  const { names } = one.after
  const isNewFile = others.length === 1 && one.was === null && names.length === one.gained.length
  const isNew = new Set(one.gained)
  const marked = (what: 'skipped' | 'sometimes'): readonly TestChange[] =>
    isNewFile && names.length > 0
      ? []
      : one.marks[what].flatMap((test) => (isNew.has(test) ? [] : { file: one.path, test, what }))
  const alone = without(one.after.alone, one.before.alone)
  return [
    ...marked('skipped'),
    ...marked('sometimes'),
    ...alone.map((test) => ({ file: one.path, test, what: 'alone' }) as const),
  ]
}

/** Those of the first list that the second does not have as often. */
function without(all: readonly string[], others: readonly string[]): readonly string[] {
  const isOther = taking(others)
  return all.filter((one) => !isOther(one))
}

/** Takes one out of the list each time; false if there is none. */
function taking(all: readonly string[]): (one: string) => boolean {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1)
  return (one) => {
    const count = counts.get(one) ?? 0
    counts.set(one, count - 1)
    return count > 0
  }
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
  /^[ \t]*(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|override|pub(?:\([^)\n]{0,40}\))?)[ \t]+)*(?:(?:function\*?|class|def|defp?|fn|func|fun|type|interface|enum|struct|trait|module|const|object|record)[ \t]+(?:\([^)]*\)[ \t]*)?|(?=\w+\([^;=\n]{0,300}\)[^;\n]{0,100}\{[ \t]*$))([A-Za-z_]\w*)/gm

const SHORTEST_NAME = 4

function wordsOf(text: string): readonly string[] {
  const words = text.match(/[A-Za-z_]\w*(?:-\w+)*/g) ?? []
  return words.flatMap((word) => (word.includes('-') ? [word, ...word.split('-')] : word))
}

function stemOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\..*$/, '')
}

/** The test-side files of the base that are not as they were, even where they are now. */
function touchedIn(files: readonly FileVersions[]): readonly FileVersions[] {
  const moved = new Map<string, string>()
  for (const { path, was, is } of files) if (was === null && is !== null) moved.set(withoutPlaces(is), path)
  return files.filter(({ path, was, is, isTestSide }) => {
    if (!isTestSide || was === null) return false
    if (testsIn(path, '') === null) return true
    const text = withoutPlaces(was)
    if (is !== null) return withoutPlaces(is) !== text
    const to = moved.get(text)
    return to === undefined || isHidden(path, to)
  })
}
