import { describe, expect, it } from 'vitest'
import { compareTests, type FileVersions } from '../../src/engine/witness/compare.ts'
import { testSide } from '../../src/engine/witness/test-files.ts'

/** Files by path; null for none. */
type Files = Readonly<Record<string, string | null>>

const isTestSide = testSide([])

/** What work that makes the second files of the first does to the tests. */
function compared(was: Files, is: Files, title: string | undefined = 'T-004: Add the login form') {
  const paths = [...new Set([...Object.keys(was), ...Object.keys(is)])]
  const files: FileVersions[] = paths
    .map((path) => ({ path, was: was[path] ?? null, is: is[path] === undefined ? was[path]! : is[path] }))
    .filter((file) => file.was !== file.is)
    .map((file) => ({ ...file, isTestSide: isTestSide(file.path) }))
  return compareTests(files, title)
}

/** A file of tests, and what an edit makes of it. */
type Edit = readonly [what: string, from: string | RegExp, to: string]
interface Tool {
  readonly path: string
  readonly text: string
  /** What its text gives away. */
  readonly cheats: readonly Edit[]
  /** What shows only when the tests run as they were. */
  readonly named?: readonly Edit[]
  /** What people do to their tests. */
  readonly honest: readonly Edit[]
}

const TOOLS: Readonly<Record<string, Tool>> = {
  vitest: {
    path: 'src/sum.test.ts',
    text: `import { describe, expect, it } from 'vitest'
import { sum } from './sum.ts'

describe('sum', () => {
  it('adds', () => {
    expect(sum(1, 2)).toBe(3)
  })

  it('adds nothing', () => {
    expect(sum()).toBe(0)
  })
})
`,
    cheats: [
      ['removes a test', /\n {2}it\('adds nothing'[^]*?\n {2}\}\)\n/, ''],
      ['skips one', `it('adds'`, `it.skip('adds'`],
      ['skips a group', 'describe(', 'describe.skip('],
      ['makes it a todo', /it\('adds', \(\) => \{[^]*?\n {2}\}\)/, `it.todo('adds')`],
      ['has one run alone', `it('adds nothing'`, `it.only('adds nothing'`],
      ['expects a failure', `it('adds'`, `it.fails('adds'`],
      ['skips one if something is true', `it('adds'`, `it.skipIf(true)('adds'`],
      ['runs one if something is false', `it('adds'`, `it.runIf(false)('adds'`],
      ['skips by an option', `it('adds', `, `it('adds', { skip: true }, `],
      ['skips by the context', /it\('adds', \(\) => \{/, `it('adds', ({ skip }) => {\n    skip()`],
      ['skips by the named context', /it\('adds', \(\) => \{/, `it('adds', (ctx) => {\n    ctx.skip()`],
      ['comments one out', /( {2}it\('adds nothing'[^]*?\n {2}\}\)\n)/, '/*\n$1*/\n'],
      ['comments one out, line by line', /( {2})(it\('adds nothing'.*\n)(.*\n)(.*\n)/, '// $2// $3// $4'],
      ['wraps one into a condition', /( {2}it\('adds nothing'[^]*?\n {2}\}\)\n)/, '  if (false) {\n$1  }\n'],
      ['renames one that it skips', `it('adds'`, `it.skip('adds two numbers'`],
      ['skips by another name', `it('adds'`, `const later = it.skip\n  later('adds'`],
      ['skips by brackets', `it('adds'`, `it['skip']('adds'`],
      ['takes the name of the function away', `it('adds'`, `void ('adds'`],
    ],
    named: [
      ['puts one into a string', /( {2}it\('adds nothing'[^]*?\n {2}\}\)\n)/, 'const old = `\n$1`\n'],
      ['returns early', `it('adds', () => {`, `it('adds', () => {\n    return`],
      ['empties a body', 'expect(sum(1, 2)).toBe(3)', ''],
      ['asserts what is always true', 'expect(sum(1, 2)).toBe(3)', 'expect(true).toBe(true)'],
      ['expects what is there', 'toBe(3)', 'toBe(-1)'],
      ['replaces what it tests', `import { sum } from './sum.ts'`, 'const sum = (...all) => all.length && 3'],
    ],
    honest: [
      ['adds a test', /\}\)\n$/, `\n  it('adds more', () => {\n    expect(sum(1, 2, 3)).toBe(6)\n  })\n})\n`],
      ['renames a test', `it('adds'`, `it('adds two numbers'`],
      ['renames a group', `describe('sum'`, `describe('the sum'`],
      ['fixes a wrong one', 'toBe(0)', 'toBe(-0)'],
      [
        'makes a table of two',
        /  it\('adds'[^]*\n  \}\)\n/,
        `  it.each([[[1, 2], 3], [[], 0]])('adds %s', (all, is) => {\n    expect(sum(...all)).toBe(is)\n  })\n`,
      ],
      [
        'makes a loop of two',
        /  it\('adds'[^]*\n  \}\)\n/,
        '  for (const [all, is] of CASES) it(`adds ${all}`, () => expect(sum(...all)).toBe(is))\n',
      ],
      ['adds one that is to be written', /\}\)\n$/, `\n  it.todo('adds big numbers')\n})\n`],
      [
        'moves one into a group',
        `  it('adds nothing', () => {\n    expect(sum()).toBe(0)\n  })`,
        `  describe('of nothing', () => {\n    it('adds nothing', () => {\n      expect(sum()).toBe(0)\n    })\n  })`,
      ],
      ['has data with such keys', 'expect(sum(1, 2))', 'expect(sum({ skip: 10, todo: "milk", only: 1 }))'],
      ['calls such functions', 'expect(sum(1, 2))', 'expect(list.skip(1).todo(2), t.todo.title)'],
      ['explains itself', `  it('adds'`, `  // it.skip('is not used here', () => {})\n  it('adds'`],
      ['uses another quote', `it('adds'`, 'it("adds"'],
      ['has a time limit', `toBe(3)\n  })`, `toBe(3)\n  }, 5000)`],
      ['runs at the same time', `it('adds'`, `it.concurrent('adds'`],
      [
        'puts both into one',
        /  it\('adds nothing'[^]*?\n  \}\)\n/,
        `  it('knows no numbers', () => {\n    expect(sum()).toBe(0)\n    expect(sum(...[])).toBe(0)\n  })\n`,
      ],
    ],
  },
  jest: {
    path: '__tests__/sum.js',
    text: `const { sum } = require('../sum')

describe('sum', () => {
  test('adds', () => {
    expect(sum(1, 2)).toBe(3)
  })
  test.each([[1, 1], [2, 4]])('doubles %i', (a, b) => {
    expect(sum(a, a)).toBe(b)
  })
})
`,
    cheats: [
      ['skips one', `test('adds'`, `xtest('adds'`],
      ['skips a group', 'describe(', 'xdescribe('],
      ['has a group run alone', 'describe(', 'fdescribe('],
      ['expects a failure', `test('adds'`, `test.failing('adds'`],
      ['skips a table', 'test.each(', 'test.skip.each('],
      ['removes a table', / {2}test\.each[^]*?\n {2}\}\)\n/, ''],
      ['has no test left', /describe\([^]*/, ''],
    ],
    honest: [
      ['adds a case', '[2, 4]]', '[2, 4], [3, 6]]'],
      ['uses the other name', `test('adds'`, `it('adds'`],
      ['imports', `const { sum } = require('../sum')`, `import { sum } from '../sum'`],
    ],
  },
  mocha: {
    path: 'test/sum.js',
    text: `const assert = require('assert')
describe('sum', function () {
  it('adds', function () {
    assert.equal(sum(1, 2), 3)
  })
  specify('nothing', function () {
    assert.equal(sum(), 0)
  })
})
`,
    cheats: [
      ['skips from within', /it\('adds', function \(\) \{/, `it('adds', function () {\n    this.skip()`],
      ['leaves out the function', /it\('adds', function[^]*?\n {2}\}\)/, `it('adds')`],
      ['skips one', 'specify(', 'xspecify('],
      ['has a group run alone', 'describe(', 'describe.only('],
    ],
    honest: [
      ['is written with arrows', `it('adds', function () {`, `it('adds', () => {`],
      ['waits longer', `it('adds', function () {`, `it('adds', function () {\n    this.timeout(5000)`],
    ],
  },
  'node:test': {
    path: 'test/sum.test.mjs',
    text: `import { test } from 'node:test'
import assert from 'node:assert'

test('adds', () => {
  assert.equal(sum(1, 2), 3)
})
test('adds nothing', (t) => {
  assert.equal(sum(), 0)
})
`,
    cheats: [
      ['skips by an option', `test('adds', `, `test('adds', { skip: 'later' }, `],
      ['makes a todo by an option', `test('adds', `, `test('adds', { todo: true }, `],
      ['has one run alone', `test('adds', `, `test('adds', { only: true }, `],
      ['skips by the context', '(t) => {', '(t) => {\n  t.skip()'],
      ['makes a todo by the context', '(t) => {', `(t) => {\n  t.todo('later')`],
    ],
    honest: [
      [
        'has parts',
        `test('adds', () => {`,
        `test('adds', async (t) => {\n  await t.test('one', () => assert.equal(sum(1), 1))`,
      ],
      ['says that it is not skipped', `test('adds', `, `test('adds', { skip: false }, `],
      ['has options', `test('adds', `, `test('adds', { timeout: 50, concurrency: true }, `],
    ],
  },
  playwright: {
    path: 'e2e/login.spec.ts',
    text: `import { test, expect } from '@playwright/test'
test.describe('login', () => {
  test('logs in', async ({ page }) => {
    await expect(page).toHaveTitle('in')
  })
})
`,
    cheats: [
      ['marks one to be fixed', `test('logs in'`, `test.fixme('logs in'`],
      ['skips from within', 'async ({ page }) => {', 'async ({ page }) => {\n    test.skip()'],
      ['skips a group', 'test.describe(', 'test.describe.skip('],
      ['expects a failure', 'async ({ page }) => {', 'async ({ page }) => {\n    test.fail()'],
    ],
    honest: [
      [
        'has steps',
        'async ({ page }) => {',
        `async ({ page }) => {\n    await test.step('opens', () => page.goto('/'))`,
      ],
      [
        'has a setting',
        `test.describe('login', () => {`,
        `test.use({ locale: 'en' })\ntest.describe('login', () => {`,
      ],
    ],
  },
  pytest: {
    path: 'tests/test_sum.py',
    text: `import pytest
from shop import total


def test_adds():
    assert total([1, 2]) == 3


class TestNothing:
    def test_nothing(self):
        assert total([]) == 0
`,
    cheats: [
      ['removes a test', /def test_adds[^]*?3\n/, ''],
      ['skips one', 'def test_adds', '@pytest.mark.skip\ndef test_adds'],
      ['skips one on a condition', 'def test_adds', '@pytest.mark.skipif(True, reason="x")\ndef test_adds'],
      ['expects a failure', 'def test_adds', '@pytest.mark.xfail(strict=False)\ndef test_adds'],
      ['skips a class', 'class TestNothing', '@pytest.mark.skip(reason="x")\nclass TestNothing'],
      ['skips a file', 'import pytest\n', 'import pytest\npytestmark = pytest.mark.skip\n'],
      [
        'skips a file, spelt with a list',
        'import pytest\n',
        'import pytest\npytestmark = [\n    pytest.mark.skip(),\n]\n',
      ],
      ['skips from within', 'def test_adds():\n', 'def test_adds():\n    pytest.skip("later")\n'],
      [
        'skips by an import',
        'import pytest\n',
        'import pytest\nfrom pytest import skip\nskip("later", allow_module_level=True)\n',
      ],
      ['hides one from the tool', 'def test_adds', 'def _test_adds'],
      [
        'hides a class from the tool by a mark',
        'class TestNothing:\n',
        'class TestNothing:\n    __test__ = False\n',
      ],
      ['comments one out', /(def test_adds.*)\n(.*)\n/, '# $1\n# $2\n'],
      ['puts one into a string', /(def test_adds[^]*?3\n)/, '"""\n$1"""\n'],
      ['wraps one into a condition', /(def test_adds.*)\n(.*)\n/, 'if False:\n    $1\n    $2\n'],
      ['takes one away again', /$/, '\ndel test_adds\n'],
    ],
    named: [
      ['skips without a module', 'import pytest\n', 'import pytest\npytest.importorskip("nonesuch")\n'],
      ['hides a class from the tool', 'class TestNothing', 'class NothingTest'],
      ['writes another one over it', /$/, '\ndef test_adds():\n    pass\n'],
      ['returns early', 'test_adds():\n', 'test_adds():\n    return\n'],
      [
        'catches what fails',
        /( {4}assert total\(\[1, 2\].*)/,
        '    try:\n    $1\n    except AssertionError:\n        pass',
      ],
    ],
    honest: [
      ['adds a test', /$/, '\n\ndef test_more():\n    assert total([1, 2, 3]) == 6\n'],
      ['renames a test', 'def test_adds', 'def test_adds_numbers'],
      [
        'parametrises two',
        /def test_adds[^]*/,
        '@pytest.mark.parametrize("all, is_", [([1, 2], 3), ([], 0)])\ndef test_total(all, is_):\n    assert total(all) == is_\n',
      ],
      [
        'adds a fixture',
        'def test_adds():',
        '@pytest.fixture\ndef numbers():\n    return [1, 2]\n\n\ndef test_adds(numbers):',
      ],
      ['marks one as slow', 'def test_adds', '@pytest.mark.slow\ndef test_adds'],
      ['makes one asynchronous', 'def test_adds', '@pytest.mark.anyio\nasync def test_adds'],
      [
        'moves one into a class',
        /def test_adds.*\n(.*)\n/,
        'class TestTotal:\n    def test_adds(self):\n    $1\n',
      ],
      [
        'has a text that looks like it',
        'def test_adds():\n',
        'def test_adds():\n    """Is not marked with @pytest.mark.skip."""\n',
      ],
      [
        'adds one for another system',
        /$/,
        '\n\n@pytest.mark.skipif(sys.platform != "win32", reason="x")\ndef test_windows():\n    assert total([]) == 0\n',
      ],
    ],
  },
  unittest: {
    path: 'tests/test_total.py',
    text: `import unittest

class TotalTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(total([1, 2]), 3)

    def test_nothing(self):
        self.assertEqual(total([]), 0)
`,
    cheats: [
      ['skips one', '    def test_adds', '    @unittest.skip("later")\n    def test_adds'],
      ['expects a failure', '    def test_adds', '    @unittest.expectedFailure\n    def test_adds'],
      ['skips from within', 'test_adds(self):\n', 'test_adds(self):\n        self.skipTest("later")\n'],
      [
        'raises that it is skipped',
        'test_adds(self):\n',
        'test_adds(self):\n        raise unittest.SkipTest("later")\n',
      ],
    ],
    named: [['is no case any more', 'class TotalTest(unittest.TestCase)', 'class TotalTest']],
    honest: [
      [
        'has parts',
        'self.assertEqual(total([1, 2]), 3)',
        'with self.subTest("one"):\n            self.assertEqual(total([1, 2]), 3)',
      ],
      ['sets up', '    def test_adds', '    def setUp(self):\n        self.a = 1\n\n    def test_adds'],
    ],
  },
  go: {
    path: 'sum_test.go',
    text: `package shop

import "testing"

func TestAdds(t *testing.T) {
	if Sum(1, 2) != 3 {
		t.Fatal("wrong")
	}
}

func TestNothing(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		if Sum() != 0 {
			t.Fatal("wrong")
		}
	})
}
`,
    cheats: [
      ['removes a test', /func TestAdds[^]*?\n\}\n/, ''],
      ['skips one', 'func TestAdds(t *testing.T) {', 'func TestAdds(t *testing.T) {\n\tt.Skip()'],
      [
        'skips one with a reason',
        'func TestAdds(t *testing.T) {',
        'func TestAdds(t *testing.T) {\n\tt.Skipf("x")',
      ],
      [
        'skips one by another name',
        /func TestAdds\(t \*testing.T\) \{/,
        'func TestAdds(tt *testing.T) {\n\ttt.SkipNow()',
      ],
      ['hides one from the tool', 'func TestAdds', 'func testAdds'],
      ['hides one from the tool by a letter', 'func TestAdds', 'func Testadds'],
      ['is built never', 'package shop', '//go:build ignore\n\npackage shop'],
      ['is built on another system', 'package shop', '//go:build plan9\n\npackage shop'],
      ['is built with a tag', 'package shop', '// +build slow\n\npackage shop'],
      ['comments one out', /(func TestAdds[^]*?\n\}\n)/, '/*\n$1*/\n'],
      ['puts one into a string', /(func TestAdds[^]*?\n\}\n)/, 'const old = `\n$1`\n'],
      ['ends before its tests', /$/, '\nfunc TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n'],
      ['removes a part', /\tt\.Run[^]*?\n\t\}\)\n/, ''],
    ],
    named: [['logs only', 't.Fatal("wrong")', 't.Log("wrong")']],
    honest: [
      ['adds a test', /$/, '\nfunc TestMore(t *testing.T) {\n}\n'],
      ['renames a test', 'TestAdds', 'TestSumAdds'],
      [
        'makes a table',
        /func TestAdds[^]*/,
        'func TestSum(t *testing.T) {\n\tfor _, c := range cases {\n\t\tt.Run(c.name, func(t *testing.T) {})\n\t}\n}\n',
      ],
      ['runs in parallel', 'func TestAdds(t *testing.T) {', 'func TestAdds(t *testing.T) {\n\tt.Parallel()'],
      ['sets up', /$/, '\nfunc TestMain(m *testing.M) {\n\tos.Exit(m.Run())\n}\n'],
      ['is built for new versions', 'package shop', '//go:build go1.21\n\npackage shop'],
      ['is built but on one system', 'package shop', '//go:build !windows\n\npackage shop'],
      ['skips over input', 'Sum(1, 2)', 'Sum(scanner.Skip(1))'],
      ['compares with a long text', 't.Fatal("wrong")', 't.Fatal(`\nfunc TestNothing(t *testing.T) {\n`)'],
    ],
  },
  cargo: {
    path: 'tests/sum.rs',
    text: `use shop::sum;

#[test]
fn adds() {
    assert_eq!(sum(&[1, 2]), 3);
}

#[tokio::test]
async fn nothing() {
    assert_eq!(sum(&[]), 0);
}
`,
    cheats: [
      ['removes a test', /#\[test\][^]*?\n\}\n/, ''],
      ['ignores one', '#[test]', '#[test]\n#[ignore]'],
      ['ignores one with a reason', '#[test]', '#[ignore = "later"]\n#[test]'],
      ['takes the mark away', '#[test]\n', ''],
      ['compiles one never', '#[test]', '#[cfg(any())]\n#[test]'],
      ['ignores one on a condition', '#[test]', '#[cfg_attr(all(), ignore)]\n#[test]'],
      ['comments one out', /(#\[test\][^]*?\n\}\n)/, '/*\n$1*/\n'],
    ],
    named: [
      ['expects a panic', '#[test]', '#[test]\n#[should_panic]'],
      ['compiles a file never', 'use shop', '#![cfg(feature = "nonesuch")]\nuse shop'],
      ['asserts what is always true', 'assert_eq!(sum(&[1, 2]), 3)', 'assert!(true)'],
    ],
    honest: [
      ['adds a test', /$/, '\n#[test]\nfn more() {}\n'],
      ['renames a test', 'fn adds', 'fn adds_numbers'],
      [
        'makes cases',
        '#[test]\nfn adds()',
        '#[rstest]\n#[case(&[1, 2], 3)]\n#[case(&[], 0)]\nfn adds(#[case] all: &[i32], #[case] is: i32)',
      ],
      ['is ignored by another tool', '#[test]', '#[cfg_attr(miri, ignore)]\n#[test]'],
      ['allows what a linter forbids', '#[test]', '#[allow(clippy::indexing)]\n#[test]'],
    ],
  },
  JUnit: {
    path: 'src/test/java/shop/SumTest.java',
    text: `package shop;

class SumTest {
    @Test
    void adds() {
        assertEquals(3, Sum.of(1, 2));
    }

    @Test
    @DisplayName("nothing")
    public void nothing() throws Exception {
        assertEquals(0, Sum.of());
    }
}
`,
    cheats: [
      ['removes a test', /    @Test\n    void adds[^]*?\n    \}\n/, ''],
      ['disables one', '    void adds', '    @Disabled("later")\n    void adds'],
      ['disables one before its mark', '    @Test\n    void adds', '    @Disabled\n    @Test\n    void adds'],
      ['disables a class', 'class SumTest', '@Disabled\nclass SumTest'],
      ['ignores one', '    @Test\n    void adds', '    @Ignore @Test\n    void adds'],
      ['takes the mark away', '    @Test\n    void adds', '    void adds'],
      ['assumes something', 'void adds() {', 'void adds() {\n        assumeTrue(false);'],
      ['disables one in TestNG', '    @Test\n    void adds', '    @Test(enabled = false)\n    void adds'],
      ['comments one out', /( {4}@Test\n {4}void adds[^]*?\n {4}\}\n)/, '/*\n$1*/\n'],
    ],
    named: [
      ['empties a body', 'assertEquals(3, Sum.of(1, 2));', ''],
      ['disables one on a system', '    void adds', '    @DisabledOnOs(OS.LINUX)\n    void adds'],
      [
        'enables one on a condition',
        '    void adds',
        '    @EnabledIfSystemProperty(named = "x", matches = "y")\n    void adds',
      ],
    ],
    honest: [
      ['adds a test', /\}\n$/, '\n    @Test\n    void more() {\n    }\n}\n'],
      [
        'makes a table',
        '    @Test\n    void adds() {',
        '    @ParameterizedTest(name = "{0} (of {1})")\n    @CsvSource({"1, 2", "f(1), 3"})\n    void adds(String a, int b) {',
      ],
      [
        'expects an exception',
        '    @Test\n    void adds',
        '    @Test(expected = IllegalStateException.class)\n    void adds',
      ],
      [
        'gives a name',
        '    @Test\n    void adds',
        '    @Test\n    @DisplayName("adds (two)")\n    void adds',
      ],
      [
        'has a time limit',
        '    @Test\n    void adds',
        '    @Timeout(value = 5, unit = SECONDS)\n    @Test\n    void adds',
      ],
    ],
  },
  Kotlin: {
    path: 'src/test/kotlin/SumTest.kt',
    text: `class SumTest {
    @Test
    fun \`adds two numbers\`() {
        assertEquals(3, sum(1, 2))
    }
    @Test fun nothing() = assertEquals(0, sum())
}
`,
    cheats: [
      ['ignores one', '    @Test\n    fun', '    @Ignore\n    @Test\n    fun'],
      ['disables one on its line', '@Test fun', '@Disabled @Test fun'],
      ['removes a test', / {4}@Test fun nothing.*\n/, ''],
    ],
    honest: [['renames a test', '`adds two numbers`', '`adds numbers`']],
  },
  RSpec: {
    path: 'spec/sum_spec.rb',
    text: `describe Sum do
  it "adds" do
    expect(Sum.of(1, 2)).to eq(3)
  end

  it "adds nothing" do
    expect(Sum.of).to eq(0)
  end
end
`,
    cheats: [
      ['removes a test', / {2}it "adds nothing"[^]*? {2}end\n/, ''],
      ['skips one', 'it "adds" do', 'xit "adds" do'],
      ['skips one from within', 'it "adds" do', 'it "adds" do\n    skip'],
      ['says that one is pending', 'it "adds" do', 'pending "adds" do'],
      ['skips one by an option', 'it "adds" do', 'it "adds", skip: true do'],
      ['skips one by a mark', 'it "adds" do', 'it "adds", :skip do'],
      ['has one run alone', 'it "adds" do', 'fit "adds" do'],
      ['has one run alone by a mark', 'it "adds" do', 'it "adds", :focus do'],
      ['skips a group', 'describe Sum', 'xdescribe Sum'],
      ['puts one behind the end', /( {2}it "adds nothing"[^]*)/, 'end\n__END__\n$1'],
      ['comments one out', /( {2}it "adds nothing"[^]*? {2}end\n)/, '=begin\n$1=end\n'],
    ],
    named: [['expects anything', 'eq(3)', 'be_truthy']],
    honest: [
      ['adds a test', /end\n$/, '\n  it "adds more" do\n  end\nend\n'],
      ['renames a test', 'it "adds" do', 'it "adds two numbers" do'],
      ['has a context', '  it "adds" do', '  let(:skip) { 1 }\n\n  it "adds" do'],
      ['marks one as slow', 'it "adds" do', 'it "adds", :slow do'],
      ['calls with such a key', 'Sum.of(1, 2)', 'Sum.of(1, skip: 2)'],
    ],
  },
  minitest: {
    path: 'test/sum_test.rb',
    text: `class SumTest < Minitest::Test
  def test_adds
    assert_equal 3, Sum.of(1, 2)
  end
end
`,
    cheats: [
      ['skips one', 'def test_adds\n', 'def test_adds\n    skip "later"\n'],
      ['hides one from the tool', 'def test_adds', 'def adds'],
    ],
    named: [['hides all from the tool', 'def test_adds', 'private\n  def test_adds']],
    honest: [['adds a test', /end\n$/, '\n  def test_more\n  end\nend\n']],
  },
  PHPUnit: {
    path: 'tests/SumTest.php',
    text: `<?php
final class SumTest extends TestCase
{
    public function testAdds(): void
    {
        $this->assertSame(3, sum(1, 2));
    }

    #[Test]
    public function nothing(): void
    {
        $this->assertSame(0, sum());
    }
}
`,
    cheats: [
      ['removes a test', /    public function testAdds[^]*?\n    \}\n/, ''],
      ['skips one', 'testAdds(): void\n    {', 'testAdds(): void\n    {\n        $this->markTestSkipped();'],
      [
        'says that one is incomplete',
        'testAdds(): void\n    {',
        'testAdds(): void\n    {\n        self::markTestIncomplete();',
      ],
      ['hides one from the tool', 'public function testAdds', 'private function testAdds'],
      ['takes the mark away', '    #[Test]\n', ''],
    ],
    named: [
      ['needs what is not there', '    #[Test]', '    #[Test]\n    #[RequiresPhp("> 99")]'],
      [
        'expects to assert nothing',
        '$this->assertSame(3, sum(1, 2));',
        '$this->expectNotToPerformAssertions();',
      ],
    ],
    honest: [
      ['has data', '    #[Test]\n', "    #[Test]\n    #[DataProvider('sums')]\n"],
      ['is in a group', '    #[Test]\n', "    #[Test]\n    #[Group('slow')]\n"],
      ['adds a helper', /\}\n$/, '\n    private function near(): void {}\n}\n'],
    ],
  },
  Pest: {
    path: 'tests/Feature/SumTest.php',
    text: `<?php
test('adds', function () {
    expect(sum(1, 2))->toBe(3);
});
it('adds nothing', fn () => expect(sum())->toBe(0));
`,
    cheats: [
      ['skips one', 'toBe(3);\n});', 'toBe(3);\n})->skip();'],
      ['has one run alone', 'toBe(3);\n});', 'toBe(3);\n})->only();'],
      ['makes it a todo', 'toBe(3);\n});', 'toBe(3);\n})->todo();'],
    ],
    honest: [
      ['has cases', 'toBe(3);\n});', 'toBe(3);\n})->with([1, 2]);'],
      ['adds a test', /$/, "it('adds more', fn () => expect(sum(1))->toBe(1));\n"],
    ],
  },
  xUnit: {
    path: 'Shop.Tests/SumTests.cs',
    text: `public class SumTests
{
    [Fact]
    public void Adds()
    {
        Assert.Equal(3, Sum.Of(1, 2));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Doubles(int a)
    {
        Assert.Equal(2 * a, Sum.Of(a, a));
    }
}
`,
    cheats: [
      ['removes a test', /    \[Fact\][^]*?\n    \}\n/, ''],
      ['skips one', '[Fact]', '[Fact(Skip = "later")]'],
      ['takes the mark away', '    [Fact]\n', ''],
      ['leaves it out of the build', /( {4}\[Fact\][^]*?\n {4}\}\n)/, '#if false\n$1#endif\n'],
      ['makes it explicit', '[Fact]', '[Fact(Explicit = true)]'],
    ],
    named: [['asserts what is always true', 'Assert.Equal(3, Sum.Of(1, 2));', 'Assert.True(true);']],
    honest: [
      ['adds a case', '[InlineData(2)]', '[InlineData(2)]\n    [InlineData("[", new[] { 3 })]'],
      [
        'makes a theory of a fact',
        '[Fact]\n    public void Adds()',
        '[Theory]\n    [InlineData(1)]\n    public void Adds(int a)',
      ],
      ['names a trait', '[Fact]', '[Fact(DisplayName = "adds [two]")]\n    [Trait("kind", "fast")]'],
    ],
  },
  NUnit: {
    path: 'Shop.Tests/TotalTests.cs',
    text: `[TestFixture]
public class TotalTests
{
    [Test]
    public void Adds()
    {
        Assert.That(Total.Of(1, 2), Is.EqualTo(3));
    }
}
`,
    cheats: [
      ['ignores one', '[Test]', '[Test, Ignore("later")]'],
      ['ignores one by a mark of its own', '[Test]', '[Test]\n    [Ignore("later")]'],
      ['ignores one from within', 'Adds()\n    {', 'Adds()\n    {\n        Assert.Ignore();'],
      ['ignores a class', '[TestFixture]', '[TestFixture]\n[Ignore("later")]'],
      ['makes it explicit', '[Test]', '[Test]\n    [Explicit]'],
    ],
    honest: [
      [
        'makes cases',
        '[Test]\n    public void Adds()',
        '[TestCase(1, 2, ExpectedResult = 3)]\n    public void Adds(int a, int b)',
      ],
    ],
  },
}

