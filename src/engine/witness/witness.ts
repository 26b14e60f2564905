import { join } from 'node:path'
import { counted, fewOf, shortened } from '../../base/text.ts'
import type { GateResult } from '../../base/nouns.ts'
import type { Happening } from '../events/event.ts'
import { contentsOf } from '../../git/contents.ts'
import { amendedTree } from '../../git/made-commit.ts'
import { MODES, rawChanges, type RawChange } from '../../git/raw-changes.ts'
import type { CheckPorts } from '../check.ts'
import { isTestGate } from '../gates/test-counts.ts'
import type { Job } from '../job.ts'
import { outcome, type Outcome } from '../outcome.ts'
import type { Emit } from '../ports.ts'
import type { Home } from '../slot/home.ts'
import { compareTests, type FileVersions, type TestChange, type TestChanges } from './compare.ts'
import { testsIn } from './read-tests.ts'
import { runOn } from './run-on.ts'
import { testSide } from './test-files.ts'

/** What the witness says of work that has passed its gates. */
export interface Testimony {
  /** Why the tests cannot be trusted; null if they can. */
  readonly outcome: Outcome | null
  /** Tests that are not as they were, and what became of them: `test/a.test.ts: "adds": changed: the sum is rounded now`. */
  readonly testsChanged: readonly string[]
  /** How many tests came and went; null if none did. */
  readonly tests: string | null
  /** What else it saw, as the commit says it; null if the work has nothing to do with tests. */
  readonly words: string | null
  /** Whether new tests fail without the change. */
  readonly isShown: boolean
}

/** Work that the gates have passed on. */
interface Witnessed {
  readonly base: string
  readonly tree: string
  /** What it changes; null if gates have changed it since that was known. */
  readonly changes: readonly RawChange[] | null
  readonly results: readonly GateResult[]
  /** Why the agent changed tests, in its own words. */
  readonly reasons: readonly string[]
}

type WitnessJob = Pick<Job, 'task' | 'attempt' | 'gates' | 'tests'>

export const SILENT: Testimony = { outcome: null, testsChanged: [], tests: null, words: null, isShown: false }

/**
 * Checks that the tests themselves can be trusted. Fewer of them, or skipped ones, are a failure; so that old tests do not
 * change unseen, they run once more on the new code, and so that new tests test something, they run on the old code.
 */
export async function witness(
  job: WitnessJob,
  work: Witnessed,
  ports: CheckPorts,
  emit: Emit<Happening>,
): Promise<Testimony> {
  const { policy } = job.tests
  const ran = work.results.filter(({ gate, tests }) => isTestGate(gate, tests))
  if (ran.length === 0) return SILENT
  const emptied = ran.find(({ gate, tests }) => tests?.run === 0 && (job.tests.before[gate.name] ?? 0) > 0)
  if (emptied) {
    const { name } = emptied.gate
    const reason = `${name} ran no tests; before this change it ran ${job.tests.before[name]}`
    return { ...SILENT, outcome: outcome('gate-failed', reason) }
  }
  const files = await testFiles(job, work, ports)
  if (files.length === 0)
    return {
      ...SILENT,
      words: (await hasTests(work.tree, policy, ports.home)) ? quietText(job, ran) : NONE_KNOWN,
    }
  const seen = compareTests(
    files.map(({ versions }) => versions),
    job.task.title,
  )
  const said = testimonyOf(seen, job, work)
  if (said.outcome) return said
  const seconds = ran.reduce((sum, result) => sum + result.seconds, 0)
  if (seconds > policy.limitSeconds) {
    const isNeeded = seen.touched.length + seen.added > 0
    return { ...said, words: isNeeded ? 'off (the tests take longer than tests.limit)' : null }
  }
  const again = { job, work, files, gates: ran.map(({ gate }) => gate) }
  const old = await oldTests(again, seen, ports, emit)
  const all = { ...said, testsChanged: [...said.testsChanged, ...old] }
  if (old.length > 0 && policy.changed === 'refuse') return { ...all, outcome: changedOutcome(old) }
  return { ...all, ...(await newTests(again, seen, ports, emit)) }
}

