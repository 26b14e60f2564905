/** The tests that a file holds. */
export interface TestsIn {
  /** Their names, in order. A name may be there twice. */
  readonly names: readonly string[]
  /** The tests and groups that are marked to be skipped, or to fail. */
  readonly skipped: readonly string[]
  /** Those that are marked to run alone. */
  readonly alone: readonly string[]
  /** How many tables of cases there are: each makes many tests of one. */
  readonly tables: number
  /** The text of each test, up to the next one. */
  readonly texts: readonly string[]
}

/** How tests are written in a language. In each pattern the last group that matches is a name. */
interface Language {
  readonly files: RegExp
  /** What is not code; a string that could look like it is a group, and stays. */
  readonly comments: RegExp
  readonly tests: RegExp
  readonly skips: RegExp
  readonly alone?: RegExp
  readonly tables?: RegExp
}

const C_COMMENTS =
  /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/ *(?:go:build|\+build)[^\n]*)|\/\/[^\n]*|\/\*[^]*?\*\//g
const HASH_COMMENTS = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|"""[^]*?"""|'''[^]*?'''|#(?!\[)[^\n]*/g
const NAME = String.raw`\(\s*(?:(["'\x60])((?:\\.|(?!\1)[^\\])*)\1|([\w$.[\]]+))\s*,`