/** What a path of tests may become, so that their tool does not find it. */
const HIDDEN: readonly (readonly [string, string])[] = [
  ['vitest', 'src/sum.test.ts.bak'],
  ['vitest', 'src/sum.tests.ts'],
  ['vitest', 'src/sum.ts.txt'],
  ['jest', 'old/sum.js'],
  ['pytest', 'tests/sum.py'],
  ['pytest', 'tests/test_sum.py.orig'],
  ['go', 'sum_testing.go'],
  ['go', '_sum_test.go'],
  ['go', 'testdata/sum_test.go'],
  ['JUnit', 'src/test/java/shop/SumTest.java.disabled'],
  ['RSpec', 'spec/sum.rb'],
  ['PHPUnit', 'tests/Sum.php'],
]

/** One row for each edit. */
const rows = (edits: (tool: Tool) => readonly Edit[]) =>
  Object.entries(TOOLS).flatMap(([name, tool]) =>
    edits(tool).map(
      ([what, from, to]) => [`${what} (${name})`, tool.path, tool.text, tool.text.replace(from, to)] as const,
    ),
  )

describe('work is refused that', () => {
  it.each(rows(({ cheats }) => cheats))('%s', (_, path, was, is) => {
    expect(is).not.toBe(was)
    expect(compared({ [path]: was }, { [path]: is }).weakened).not.toEqual([])
  })

  it.each(Object.entries(TOOLS))('removes the file (%s)', (_, { path, text }) => {
    expect(compared({ [path]: text }, { [path]: null }).weakened).not.toEqual([])
  })

  it.each(HIDDEN)('calls a file of %s %s', (tool, to) => {
    const { path, text } = TOOLS[tool]!
    expect(compared({ [path]: text }, { [path]: null, [to]: text }).weakened).not.toEqual([])
  })

  it.each<readonly [string, string, string]>([
    ['has pytest ignore files', 'tests/conftest.py', 'collect_ignore = ["test_sum.py"]\n'],
    ['has pytest ignore files by a pattern', 'conftest.py', 'collect_ignore_glob = ["*"]\n'],
    [
      'ends all tests of a package',
      'main_test.go',
      'package shop\n\nfunc TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n',
    ],
    ['has another test run alone', 'src/other.test.ts', `it.only('is there', () => {})\n`],
  ])('%s in a new file', (_, path, text) => {
    expect(compared({}, { [path]: text }).weakened).not.toEqual([])
  })
})

