/** The tests that a file holds. */
export interface TestsIn {
  /** Their names, in order. A name may be there twice. */
  readonly names: readonly string[]
  /** The tests and groups that are marked to be skipped, or to fail. */
  readonly skipped: readonly string[]
  /** Those that are skipped under a condition. */
  readonly sometimes: readonly string[]
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

/*
 * What these patterns read was written by an agent. So that none of it takes long, what may be long between two parts has
 * a limit, and what has no end is taken whole.
 */
const STRINGS = String.raw`"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?`
const BACKTICKS = String.raw`|\x60(?:\\[^]|[^\x60\\])*\x60?`

/** Comments as in C, with what stays although it looks like one, and what is no code either. */
function cComments(kept = BACKTICKS, dropped = ''): RegExp {
  return new RegExp(String.raw`(${STRINGS}${kept})${dropped}|\/\/[^\n]*|\/\*[^]*?\*\/|(\/\*[^]*)`, 'gm')
}

const HASH_COMMENTS = new RegExp(
  String.raw`"""[^]*?"""|'''[^]*?'''|(${STRINGS})|^=begin\b[^]*?(?:^=end|(?![^]))|^__END__$[^]*|#(?!\[)[^\n]*`,
  'gm',
)

/** What may stand between brackets of a kind. */
const inner = (open: string, close: string): string =>
  String.raw`(?:[^${open}${close}"]|"(?:\\.|[^"\\\n])*"|${open}[^${open}${close}]*${close}){0,400}`
const ARGUMENTS = String.raw`(?:\(${inner('\\(', '\\)')}\))?`
const BRACKETS = String.raw`${inner('\\[', '\\]')}\]`
const ANNOTATIONS = String.raw`(?:\s+@[\w.]+${ARGUMENTS}){0,20}`

const TITLE = String.raw`(["'\x60])((?:\\.|(?!\1)[^\\])*)\1`
const NAME = String.raw`\(\s*(?:${TITLE}|([A-Za-z_$][\w$.[\]]*))\s*,`
const NEVER = String.raw`\bif\s*\(\s*(?:false|0)\s*\)`

const LANGUAGES: readonly Language[] = [
  {
    files: /\.[cm]?[jt]sx?$|\.(?:vue|svelte|astro)$/,
    comments: cComments(),
    tests: new RegExp(
      String.raw`(?:(?<![\w$.)\]/])(?:(?:t|tap|Deno|QUnit)\.)?[fx]?(?:it|test|specify)(?:\.(?!each\b|for\b|describe\b|step\b|use\b|expect\b)\w+(?:\([^()]*\))?)*\s*|\.(?:each|for)\b(?:(?!\.(?:each|for)\b)[^]){0,4000}?[)\x60]\s*)${NAME}`,
      'g',
    ),
    skips: new RegExp(
      [
        String.raw`(?:(?<![\w$.])(?:it|test|describe|suite|context|specify|Deno|QUnit)(?:\.\w+)*\.(?:skip|todo(?!\(\s*['"\x60][^"'\x60\n]*["'\x60]\s*\))|skipIf|runIf|if|fixme|fails|failing|ignore)\b|(?<![\w$.])x(?:it|test|describe|context|specify)\b)(?:\([^()"'\x60]*\))?\s*\(?\s*(?:["'\x60]([^\n"'\x60]*))?`,
        // An option of a test; other objects may have a key of that name.
        String.raw`(?<![\w$.])(?:it|test|describe|suite)(?:\.\w+)*\(\s*${TITLE.replaceAll('\\1', '\\2')},\s*\{[^{}]{0,200}?\b(?:skip|todo|fails|ignore)\s*:\s*(?!false|undefined|null|0)\S`,
        String.raw`(?<![\w$.])(?:t|ctx|context|this)\.(?:skip|todo)\(|(?<![\w$.])skip\(\s*(?:\)|["'\x60])|(?<![\w$])test\.fail\(|(?<![\w$.])pending\(|${NEVER}`,
      ].join('|'),
      'g',
    ),
    alone:
      /(?:(?<![\w$.])(?:it|test|describe|suite|context|specify|Deno|QUnit)(?:\.\w+)*\.only\b|(?<![\w$.])f(?:it|describe|context)\b(?=\s*\()|\bonly\s*:\s*true)\s*\(?\s*(?:["'`]([^\n"'`]*))?/g,
    tables: /(?<![\w$.])(?:it|test|describe|specify)(?:\.\w+)*\.(?:each|for)\b|\bfor(?:Each)?\s*\(|\.map\(/g,
  },
  {
    files: /\.py$/,
    comments: HASH_COMMENTS,
    tests: /^[ \t]*(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*\(/gm,
    skips:
      /@(?:[\w.]+\.)?(?:skip\w*|xfail|expectedFailure)\b(?:(?!@(?:[\w.]+\.)?(?:skip|xfail|expected))[^]){0,4000}?\n[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|\bmark\.(?:skip\w*|xfail)\b|\bpytest\.(?:skip|xfail|importorskip)\(|^[ \t]*(?:skip|xfail|importorskip)\(|\.skipTest\(|\braise +[\w.]*SkipTest\b|\b__test__ *= *False|^[ \t]*(?:if|while)[ \t]+(?:False|0)[ \t]*:|^[ \t]*del[ \t]+[tT]est/gm,
    alone: /^(collect_ignore\w*)/gm,
    tables: /parametrize|subTest\(|@(?:[\w.]+\.)?(?:given|data|expand)\b/g,
  },
  {
    files: /\.go$/,
    comments: cComments(
      String.raw`|\x60[^\x60\n]*\x60|\/\/ *(?:go:build|\+build)[^\n]*`,
      // Longer texts are data.
      String.raw`|\x60[^\x60]*\x60`,
    ),
    tests:
      /^func[ \t]+((?!TestMain\b)(?:Test|Fuzz|Example)(?![a-z])\w*)\(|\.(?:Run|It|Specify)\(\s*"((?:\\.|[^"\\\n])*)"/gm,
    skips:
      /\b(?:[tbsf]{1,2}\.Skip|\w+\.Skip(?:f|Now))\(|^\/\/ *(?:go:build|\+build)\b(?!.*(?:go1\.|64|(?<!!)\b(?:linux|darwin|unix|cgo)\b|!(?!linux|darwin|unix|cgo)))|\b(?:X|P)(?:It|Describe|Context)\("([^"]*)/gm,
    alone:
      /\bF(?:It|Describe|Context)\("([^"]*)|^func[ \t]+(TestMain)\((?!(?:(?!\nfunc)[^]){0,3000}?\.Run\()/gm,
    tables: /\.Run\(\s*[a-z]|\bDescribeTable\(|:= range\b/g,
  },
  {
    files: /\.rs$/,
    comments: cComments(),
    tests: new RegExp(
      String.raw`#\[(?:\w+::){0,5}(?:test|rstest|test_case|quickcheck|proptest)\b${BRACKETS}(?:\s*#\[${BRACKETS}){0,20}\s*(?:pub(?:\([^)\n]*\))?\s+)?(?:async\s+)?fn\s+(\w+)`,
      'g',
    ),
    skips: new RegExp(
      String.raw`#\[(?:ignore|cfg\((?:any\(\)|FALSE|false|not\(test\))|cfg_attr\(\s*(?:all\(\)|not\(|unix)[^\]\n]{0,200}?\bignore)${BRACKETS}(?:\s*#\[${BRACKETS}){0,20}\s*(?:async\s+)?(?:fn|mod)\s+(\w+)`,
      'g',
    ),
    tables: /#\[(?:case|values|test_case)\b|\bproptest!|\bmacro_rules!/g,
  },
  {
    files: /\.(?:java|kts?|groovy|scala)$/,
    comments: cComments(),
    tests: new RegExp(
      String.raw`@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\b${ARGUMENTS}${ANNOTATIONS}\s+(?:[\w<>[\],?]+\s+){0,8}?(?:void|fun|def|[\w<>]+)\s+(\x60[^\x60\n]+\x60|\w+)\s*\(|\b(?:test|it|should)\(\s*"((?:\\.|[^"\\\n])*)"|\bdef\s+"([^"\n]+)"`,
      'g',
    ),
    skips: new RegExp(
      String.raw`@(?:Disabled|Ignore|EnabledIf|EnabledOn)\w*\b${ARGUMENTS}${ANNOTATIONS}(?:\s+\w+){0,8}?\s+(?:void|fun|class)\s+(\x60[^\x60\n]+\x60|\w+)|\bignore\(\s*"([^"\n]*)|\benabled\s*=\s*false|\bassume(?:True\(\s*false|False\(\s*true|That\(\s*false)|\bAssumptions\.abort\(|${NEVER}`,
      'g',
    ),
    tables: /@ParameterizedTest|\bwhere:/g,
  },
  {
    files: /\.(?:cs|fs)$/,
    comments: cComments(
      undefined,
      String.raw`|^[ \t]*#if[ \t]+(?:false|FALSE|NEVER)\b[^]*?(?:^[ \t]*#endif|(?![^]))`,
    ),
    tests: new RegExp(
      String.raw`\[(?:Fact|Theory|Test|TestMethod|TestCase)\b${BRACKETS}(?:\s*\[${BRACKETS}){0,20}\s*(?:\w[\w<>]*\s+){1,8}?(\w+)\s*\(`,
      'g',
    ),
    skips: new RegExp(
      String.raw`\[(?:[\w, ]*\b(?:Ignore|Explicit)\b|(?:Fact|Theory)\([^)\n]{0,200}?\b(?:Skip|Explicit)\s*=)${BRACKETS}(?:\s*\[${BRACKETS}){0,20}\s*(?:\w[\w<>]*\s+){1,8}?(\w+)\s*[({]|\bAssert\.(?:Ignore|Inconclusive|Skip)\(|${NEVER}`,
      'g',
    ),
    tables: /\[(?:Theory|TestCase|DataRow|InlineData)\b/g,
  },
  {
    files: /\.(?:rb|exs?)$/,
    comments: HASH_COMMENTS,
    tests:
      /^[ \t]*(?:it|specify|test|scenario|example|property)[ \t(]+(["'])((?:\\.|(?!\1)[^\\\n])*)\1|^[ \t]*def[ \t]+(test_\w+)/gm,
    skips:
      /^[ \t]*(?:x(?:it|describe|context|specify|scenario)|pending|skip|@(?:module)?tag[ \t]+:?skip)\b[ \t(]*(?:["']([^"'\n]*))?|,[ \t]*(?::(?:skip|pending)\b|(?:skip|pending):[ \t]*(?!false|nil)\S)(?=.{0,200}(?:\bdo\b|\{))|^[ \t]*if[ \t]+false\b/gm,
    alone:
      /^[ \t]*f(?:it|describe|context|specify)\b[ \t(]*(?:["']([^"'\n]*))?|,[ \t]*(?::focus\b|focus:[ \t]*true)/gm,
    tables: /\.each\b|^[ \t]*for\b/gm,
  },
  {
    files: /\.(?:php|swift|dart)$/,
    comments: cComments(
      String.raw`${BACKTICKS}|\/\*\*(?:(?!\*\/)[^]){0,2000}?@(?:test|dataProvider)\b(?:(?!\*\/)[^]){0,2000}\*\/`,
    ),
    tests:
      /(?<!\b(?:private|protected)[ \t]+(?:static[ \t]+)?)\b(?:function|func)\s+(test\w*)\s*\(|(?:#\[Test\]|@[Tt]est\b)[^{};]{0,400}?(?:function|func)\s+(\w+)\s*\(|(?<![\w>$.])(?:it|test|testWidgets)\(\s*(["'])((?:\\.|(?!\3)[^\\\n])*)\3/g,
    skips: new RegExp(
      String.raw`\bmarkTest(?:Skipped|Incomplete)\(|->(?:skip|todo)\(|\bXCTSkip\w*|\bskip:\s*(?:true|["'])|@Skip\b|${NEVER}`,
      'g',
    ),
    alone: /->only\(|\bsolo:\s*true/g,
    tables: /@dataProvider|#\[DataProvider|->with\(/g,
  },
]

/** Reads the tests of a file, without running it; null for a file in another language. */
export function testsIn(path: string, text: string): TestsIn | null {
  const language = LANGUAGES.find(({ files }) => files.test(path))
  if (!language) return null
  const code = text.replace(
    language.comments,
    (_, kept: string | undefined, unended: unknown) => kept ?? (typeof unended === 'string' ? unended : ''),
  )
  const found = [...code.matchAll(language.tests)]
  const names = found.map(nameIn)
  const marks = (pattern: RegExp | undefined): readonly { name: string; isSometimes: boolean }[] => {
    let before = -1
    return [...code.matchAll(pattern ?? NOTHING)].map((mark) => {
      while ((found[before + 1]?.index ?? Infinity) <= mark.index) before++
      // A mark without a name is in the test before it.
      const name = nameIn(mark) || (names[before] ?? mark[0].trim())
      return { name, isSometimes: isConditional(code, mark.index) }
    })
  }
  const skips = marks(language.skips)
  const namesOf = (isSometimes: boolean): readonly string[] =>
    skips.flatMap((mark) => (mark.isSometimes === isSometimes ? mark.name : []))
  return {
    names,
    texts: found.map(({ index }, at) => code.slice(index, found[at + 1]?.index)),
    skipped: namesOf(false),
    sometimes: namesOf(true),
    alone: marks(language.alone).map(({ name }) => name),
    tables: marks(language.tables).length,
  }
}

/** Whether a mark depends on something, as far as its own lines show it. */
function isConditional(code: string, at: number): boolean {
  const [before, after] = [code.slice(Math.max(0, at - 200), at), code.slice(at, at + 200)]
  return CONDITION_BEFORE.test(before) || CONDITION_IN.test(after)
}

const CONSTANT = String.raw`(?![\s(]*(?:not\b|!)?[\s(]*(?:True|true|False|false|None|null|[01"'])\b)`
/** `if short {` or `except ImportError:` in the line before, and `condition ? test :`. */
const CONDITION_BEFORE = new RegExp(
  String.raw`\b(?:if|unless|except|catch)\b${CONSTANT}[^\n]*\n?[ \t{]*$|\?[^?:;]{1,80}:\s*$`,
)
/** `@skipif(…`, `.skipIf(…`, `@DisabledOnOs(…`, and `skip unless …`. */
const CONDITION_IN = new RegExp(
  String.raw`^[^\n]{0,60}?(?:(?:skip|run)_?(?:if|unless)\(${CONSTANT}|abled(?:On|If|For)\w+|importorskip|(?:xfail|\.skip|\.fixme)\([^\n"'\x60]*?(?:[!=]=|[<>]=? ?[\d(]))|^[^\n]*[ \t](?:if|unless)[ \t]+${CONSTANT}`,
  'i',
)

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
  /^[ \t]*(?:import\b(?:[^;'"(]{0,400}?from)?\s*(?:["'][^"'\n]*["']|[\w.* ,]+);?|from[ \t]+[\w.]+[ \t]+import[ \t]+(?:\([^()]{0,2000}\)|[^\n]*)|(?:use|using|package|namespace|require\w*|mod)\b[^\n]*|(?:const|let|var)[^=\n]*=\s*(?:await\s+)?(?:require|import)\([^)\n]*\);?)[ \t]*$/gm