/** Whether a project has files of tests. It is asked until it has some. */
async function hasTests(tree: string, { paths }: Job['tests']['policy'], home: Home): Promise<boolean> {
  const has = known.has(home) || (await ownFilesIn(tree, home)).some(testSide(paths))
  if (has) known.add(home)
  return has
}

const known = new WeakSet<Home>()

const NONE_KNOWN = 'off (no test files known; set tests.paths)'

/** The project's files in a tree. */
export async function ownFilesIn(
  tree: string,
  { git, prefix }: CheckPorts['home'],
): Promise<readonly string[]> {
  const { stdout } = await git.run(['ls-tree', '-r', '-z', '--name-only', '--full-tree', tree])
  const paths = stdout.toString().split('\0').filter(Boolean)
  return paths.flatMap((path) => (path.startsWith(prefix) ? [path.slice(prefix.length)] : []))
}

/** A file that matters to the witness. */
interface SeenFile {
  readonly change: RawChange
  readonly versions: FileVersions
}

/** The changed files with their texts, if any of them holds tests. */
async function testFiles(
  { tests }: WitnessJob,
  { base, tree, changes: seen }: Witnessed,
  { home }: Pick<CheckPorts, 'home'>,
): Promise<readonly SeenFile[]> {
  const isTestSide = testSide(tests.policy.paths)
  const all = seen ?? (await rawChanges(home.git, base, tree))
  const changes = all.filter(({ was, is }) => was.mode !== MODES.submodule && is.mode !== MODES.submodule)
  const named = changes.map((change) => {
    const { path } = change
    const own = path.startsWith(home.prefix) ? path.slice(home.prefix.length) : path
    return { change, path, isTestSide: isTestSide(own) }
  })
  // Sources may hold tests of their own.
  const isNeeded = named.some((one) => one.isTestSide || one.path.endsWith('.rs'))
  if (!isNeeded && tests.policy.new !== 'require') return []
  const texts = await contentsOf(
    home.git,
    changes.flatMap(({ kind, was, is }) =>
      [kind === 'new' ? [] : was.hash, kind === 'gone' ? [] : is.hash].flat(),
    ),
  )
  const textOf = ({ hash }: RawChange['was']): string | null => texts.get(hash)?.toString() ?? null
  return named.map(({ change, path, isTestSide }) => ({
    change,
    versions: { path, isTestSide, was: textOf(change.was), is: textOf(change.is) },
  }))
}

/** What the texts of the tests say by themselves. */
function testimonyOf(
  { weakened, named, added, removed }: TestChanges,
  { tests }: WitnessJob,
  { reasons, results }: Pick<Witnessed, 'reasons' | 'results'>,
): Testimony {
  const { changed } = tests.policy
  const all = [...weakened, ...named].map((change) => changeText(change, reasons))
  const isRefused =
    changed !== 'report' && (weakened.length > 0 || (changed === 'refuse' && named.length > 0))
  return {
    outcome: isRefused ? weakenedOutcome(changed === 'refuse' ? [...weakened, ...named] : weakened) : null,
    testsChanged: all,
    tests: countsText({ added, removed }, tests.before, results),
    words: quietText({ tests }, results),
    isShown: false,
  }
}

/** Names a gate that told of its tests before, and does not now: a test may have ended it. */
function quietText({ tests }: Pick<WitnessJob, 'tests'>, results: readonly GateResult[]): string | null {
  const quiet = results.find(({ gate, tests: now }) => !now && (tests.before[gate.name] ?? 0) > 0)
  return quiet
    ? `${quiet.gate.name} ran ${counted(tests.before[quiet.gate.name]!, 'test')} before, and does not say how many now`
    : null
}

