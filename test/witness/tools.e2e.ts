import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { repository } from '../cli/script-repository.ts'
import { commit, env, makeFolder, PROGRAM, put } from '../repository.ts'
import { trailer } from '../run/harness.ts'

type Files = Readonly<Record<string, string>>

/** A project with one test, `adds` or like it. */
interface Tool {
  /** Null where it is not installed. */
  readonly command: string | null
  /** What the source and the test are; `sum` and the result are to be replaced. */
  readonly source: readonly [path: string, text: string]
  readonly tests: readonly [path: string, text: string]
  readonly more?: Files
  /** What skips the test. */
  readonly skip: readonly [from: string, to: string]
  /** As its output names it. */
  readonly test: string
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The tools that npm installs, here and nowhere else. */
const INSTALLED = makeFolder()

function hasProgram(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const where = (command: string, ...probe: readonly [string, ...string[]]): string | null =>
  hasProgram(...probe) ? command : null

const SOURCE = ['sum.js', 'exports.sum = (a, b) => a + b\n'] as const
const testOf = (call: string, head = ''): Tool['tests'] => [
  'test/sum.test.js',
  `${head}const { sum } = require('../sum.js')\n${call}('adds', () => {\n  if (sum(2, 3) !== 5) throw new Error('wrong')\n})\n`,
]
const PYTHON = ['shop.py', 'def sum(a, b):\n    return a + b\n'] as const

const TOOLS: Readonly<Record<string, Tool>> = {
  vitest: {
    command: `node ${join(ROOT, 'node_modules/vitest/vitest.mjs')} run --globals`,
    source: SOURCE,
    tests: testOf('test'),
    skip: ['test(', 'test.skip('],
    test: 'adds',
  },
  'node:test': {
    command: 'node --test',
    source: SOURCE,
    tests: testOf('test', `const { test } = require('node:test')\n`),
    skip: [`'adds', `, `'adds', { skip: true }, `],
    test: 'adds',
  },
  jest: {
    command: `${join(INSTALLED, 'node_modules/.bin/jest')} --rootDir .`,
    source: SOURCE,
    tests: testOf('test'),
    skip: ['test(', 'xtest('],
    test: 'adds',
  },
  mocha: {
    command: `${join(INSTALLED, 'node_modules/.bin/mocha')} test`,
    source: SOURCE,
    tests: testOf('it'),
    skip: ['it(', 'it.skip('],
    test: 'adds',
  },
  pytest: {
    command: where('python3 -m pytest', 'python3', '-m', 'pytest', '--version'),
    source: PYTHON,
    tests: ['test_shop.py', 'import shop\n\n\ndef test_adds():\n    assert shop.sum(2, 3) == 5\n'],
    skip: ['def test_adds', 'import pytest\n\n\n@pytest.mark.skip\ndef test_adds'],
    test: 'test_adds',
  },
  unittest: {
    command: where('python3 -m unittest -v', 'python3', '--version'),
    source: PYTHON,
    tests: [
      'test_shop.py',
      'import unittest\nimport shop\n\n\nclass ShopTest(unittest.TestCase):\n    def test_adds(self):\n        self.assertTrue(shop.sum(2, 3) == 5)\n',
    ],
    skip: ['    def test_adds', '    @unittest.skip("later")\n    def test_adds'],
    test: 'test_adds',
  },
  go: {
    command: where(`GOFLAGS=-mod=mod GOCACHE=${INSTALLED}/go go test -count=1 -v ./...`, 'go', 'version'),
    source: ['sum.go', 'package shop\n\nfunc Sum(a int, b int) int {\n\treturn a + b\n}\n'],
    tests: [
      'sum_test.go',
      'package shop\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {\n\tif !(Sum(2, 3) == 5) {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
    ],
    more: { 'go.mod': 'module shop\n\ngo 1.18\n' },
    skip: ['*testing.T) {', '*testing.T) {\n\tt.Skip()'],
    test: 'TestAdds',
  },
  cargo: {
    command: where('cargo test --offline', 'cargo', '--version'),
    source: ['src/lib.rs', 'pub fn sum(a: i32, b: i32) -> i32 {\n    a + b\n}\n'],
    tests: ['tests/sum.rs', 'use shop::sum;\n\n#[test]\nfn adds() {\n    assert!(sum(2, 3) == 5);\n}\n'],
    more: {
      'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
      'Cargo.lock': '# Written by cargo.\nversion = 3\n\n[[package]]\nname = "shop"\nversion = "0.1.0"\n',
    },
    skip: ['#[test]', '#[test]\n#[ignore]'],
    test: 'adds',
  },
}

beforeAll(() => {
  put(INSTALLED, { 'package.json': '{}' })
  execFileSync('npm', ['install', '--no-audit', '--no-fund', 'jest@30', 'mocha@11'], {
    cwd: INSTALLED,
    stdio: 'ignore',
  })
})

const written = (files: Files): string =>
  Object.entries(files)
    .map(([path, text]) => `cat > ${path} <<'END'\n${text}END`)
    .join('\n')

describe.each(Object.entries(TOOLS))('with %s', (_, tool) => {
  const { command, source, tests, more = {}, skip, test } = tool
  const [sourcePath, sourceText] = source
  const [testsPath, testsText] = tests
  const wrong = sourceText.replace('a + b', 'a + b + 1')
  const weak = testsText.replace('!== 5', '< 0').replace('== 5', '> 0')
  const renamed = (text: string): string =>
    text.replaceAll('adds', 'carries').replaceAll('Adds', 'Carries').replaceAll('ShopTest', 'CarryTest')
  const newPath = testsPath.replace(/sum(?=[._]|$)|shop(?=\.py)/, 'carry')

  /** Runs one task over the project: its exit code, and what it said. */
  function runOver(before: Files, work: Files) {
    const root = repository({ 'T-001': written(work) }, { gates: [{ name: 'test', command }] })
    put(root, { ...more, ...before, '.gitignore': 'target/\n__pycache__/\n.pytest_cache/\n' })
    commit(root, 'Add a project')
    const { status, stdout } = spawnSync(
      process.execPath,
      [PROGRAM, 'run', '--agent', 'script', '--retries', '0'],
      { cwd: root, encoding: 'utf8', env: { ...env, HOME: process.env['HOME'] ?? '' } },
    )
    return { root, code: status, stdout: stdout.replaceAll(/\s+/g, ' ') }
  }

  it.skipIf(command === null)('work that skips a test is refused', () => {
    const { code, stdout } = runOver(
      { [sourcePath]: sourceText, [testsPath]: testsText },
      { [sourcePath]: wrong, [testsPath]: testsText.replace(...skip), [newPath]: renamed(weak) },
    )
    expect(stdout).toContain(`test skipped: ${testsPath}: "${test}"`)
    expect(code).toBe(1)
  })

  it.skipIf(command === null)('a changed test is named', () => {
    const { root } = runOver(
      { [sourcePath]: sourceText, [testsPath]: testsText },
      { [sourcePath]: wrong, [testsPath]: testsText.replace('== 5', '== 6') },
    )
    expect(trailer(root, 'Tests-Changed')).toMatch(`${testsPath}: "${test}": changed`)
    expect(trailer(root, 'Gates')).toMatch(/^test \(1 test[,)]/)
  })

  it.skipIf(command === null)('a new test is shown to fail without the change', () => {
    const { root } = runOver(
      { [sourcePath]: wrong, [testsPath]: weak },
      { [sourcePath]: sourceText, [newPath]: renamed(testsText) },
    )
    expect(trailer(root, 'Witness')).toBe('1 new test fails without this change')
    expect(trailer(root, 'Gates')).toMatch(/^test \(2 tests[,)]/)
  })
})
