import { basename } from 'node:path'
import { matchesOneOf } from '../../base/glob.ts'

/** Whether a path, from the project's root, is of the tests: a test, or a helper, fixture or snapshot beside one. */
export type IsTestSide = (path: string) => boolean

/** The files of tests, as the usual tools find them, or those of the configuration's patterns. */
export function testSide(patterns: readonly string[]): IsTestSide {
  if (patterns.length === 0) return (path) => !NO_TEST.test(path) && TESTS.some((one) => one.test(path))
  return matchesOneOf(patterns)
}

/** Texts about tests, and what installs them. */
const NO_TEST =
  /\.(?:md|mdx|rst|adoc)$|(?:^|\/)(?:node_modules|vendor|docs|package\.json|Cargo\.toml)(?:\/|$)/i

const TESTS: readonly RegExp[] = [
  // A folder of tests holds their helpers and fixtures, too.
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e|cypress|testdata|__snapshots__|__mocks__|__fixtures__|test[-_]fixtures|[\w-]+\.Tests?)\//i,
  /[._-](?:test|spec|e2e|cy)\.[cm]?[jt]sx?$|[._-](?:test|spec)[-.]d\.ts$|\.snap$/i,
  /(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.py$|_test\.(?:go|exs|dart|rb|c|cc|cpp)$|_spec\.rb$/,
  /(?:^|\/)[A-Z]\w*(?:Tests?|IT|Spec)\.(?:java|kt|kts|groovy|scala|cs|fs|swift|php)$/,
]

/** Whether a file, moved to another path, is one that its tool does not find any more. */
export function isHidden(from: string, to: string): boolean {
  return (
    FOUND.some(({ files, name }) => files.test(from) && name.test(from) && !name.test(to)) ||
    (UNSEEN.test(to) && !UNSEEN.test(from))
  )
}

/** Whether a file beside the tests is what they work on, even where it is code. */
export function isData(path: string): boolean {
  return (
    /\/(?:data|fixtures?|__fixtures__)\//.test(path) && !FOUND.some(({ name }) => name.test(basename(path)))
  )
}

/** The names of files by which tools find them. Those of JavaScript also look into folders of tests. */
const FOUND: readonly { readonly files: RegExp; readonly name: RegExp }[] = [
  { files: /\.py$/, name: /(?:^|\/)(?:test[^/]*|[^/]*_tests?)\.py$/ },
  { files: /\.go$/, name: /_test\.go$/ },
  { files: /\.rb$/, name: /(?:_spec|_test|(?:^|\/)test_[^/]*)\.rb$/ },
  { files: /\.exs$/, name: /_test\.exs$/ },
  { files: /\.php$/, name: /Test\.php$/ },
  {
    files: /\.[cm]?[jt]sx?$/,
    name: /[._-](?:test|spec|e2e|cy)\.[cm]?[jt]sx?$|(?:^|\/)(?:tests?|__tests__|specs?|e2e)\/.*\.[cm]?[jt]sx?$/i,
  },
]
/** What go and others do not look into. */
const UNSEEN = /(?:^|\/)(?:[._](?!_)|testdata\/)|_(?:windows|plan9|js|wasm|android|ios)_test\.go$/