/** `3 added, 1 removed; 48 before, 50 now`. */
function countsText(
  { added, removed }: { added: number; removed: number },
  before: Job['tests']['before'],
  results: readonly GateResult[],
): string | null {
  const sum = (counts: readonly (number | undefined)[]): number | null =>
    counts.reduce<number | null>((all, one) => (one === undefined || all === null ? null : all + one), 0)
  const counting = results.filter(({ tests }) => tests)
  const [then, now] = [
    sum(counting.map(({ gate }) => before[gate.name])),
    sum(counting.map(({ tests }) => tests?.run)),
  ]
  const changes = [added > 0 ? `${added} added` : '', removed > 0 ? `${removed} removed` : ''].filter(Boolean)
  if (changes.length === 0) return null
  return [changes.join(', '), then === null || now === null ? '' : `${then} before, ${now} now`]
    .filter(Boolean)
    .join('; ')
}

const WHAT: Readonly<Record<TestChange['what'], string>> = {
  removed: 'removed',
  skipped: 'skipped',
  alone: 'runs alone, and the others do not',
  gone: 'removed, with what it tests',
  sometimes: 'skipped under a condition',
}

function changeText({ file, test, what }: TestChange, reasons: readonly string[]): string {
  return [`${file}: "${test}"`, WHAT[what], reasonFor({ file, test }, reasons)].filter(Boolean).join(': ')
}

/** What the agent says of it, if it names the test or its file. */
function reasonFor({ file, test }: { file: string; test: string }, reasons: readonly string[]): string {
  const name = file.slice(file.lastIndexOf('/') + 1)
  return reasons.find((reason) => reason.includes(test) || reason.includes(name)) ?? ''
}

function weakenedOutcome(changes: readonly TestChange[]): Outcome {
  const [first] = changes
  const texts = changes.map((change) => changeText(change, []))
  const more = texts.length > 1 ? `, and ${texts.length - 1} more` : ''
  return outcome('tests-changed', `test ${WHAT[first!.what]}: ${first!.file}: "${first!.test}"${more}`, {
    detail: [...texts, '', HOW_TO_GO_ON].join('\n'),
  })
}

function changedOutcome(changed: readonly string[]): Outcome {
  return outcome('tests-changed', `tests must stay as they are: ${fewOf(changed)}`, {
    detail: [...changed, '', HOW_TO_GO_ON].join('\n'),
  })
}

const HOW_TO_GO_ON =
  'Put these tests back as they were, and make the code pass them. If one of them contradicts the task, end as blocked, and say which and why. A person can add to the task: Tests: may change'

/** What tests run again on, and which gates run them. */
interface Again {
  readonly job: WitnessJob
  readonly work: Witnessed
  readonly files: readonly SeenFile[]
  readonly gates: readonly GateResult['gate'][]
}

/** The tests of the base that fail on the new code, as far as they are not as they were. */
async function oldTests(
  { job, work, files, gates }: Again,
  { touched }: TestChanges,
  ports: CheckPorts,
  emit: Emit<Happening>,
): Promise<readonly string[]> {
  if (touched.length === 0) return []
  // New helpers and fixtures may be needed; new tests are not asked.
  const isNewTest = ({ path, was, is, isTestSide }: FileVersions): boolean =>
    isTestSide && was === null && (testsIn(path, is ?? '')?.names.length ?? 0) > 0
  const back = new Map<string, RawChange['was'] | null>()
  for (const { change, versions } of files) {
    if (touched.includes(change.path)) back.set(change.path, change.was)
    else if (isNewTest(versions)) back.set(change.path, null)
  }
  const tree = await amendedTree(ports.home.git, join(ports.slot.path, 'witness-index'), work.tree, back)
  emit({ type: 'witness-started', id: job.task.id, tests: 'old' })
  const name = `${job.task.id}-${job.attempt}-old-tests`
  const results = await runOn(tree, { id: job.task.id, name, base: work.base, gates }, ports, emit)
  const failed = results.filter(({ verdict }) => verdict === 'failed' || verdict === 'timed-out')
  if (failed.length === 0) return []
  const output = failed.map(({ excerpt }) => excerpt).join('\n')
  const changed = touched.flatMap((file) => {
    const { was, is } = files.find(({ versions }) => versions.path === file)!.versions
    return failingIn(file, { was, is }, output)
  })
  const named = changed.length > 0 ? changed : touched.map((file) => ({ file, test: '' }))
  return named.map((one) => changedText(one, job, work))
}