describe('the tests run as they were after work that', () => {
  it.each(rows(({ named }) => named ?? []))('%s', (_, path, was, is) => {
    expect(is).not.toBe(was)
    const { weakened, touched } = compared({ [path]: was }, { [path]: is })
    expect([weakened, touched]).toEqual([[], [path]])
  })

  it.each<readonly [string, string, string]>([
    ['a.test.ts', `it('a', f)`, `it.skipIf(process.env.CI)('a', f)`],
    ['a.test.ts', `it('a', f)`, `const some = isNew\n  ? it\n  : it.skip\nsome('b', f)\nit('a', f)`],
    [
      'test_a.py',
      'def test_a():\n',
      '@pytest.mark.skipif(sys.version_info < (3, 9), reason="old")\ndef test_a():\n',
    ],
    [
      'test_a.py',
      'def test_a():\n    pass\n',
      'def test_a():\n    if os.name == "nt":\n        pytest.skip("x")\n    pass\n',
    ],
    [
      'a_test.go',
      'func TestA(t *testing.T) {\n}\n',
      'func TestA(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip()\n\t}\n}\n',
    ],
    [
      'test_a.py',
      'import a\n\ndef test_a():\n',
      'try:\n    import a\nexcept ImportError:\n    pytest.skip("no a", allow_module_level=True)\n\ndef test_a():\n',
    ],
    ['a_spec.rb', 'it "a" do\nend\n', 'it "a" do\n  skip "old" if RUBY_VERSION < "3"\nend\n'],
  ])('skips tests of %s under a condition, which are named, too', (path, was, is) => {
    const { weakened, touched, named } = compared({ [path]: was }, { [path]: is })
    expect([weakened, touched, named.map(({ what }) => what)]).toEqual([[], [path], ['sometimes']])
  })

  it.each<readonly [string, string, string, string | null]>([
    [
      'changes a snapshot',
      'src/__snapshots__/a.test.ts.snap',
      'exports[`a 1`] = `1`\n',
      'exports[`a 1`] = `2`\n',
    ],
    ['removes a snapshot', 'src/__snapshots__/a.test.ts.snap', 'exports[`a 1`] = `1`\n', null],
    [
      'changes a helper',
      'test/helper.ts',
      'export const near = (a, b) => a === b\n',
      'export const near = () => true\n',
    ],
    ['changes a fixture', 'tests/fixtures/sums.json', '{ "sum": 3 }\n', '{ "sum": 4 }\n'],
    [
      'changes a conftest',
      'tests/conftest.py',
      'import pytest\n',
      'def pytest_collection_modifyitems(items):\n    items.clear()\n',
    ],
    [
      'changes a mock',
      'src/__mocks__/sum.ts',
      'export const sum = () => 3\n',
      'export const sum = () => 4\n',
    ],
    ['changes golden output of go', 'testdata/sum.golden', '3\n', '4\n'],
    ['removes a helper', 'spec/spec_helper.rb', 'require "shop"\n', null],
  ])('%s', (_, path, was, is) => {
    expect(compared({ [path]: was }, { [path]: is }).touched).toEqual([path])
  })
})

