import { asLeftStanding } from '../../base/failure-lines.ts'
import type { GateResult, TestCounts } from '../../base/nouns.ts'

/** Counts the tests of a gate by what its tool prints, in any number of summaries. */
export class TestCounter {
  #sums: TestCounts | null = null
  #tap: TestCounts | null = null
  #isStale = false

  take(line: string): void {
    if (!MAY_COUNT.test(line)) return
    const text = asLeftStanding(line)
    if (STALE.test(text)) this.#isStale = true
    const [, isNot, mark] = TAP.exec(text) ?? []
    if (mark !== undefined || TAP.test(text)) {
      const isSkipped = /^(?:skip|todo)/i.test(mark ?? '')
      const one = { run: isSkipped ? 0 : 1, skipped: isSkipped ? 1 : 0, failed: !isSkipped && isNot ? 1 : 0 }
      this.#tap = added(this.#tap, one)
      return
    }
    const summary = SUMMARIES.find(({ line: pattern }) => pattern.test(text))
    if (summary) this.#sums = added(this.#sums, countsIn(text, summary.hasTotal))
  }

  /** Null if the output does not say: of a tool that is not known, or from a cache. */
  get counts(): TestCounts | null {
    return this.#isStale ? null : (this.#sums ?? this.#tap)
  }
}

/** Whether a command runs only the tests of what has changed: then a count says nothing. */
export function runsPart(command: string): boolean {
  return /\s--(?:changed|onlyChanged|affected|last-failed|lf|only-changed)\b|\baffected\b/.test(command)
}

/** Gates that say nothing of tests are told by their names. */
export function isTestGate({ name, command }: GateResult['gate'], tests?: GateResult['tests']): boolean {
  return (tests ?? null) !== null || TESTS.test(name) || TESTS.test(command)
}

const TESTS = /\b(?:tests?|specs?|pytest|unittest|vitest|jest|mocha|tox|rspec|phpunit|ctest)\b/i

/** Most lines are of no interest. */
const MAY_COUNT = /\d|no test|cache|turbo/i
const STALE = /\(cached\)|\bFULL TURBO\b|\bcache hit\b|\bfrom (?:the )?(?:\w+ )?cache\b/i
const TAP = /^(not )?ok \d+\b(?:.*#\s*((?:skip|todo)\w*))?/i

/** The lines that sum up; those with a total count skipped tests in it. */
const SUMMARIES: readonly { readonly line: RegExp; readonly hasTotal: boolean }[] = [
  // vitest, jest, mocha, bun and playwright
  { line: /^\s*Tests\s+\d.*\(\d+\)$|^Tests:\s.*\d+ total$/, hasTotal: false },
  {
    line: /^\s+\d+ (?:passing|failing|pending|pass|fail|skip|todo|passed|failed|skipped|flaky)(?: \([\d.]+ ?\w+\))?$/,
    hasTotal: false,
  },
  // node:test
  { line: /^[ℹ#] (?:tests|fail|skipped|todo) \d+$/, hasTotal: true },
  // pytest, unittest
  { line: /^=*\s*\d+ [a-z]+(?:, \d+ [a-z]+)* in [\d.]+s\b|^=*\s*no tests ran in /, hasTotal: false },
  { line: /^Ran \d+ tests? in |^(?:OK|FAILED) \([a-z][a-z ]*=\d+(?:, [a-z][a-z ]*=\d+)*\)$/, hasTotal: true },
  // go test -v, cargo, deno, dotnet
  { line: /^\s*--- (?:PASS|FAIL|SKIP): /, hasTotal: false },
  {
    line: /^test result: \w+\. \d|^(?:ok|FAILED) \| \d+ passed|^(?:Passed|Failed)! +- Failed: +\d/,
    hasTotal: false,
  },
  // Maven, PHPUnit, RSpec, Minitest, ExUnit
  { line: /^(?:\[\w+\] )?Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$/, hasTotal: true },
  { line: /^OK \(\d+ tests?, |^Tests: \d+, Assertions: /, hasTotal: true },
  // Several tools
  {
    line: /^\s*(?:\[\w+\] )?(?:No tests? (?:files )?(?:found|executed|to run|is available)|testing: warning: no tests to run)\b/i,
    hasTotal: false,
  },
  { line: /^\d+ (?:examples?|runs|tests|doctests?)(?:, \d+ \w+)+/, hasTotal: true },
]

const KINDS: readonly (readonly [keyof TestCounts | 'total', RegExp])[] = [
  ['failed', /^(?:fail\w*|errors?)$/i],
  ['skipped', /^(?:skip\w*|pending|todo|ignored|incomplete|xfail\w*|excluded)$/i],
  ['total', /^(?:tests?|run|runs|ran|examples?|doctests?)$/i],
  ['run', /^(?:pass\w*|flaky|xpassed)$/i],
]

/** The numbers of a line, each with the word before it or behind it. */
function countsIn(text: string, hasTotal: boolean): TestCounts {
  const found = { run: 0, failed: 0, skipped: 0, total: 0 }
  const kindOf = (word: string | undefined) => KINDS.find(([, pattern]) => pattern.test(word ?? ''))?.[0]
  const outcome = kindOf(/^\s*--- (\w+):/.exec(text)?.[1])
  if (outcome) found[outcome]++
  else
    for (const [, ahead, first, second, behind] of text
      .replace('expected failures', 'xfailed')
      .matchAll(/([a-z]+)(?: run)?(?:: *|=| )(\d+)(?![\d.]*(?:m?s\b| [a-z]))|(\d+) ([a-z]+)/gi)) {
      const kind = kindOf(ahead ?? behind)
      if (kind) found[kind] += Number(first ?? second)
    }
  const { failed, skipped } = found
  return { run: hasTotal ? found.total - skipped : found.run + failed, skipped, failed }
}

function added(sums: TestCounts | null, more: TestCounts): TestCounts {
  if (sums === null) return more
  return { run: sums.run + more.run, skipped: sums.skipped + more.skipped, failed: sums.failed + more.failed }
}