/** The tests of a file that the output of its old version names. */
function failingIn(
  file: string,
  { was, is }: { was: string | null; is: string | null },
  output: string,
): readonly { file: string; test: string }[] {
  const { names, texts } = testsIn(file, was ?? '') ?? { names: [], texts: [] }
  const differs = (_: string, at: number): boolean => !(is ?? '').includes(texts[at]!.trim())
  const tests = names.filter(differs).filter((test) => output.includes(test))
  if (tests.length > 0) return tests.map((test) => ({ file, test }))
  return output.includes(file.slice(file.lastIndexOf('/') + 1)) ? [{ file, test: '' }] : []
}

function changedText(
  { file, test }: { file: string; test: string },
  { tests }: WitnessJob,
  { reasons }: Witnessed,
): string {
  const before =
    test !== '' && tests.failedBefore.includes(test) ? 'changed, and had failed before' : 'changed'
  const what = test === '' ? file : `${file}: "${test}"`
  return `${what}: ${before}: ${reasonFor({ file, test: test || file }, reasons) || NO_REASON}`
}

const NO_REASON = 'the agent gave no reason'

/** What became of tests, after the agent was asked why where it had not said so. */
export async function withReasons(
  changes: readonly string[],
  ask: (changes: readonly string[]) => Promise<string>,
): Promise<readonly string[]> {
  const open = changes.filter((change) => change.endsWith(NO_REASON))
  if (open.length === 0) return changes
  const said = (await ask(open.map((change) => change.slice(0, -NO_REASON.length))))
    .split('\n')
    .filter(Boolean)
  return changes.map((change) => {
    const [, file = '', test = ''] = /^(.*?):(?: "(.*?)")?/.exec(change) ?? []
    const reason = reasonFor({ file, test: test || file }, said) || (open.length === 1 ? said.at(-1) : '')
    return change.endsWith(NO_REASON) && reason
      ? change.slice(0, -NO_REASON.length) + shortened(reason, LONGEST_REASON)
      : change
  })
}

const LONGEST_REASON = 300

/** Whether the new tests fail on the old code, as they should. */
async function newTests(
  { job, work, files, gates }: Again,
  { added }: TestChanges,
  ports: CheckPorts,
  emit: Emit<Happening>,
): Promise<Partial<Testimony>> {
  const { new: policy } = job.tests.policy
  const isCode = files.some(({ versions }) => !versions.isTestSide && !TEXTS.test(versions.path))
  if (policy === 'off' || !isCode) return {}
  if (added === 0)
    return policy === 'require' ? { outcome: outcome('no-tests', 'it adds no test for what it changes') } : {}
  const theirs = files.flatMap(({ change: { path, kind, is }, versions }) =>
    versions.isTestSide ? [[path, kind === 'gone' ? null : is] as const] : [],
  )
  if (theirs.length === 0) return {}
  const tree = await amendedTree(
    ports.home.git,
    join(ports.slot.path, 'witness-index'),
    work.base,
    new Map(theirs),
  )
  emit({ type: 'witness-started', id: job.task.id, tests: 'new' })
  const name = `${job.task.id}-${job.attempt}-new-tests`
  const results = await runOn(tree, { id: job.task.id, name, base: work.base, gates }, ports, emit)
  if (results.length === 0 || results.some(({ verdict }) => verdict === 'interrupted')) return {}
  const isMeaningful = results.some(({ verdict }) => verdict !== 'passed')
  const tests = counted(added, 'new test')
  if (isMeaningful)
    return { words: `${tests} ${added === 1 ? 'fails' : 'fail'} without this change`, isShown: true }
  const words = `${tests} ${added === 1 ? 'passes' : 'pass'} without this change, too`
  return { words, ...(policy === 'require' ? { outcome: outcome('no-tests', words) } : {}) }
}

const TEXTS = /\.(?:md|mdx|txt|rst|adoc)$/i