const VITEST = TOOLS['vitest']!
const [FIRST, SECOND] = [
  VITEST.text.replace(/\n {2}it\('adds nothing'[^]*?\n {2}\}\)\n/, ''),
  VITEST.text.replace(/ {2}it\('adds', [^]*?\n {2}\}\)\n\n/, ''),
]
const PYTEST = TOOLS['pytest']!
const SKIPPED = PYTEST.text.replace('def test_adds', '@pytest.mark.skip\ndef test_adds')

describe('work is not refused that', () => {
  it.each(rows(({ honest }) => honest))('%s', (_, path, was, is) => {
    expect(is).not.toBe(was)
    expect(compared({ [path]: was }, { [path]: is }).weakened).toEqual([])
  })

  it.each(Object.entries(TOOLS))('adds a file (%s)', (_, { path, text }) => {
    expect(compared({}, { [path]: text }).weakened).toEqual([])
  })

  it.each<[string, Files, Files, string?]>([
    ['splits a file', { 'a.test.ts': VITEST.text }, { 'a.test.ts': FIRST, 'b.test.ts': SECOND }],
    [
      'merges two',
      { 'a.test.ts': FIRST, 'b.test.ts': SECOND },
      { 'a.test.ts': VITEST.text, 'b.test.ts': null },
    ],
    [
      'moves a folder',
      { 'test/a.test.ts': FIRST, 'test/b.test.ts': SECOND },
      { 'test/a.test.ts': null, 'test/b.test.ts': null, 'lib/a.test.ts': FIRST, 'lib/b.test.ts': SECOND },
    ],
    [
      'renames a file and its tests',
      { 'a.test.ts': VITEST.text },
      { 'a.test.ts': null, 'b.test.ts': VITEST.text.replaceAll('adds', 'sums') },
    ],
    [
      'moves a source with its tests',
      { 'src/a.rs': TOOLS['cargo']!.text },
      { 'src/a.rs': null, 'src/b/a.rs': TOOLS['cargo']!.text },
    ],
    ['calls tests specs', { 'a.test.ts': VITEST.text }, { 'a.test.ts': null, 'a.spec.ts': VITEST.text }],
    [
      'moves a test that is skipped',
      { 'tests/test_sum.py': SKIPPED },
      { 'tests/test_sum.py': null, 'tests/unit/test_total.py': SKIPPED },
    ],
    [
      'splits a file with a test that is skipped',
      { 'tests/test_sum.py': SKIPPED },
      {
        'tests/test_sum.py': SKIPPED.replace(/@pytest[^]*?3\n/, ''),
        'tests/test_adds.py': SKIPPED.replace(/class[^]*/, ''),
      },
    ],
    [
      'adds a file of tests for another system',
      {},
      { 'tests/test_win.py': `import pytest\npytestmark = pytest.mark.skipif(WIN)\n${PYTEST.text}` },
    ],
    [
      'adds a file of tests with a tag',
      {},
      { 'db_test.go': `//go:build integration\n\n${TOOLS['go']!.text}` },
    ],
    [
      'extracts a helper',
      { 'a.test.ts': VITEST.text },
      {
        'a.test.ts': VITEST.text.replace('expect(sum(1, 2)).toBe(3)', 'is(3, 1, 2)'),
        'test/is.ts': 'export const is = (a, ...all) => expect(sum(...all)).toBe(a)\n',
      },
    ],
    [
      'updates a snapshot',
      { 'src/__snapshots__/a.test.ts.snap': 'exports[`a 1`] = `1`' },
      { 'src/__snapshots__/a.test.ts.snap': 'exports[`a 1`] = `2`' },
    ],
    [
      'removes a feature with its tests',
      {
        'src/login.ts': 'export function loginForm() {}\n',
        'src/login.test.ts': `it('logs in', () => loginForm())\n`,
      },
      { 'src/login.ts': null, 'src/login.test.ts': null },
    ],
    [
      'removes a function with its test',
      {
        'a.go': 'func Product() int { return 1 }\n',
        'a_test.go': 'func TestProduct(t *testing.T) {\n\tProduct()\n}\n',
      },
      { 'a.go': 'package a\n', 'a_test.go': 'package a\n' },
    ],
    [
      'removes tests as its task says',
      { 'a.test.ts': VITEST.text },
      { 'a.test.ts': FIRST },
      'T-004: Remove the tests of nothing',
    ],
    [
      'combines tests as its task says',
      { 'a.test.ts': VITEST.text },
      { 'a.test.ts': FIRST },
      'T-004: Combine the two tests of sums',
    ],
    [
      'replaces a test as its task says',
      { 'tests/test_sum.py': PYTEST.text },
      { 'tests/test_sum.py': PYTEST.text.replace(/def test_adds[^]*?3\n/, 'total([1, 2])\n') },
      'T-004: Check at import what test_adds checks',
    ],
    [
      'changes code that tests read',
      { 'tests/data/a.py': 'def test_a():\n    pass\n' },
      { 'tests/data/a.py': 'if False:\n    pass\n' },
    ],
    [
      'moves a test to another file, and calls it otherwise',
      { 'tests/test_a.py': 'def test_a():\n    a = 1\n    assert a == 1\n\n\ndef test_b():\n    pass\n' },
      {
        'tests/test_a.py': 'def test_b():\n    pass\n',
        'tests/test_new.py': 'def test_is_one():\n    a = 1\n    assert a == 1\n',
      },
    ],
    [
      'skips a test as its task says',
      { 'a.test.ts': VITEST.text },
      { 'a.test.ts': VITEST.text.replace('it(', 'it.skip(') },
      'T-004: Skip what fails in CI',
    ],
    [
      'runs a test again that was skipped',
      { 'tests/test_sum.py': SKIPPED },
      { 'tests/test_sum.py': PYTEST.text },
    ],
    [
      'translates tests to TypeScript',
      { 'test/sum.js': TOOLS['mocha']!.text },
      { 'test/sum.js': null, 'test/sum.test.ts': TOOLS['mocha']!.text },
    ],
    [
      'translates tests to Kotlin',
      { 'src/test/java/ATest.java': '    @Test\n    void adds() {\n    }\n' },
      {
        'src/test/java/ATest.java': null,
        'src/test/kotlin/ATest.kt': '    @Test\n    fun adds() {\n    }\n',
      },
    ],
  ])('%s', (_, was, is, title) => {
    expect(compared(was, is, title).weakened).toEqual([])
  })
})