const LANGUAGES: readonly Language[] = [
  {
    files: /\.[cm]?[jt]sx?$|\.(?:vue|svelte|astro)$/,
    comments: C_COMMENTS,
    tests: new RegExp(
      String.raw`(?:(?<![\w$.)\]/])(?:(?:t|tap|Deno|QUnit)\.)?[fx]?(?:it|test|specify)(?:\.(?!each\b|for\b|describe\b|step\b|use\b)\w+(?:\([^()]*\))?)*\s*|\.(?:each|for)\b[^]{0,4000}?[)\x60]\s*)${NAME}`,
      'g',
    ),
    skips:
      /(?:(?<![\w$.])(?:it|test|describe|suite|context|specify|t|this)(?:\.\w+)*\.(?:skip|todo|skipIf|runIf|fixme|fails|failing)\b|(?<![\w$.])x(?:it|test|describe|context|specify)\b|\b(?:skip|todo)\s*:\s*(?!false|undefined|null|0)\S)(?:\([^()"'`]*\))?\s*\(?\s*(?:["'`]([^\n"'`]*))?/g,
    alone:
      /(?:(?<![\w$.])(?:it|test|describe|suite|context|specify)(?:\.\w+)*\.only\b|(?<![\w$.])f(?:it|describe|context)\b(?=\s*\()|\bonly\s*:\s*true)\s*\(?\s*(?:["'`]([^\n"'`]*))?/g,
    tables: /\b(?:it|test|describe|specify)(?:\.\w+)*\.(?:each|for)\b|\bfor(?:Each)?\s*\(|\.map\(/g,
  },
  {
    files: /\.py$/,
    comments: HASH_COMMENTS,
    tests: /^[ \t]*(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*\(/gm,
    skips:
      /@(?:[\w.]+\.)?(?:skip\w*|xfail|expectedFailure)\b[^]{0,600}?\n[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|\bpytest\.(?:skip|xfail)\(|\.skipTest\(|\braise +[\w.]*SkipTest\b|^pytestmark\b.*skip|\b__test__ *= *False|^collect_ignore\w*/gm,
    tables: /parametrize|subTest\(|@(?:[\w.]+\.)?(?:given|data|expand)\b/g,
  },
  {
    files: /\.go$/,
    comments: C_COMMENTS,
    tests: /^func[ \t]+((?:Test|Fuzz|Example)\w*)\(|\.(?:Run|It|Specify)\(\s*"((?:\\.|[^"\\\n])*)"/gm,
    skips:
      /\b[tbs]\.Skip(?:f|Now)?\(|^\/\/ *(?:go:build|\+build)\b(?!.*(?:go1\.|linux|windows|darwin|unix|cgo|64))|\b(?:X|P)(?:It|Describe|Context)\("([^"]*)/gm,
    alone: /\bF(?:It|Describe|Context)\("([^"]*)/g,
    tables: /\.Run\(\s*[a-z]|\bDescribeTable\(|:= range\b/g,
  },
  {
    files: /\.rs$/,
    comments: C_COMMENTS,
    tests:
      /#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest)\b[^\]]*\](?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\s+(\w+)/g,
    skips:
      /#\[(?:ignore|cfg\((?:any\(\)|FALSE|false))[^\]]*\](?:\s*#\[[^\]]*\])*\s*(?:async\s+)?(?:fn|mod)\s+(\w+)/g,
    tables: /#\[(?:case|values|test_case)\b|\bproptest!|\bmacro_rules!/g,
  },
  {
    files: /\.(?:java|kts?|groovy|scala)$/,
    comments: C_COMMENTS,
    tests:
      /@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\b(?:\([^)]*\))?(?:\s+@\w+(?:\([^)]*\))?)*\s+(?:[\w<>[\],?]+\s+)*?(?:void|fun|def|[\w<>]+)\s+(`[^`\n]+`|\w+)\s*\(|\b(?:test|it|should)\(\s*"((?:\\.|[^"\\\n])*)"|\bdef\s+"([^"\n]+)"/g,
    skips:
      /@(?:Disabled|Ignore)\w*\b(?:\([^)]*\))?(?:\s+@\w+(?:\([^)]*\))?)*(?:\s+\w+)*?\s+(?:void|fun|class)\s+(`[^`\n]+`|\w+)|\bignore\(\s*"([^"\n]*)/g,
    tables: /@ParameterizedTest|\bwhere:/g,
  },
  {
    files: /\.(?:cs|fs)$/,
    comments: C_COMMENTS,
    tests:
      /\[(?:Fact|Theory|Test|TestMethod|TestCase)\b[^\]]*\](?:\s*\[[^\]]*\])*\s*(?:\w[\w<>]*\s+)+?(\w+)\s*\(/g,
    skips:
      /\[(?:Ignore\b|(?:Fact|Theory)\([^)]*\bSkip\s*=)[^\]]*\](?:\s*\[[^\]]*\])*\s*(?:\w[\w<>]*\s+)+?(\w+)\s*[({]|\bAssert\.(?:Ignore|Inconclusive)\(/g,
    tables: /\[(?:Theory|TestCase|DataRow|InlineData)\b/g,
  },
  {
    files: /\.(?:rb|exs?)$/,
    comments: HASH_COMMENTS,
    tests:
      /^[ \t]*(?:it|specify|test|scenario|example|property)[ \t(]+(["'])((?:\\.|(?!\1)[^\\\n])*)\1|^[ \t]*def[ \t]+(test_\w+)/gm,
    skips:
      /^[ \t]*(?:x(?:it|describe|context|specify|scenario)|pending|skip|@(?:module)?tag[ \t]+:?skip)\b[ \t(]*(?:["']([^"'\n]*))?/gm,
    alone:
      /^[ \t]*f(?:it|describe|context|specify)\b[ \t(]*(?:["']([^"'\n]*))?|,[ \t]*(?::focus\b|focus:[ \t]*true)/gm,
    tables: /\.each\b|^[ \t]*for\b/gm,
  },
  {
    files: /\.(?:php|swift|dart)$/,
    comments: C_COMMENTS,
    tests:
      /\b(?:function|func)\s+(test\w*)\s*\(|(?:#\[Test\]|@Test)[^(]*?(?:function|func)\s+(\w+)\s*\(|(?<![\w>$.])(?:it|test|testWidgets)\(\s*(["'])((?:\\.|(?!\3)[^\\\n])*)\3/g,
    skips:
      /\bmarkTest(?:Skipped|Incomplete)\(|->(?:skip|todo)\(|\bXCTSkip\w*|\bskip:\s*(?:true|["'])|@Skip\b/g,
    alone: /->only\(|\bsolo:\s*true/g,
    tables: /@dataProvider|#\[DataProvider|->with\(/g,
  },
]

/** Reads the tests of a file, without running it; null for a file in another language. */
export function testsIn(path: string, text: string): TestsIn | null {
  const language = LANGUAGES.find(({ files }) => files.test(path))
  if (!language) return null
  const code = text.replace(language.comments, (_, kept: string | undefined) => kept ?? '')
  const found = [...code.matchAll(language.tests)]
  const names = found.map(nameIn)
  // A mark without a name is in the test before it.
  const marks = (pattern: RegExp | undefined): readonly string[] =>
    [...code.matchAll(pattern ?? NOTHING)].map(
      (mark) =>
        nameIn(mark) || (names[found.findLastIndex(({ index }) => index <= mark.index)] ?? mark[0].trim()),
    )
  return {
    names,
    texts: found.map(({ index }, at) => code.slice(index, found[at + 1]?.index)),
    skipped: marks(language.skips),
    alone: marks(language.alone),
    tables: marks(language.tables).length,
  }
}

const NOTHING = /(?!)/g

function nameIn([, ...groups]: RegExpExecArray): string {
  return groups.findLast((group) => group !== undefined && group !== '') ?? ''
}

/** What files of one kind have in common does not count. */
export function withoutImports(text: string): string {
  return text.replace(IMPORTS, '')
}

/** A file without its imports and the paths in its strings: a move changes nothing else. */
export function withoutPlaces(text: string): string {
  return withoutImports(text)
    .replace(/(["'`])(?:\.{1,2}|@|~)?\/[^"'`\n]*\1/g, '$1$1')
    .replace(/\s+/g, ' ')
    .trim()
}

const IMPORTS =
  /^[ \t]*(?:import\b(?:[^;'"(]*?from)?\s*(?:["'][^"'\n]*["']|[\w.* ,]+);?|from[ \t]+[\w.]+[ \t]+import[ \t]+(?:\([^)]*\)|[^\n]*)|(?:use|using|package|namespace|require\w*|mod)\b[^\n]*|(?:const|let|var)[^=\n]*=\s*(?:await\s+)?(?:require|import)\([^)]*\);?)[ \t]*$/gm