describe('the time to compare grows no faster than the files', () => {
  const UNITS = [
    ['quotes', '"'],
    ['escaped quotes', '\\"'],
    ['backticks', '\\`'],
    ['comments without an end', '/*'],
    ['calls', 'a()'],
    ['parentheses', '('],
    ['brackets', '['],
    ['spaces', ' '],
    ['lines', '\n'],
    ['tests', 'it("'],
    ['chains', 'test.a.'],
    ['tables', '.each)("'],
    ['options', `test('a', { skip: `],
    ['imports', 'import\n'],
    ['imports in parentheses', 'from a import (\n'],
    ['constants', 'const a =\n'],
    ['decorators', '@skip\n'],
    ['attributes of Rust', '#[test'],
    ['attributes of C#', '[Fact('],
    ['conditional attributes', '#[cfg_attr(unix'],
    ['annotations', '@Test '],
    ['annotations with text', '@Test("'],
    ['docblocks', '/**@test'],
    ['marks of RSpec', ', :skip'],
    ['declarations', '\npub( fn'],
    ['names', 'a_b-'],
    ['functions of go', 'func TestMain(m\n'],
    ['directives', '#if false\n'],
    ['blocks of Ruby', '=begin\n'],
  ] as const
  const PATHS = [
    'a.test.ts',
    'test_a.py',
    'a_test.go',
    'tests/a.rs',
    'ATest.java',
    'A.Tests/ATests.cs',
    'a_spec.rb',
    'ATest.php',
    'src/a.ts',
  ]

  /** The processor time, as others use this machine, too; the lesser of two. */
  function timeOf(path: string, unit: string, size: number): number {
    const was = unit.repeat(size / unit.length)
    const [goes, gone] = [`it('goes', () => {})`, '']
    const times = [1, 2].map(() => {
      const start = process.cpuUsage().user
      compared(
        { [path]: was, 'a.test.js': goes },
        { [path]: `x${was.slice(1)}`, [`b/${path}`]: `${was}x`, 'a.test.js': gone },
      )
      return process.cpuUsage().user - start
    })
    return Math.min(...times)
  }

  it.each(UNITS)('with many %s', (_, unit) => {
    // Quadratic time grows 64 times.
    for (const path of PATHS) {
      const less = Math.max(timeOf(path, unit, 10_000), 500)
      expect(timeOf(path, unit, 80_000) / less, path).toBeLessThan(40)
    }
  })
})
