import { posix } from 'node:path'
import { CONFIG_FILES } from '../base/names.ts'
import { matchesOneOf } from '../base/glob.ts'
import type { Gate } from '../base/nouns.ts'
import { foldersAbove } from '../base/paths.ts'
import { contentsOf } from '../git/contents.ts'
import { entriesIn, textIn } from '../git/tree.ts'
import { hooksInTree, type Home } from './slot/home.ts'
import type { Work } from './slot/slot.ts'
import { testSide } from './witness/test-files.ts'
import type { Job } from './job.ts'

/** Changed files that can decide a gate's verdict by themselves; the commit names them. */
export async function changedGates(
  { gates, gatesChanged }: Pick<Job, 'gates' | 'gatesChanged'>,
  { base, tree, changes }: Pick<Work, 'base' | 'tree' | 'changes'>,
  home: Home,
): Promise<readonly string[]> {
  const isNamed = namedBy(gates)
  const isListed = matchesOneOf(gatesChanged.paths)
  const parts = async (at: string, path: string): Promise<string> =>
    decidingParts(await textIn(home.git, at, path))
  const behind = changes.length > 0 ? await filesBehind(gates, base, home) : new Set()
  const changed: string[] = []
  for (const { path } of changes) {
    const name = path.startsWith(home.prefix) ? path.slice(home.prefix.length) : path
    const decides = isKnown(name) || isNamed(name) || isListed(name) || behind.has(path) || isHook(path, home)
    const isManifest = name === 'package.json' || name.endsWith('/package.json')
    if (decides || (isManifest && (await parts(base, path)) !== (await parts(tree, path)))) changed.push(path)
  }
  return changed
}

/** Whether a path is in the folder of hooks, where that is in the tree. */
export function isHook(path: string, home: Pick<Home, 'hooks' | 'repository'>): boolean {
  const hooks = hooksInTree(home)
  return hooks !== null && path.startsWith(`${hooks}/`)
}

/** The files that a gate's command names, and Makefiles if it calls make. */
function namedBy(gates: readonly Gate[]): (name: string) => boolean {
  const words = gates.flatMap(({ command }) => command.split(/[\s"'`;&|()<>=]+/).filter(Boolean))
  const paths = new Set(words.map((word) => word.replace(/^(?:\.\/)+/, '')))
  // `cd packages/api && sh check.sh`: the folder of a file is unknown here, so its name counts in any folder.
  const files = new Set([...paths].filter((path) => /\.\w+$/.test(path)).map(baseName))
  return (name) => {
    if (paths.has(name) || files.has(baseName(name))) return true
    // Files that a Makefile includes usually end in .mk.
    return paths.has('make') && /^(?:(?:GNUm|m|M)akefile|.*\.mk)$/.test(baseName(name))
  }
}

/** A text that may name files that decide a gate: its command, or what is behind that. */
interface Source {
  readonly text: string
  readonly path: string
  /** Ends with a slash; empty at the top. */
  readonly folder: string
}

/** A file that is named, and which of its scripts or targets; null for the whole file. */
interface Named {
  readonly path: string
  readonly targets: readonly string[] | null
}

/** The files of the base. */
interface Tree {
  readonly files: ReadonlyMap<string, string>
  readonly folders: ReadonlySet<string>
  /** The project's folder. */
  readonly prefix: string
}

/** The files that the gates' commands lead to, from one to the next: `npm test`, `node run-all.js`, `ci/unit.sh`. */
async function filesBehind(
  gates: readonly Gate[],
  base: string,
  { git, prefix }: Pick<Home, 'git' | 'prefix'>,
): Promise<ReadonlySet<string>> {
  const entries = await entriesIn(git, ['-r', '--full-tree', base])
  const files = new Map(entries.map(({ path, hash }) => [path, hash] as const))
  const folders = new Set([...files.keys()].flatMap((path) => [...foldersAbove(path)]))
  const seen = new Map<string, Named>()
  let sources: readonly Source[] = gates.map(({ command }) => ({ text: command, path: '', folder: prefix }))
  for (let depth = 0; depth < DEEPEST && sources.length > 0; depth++) {
    const named = sources.flatMap((source) => namedIn(source, { files, folders, prefix }))
    const fresh = new Map(named.map((one) => [JSON.stringify(one), one]))
    for (const key of seen.keys()) fresh.delete(key)
    for (const [key, one] of fresh) seen.set(key, one)
    const texts = await contentsOf(
      git,
      [...fresh.values()].map(({ path }) => files.get(path)!),
    )
    sources = [...fresh.values()].map(({ path, targets }) => {
      const text = texts.get(files.get(path)!)?.toString() ?? ''
      return { text: targets ? blocksOf(text, targets) : text, path, folder: folderOf(path) }
    })
  }
  const paths = [...seen.values()].map(({ path }) => path)
  // Only some keys of a manifest decide a gate.
  return new Set(paths.filter((path) => baseName(path) !== 'package.json'))
}

const DEEPEST = 6

/** Where the scripts and targets are that these programs run. */
const RUNNERS: readonly (readonly [program: RegExp, files: RegExp])[] = [
  [/\b(?:npm|pnpm|yarn|bun|run-[sp]|npm-run-all)\b/, /^package\.json$/],
  [/\bmake\b/, /^(?:(?:GNUm|m|M)akefile|.*\.mk)$/],
  [/\bjust\b/, /^\.?justfile$/i],
  [/\btask\b/, /^taskfile\.ya?ml$/i],
  [/\bdeno\b/, /^deno\.jsonc?$/],
  [/\bcomposer\b/, /^composer\.json$/],
]

/** The files that a text names: a shell's words, or what code imports from its own folder, or has run. */
function namedIn(source: Source, tree: Tree): readonly Named[] {
  const { text, path, folder } = source
  if (CODE.test(path)) return namedInCode(source, tree).map((one) => ({ path: one, targets: null }))
  const words = text.split(/[\s"'`;&|()<>=,]+/).filter(Boolean)
  const folders = [folder, tree.prefix, ...words.map((word) => `${resolved(tree.prefix, word)}/`)].filter(
    (one, index) => index < 2 || tree.folders.has(one.slice(0, -1)),
  )
  const run = new Set([...text.matchAll(RUN)].map(([, word]) => word))
  const named = words.flatMap((word) => {
    const module = /\bpython|\buv\b/.test(text)
      ? MODULES.map((end) => `${word.replaceAll('.', '/')}${end}`)
      : []
    const paths = folders.flatMap((one) => [word, ...module].map((name) => resolved(one, name)))
    return paths.filter((one) => run.has(word) || !PRODUCT.test(one))
  })
  const scripts = named.filter((one) => tree.files.has(one) && SCRIPT.test(one) && !isTestSide(baseName(one)))
  const runners = RUNNERS.filter(([program, files]) => program.test(text) || files.test(baseName(path)))
  const targets = [...tree.files.keys()].filter(
    (one) => folders.includes(folderOf(one)) && runners.some(([, files]) => files.test(baseName(one))),
  )
  return [
    ...scripts.map((one) => ({ path: one, targets: null })),
    ...targets.map((one) => ({ path: one, targets: words })),
  ]
}

const CODE = /\.(?:[cm]?[jt]sx?|py|rb|pl|php|lua)$/
/** What can be run, or configures what is run; names without an ending, too. */
const SCRIPT =
  /\.(?:[cm]?[jt]sx?|py|rb|pl|php|lua|sh|bash|zsh|ps1|ya?ml|json|toml|ini|cfg|conf)$|(?:^|\/)[^./]+$/
const MODULES = ['.py', '/__main__.py']
const ENDINGS = ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '/index.js', ...MODULES]
const RUNS = /child_process|execa|\bzx\b|Bun\.spawn|Deno\.Command|subprocess|os\.system|runpy|\bsystem\(/
/** What a shell has run: elsewhere a word may be what is checked, or built. */
const RUN =
  /(?<![\w./-])(?:node|tsx|bun|deno run|python3?|ruby|php|perl|sh|bash|source|\.)\s+(?:-\S+\s+)*([^\s"'`;&|()<>]+)/g
/** Where products are, which every task changes. */
const PRODUCT = /(?:^|\/)(?:src|lib|app|pkg|internal)\//
const IMPORTS =
  /(?:from|import|require)\s*\(?\s*["'](\.\.?\/[^"'\n]+)["']|^\s*(?:from|import)\s+([\w.]+)(?:\s+import\s+(\w+))?/gm
const STRINGS = /(["'`])((?:(?!\1)[^\\\n])+)\1/g
const isTestSide = testSide([])

function namedInCode({ text, folder }: Source, { files, prefix }: Tree): readonly string[] {
  const strings = RUNS.test(text)
    ? [...text.replaceAll(IMPORTS, '').matchAll(STRINGS)].flatMap(([, , inner]) => inner!.split(/\s+/))
    : []
  const run = strings.flatMap((word) => [resolved(folder, word), resolved(prefix, word)])
  // At the top, a script and the product are neighbours.
  const imports = folder === prefix ? [] : [...text.matchAll(IMPORTS)]
  const own = imports.flatMap(([, file, module = '', part = '']) => {
    if (file !== undefined) return [resolved(folder, file)]
    const dotted = module.replaceAll('.', '/').replace(/^\/+/, '')
    return [folder, prefix].flatMap((one) => [dotted, `${dotted}/${part}`].map((name) => resolved(one, name)))
  })
  const imported = own.filter((path) => path.startsWith(folder))
  return [...run, ...imported.flatMap((path) => ENDINGS.map((ending) => path + ending))].filter(
    (path) => files.has(path) && SCRIPT.test(path) && !PRODUCT.test(path) && !isTestSide(path),
  )
}

/** The blocks of a file of scripts or targets that have one of these names: a line up to a colon, and what is indented below. */
function blocksOf(text: string, names: readonly string[]): string {
  const known = new Set(names.flatMap((name) => [name, `pre${name}`, `post${name}`]))
  let depth = -1
  const inside = text.split('\n').flatMap((line) => {
    const indent = line.search(/\S/)
    if (indent >= 0 && indent <= depth) depth = -1
    const [, head = '', rest = ''] = /^\s*("[^"]+"|[^:]*):(.*)$/.exec(line) ?? []
    if (depth < 0 && head.split(/[\s"'@]+/).some((name) => known.has(name))) {
      depth = indent
      return [rest]
    }
    return depth >= 0 ? [line] : []
  })
  return inside.join('\n')
}

function resolved(folder: string, name: string): string {
  return posix.join(folder, name).replace(/\/$/, '')
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Whether it is ralph's configuration, a hook of the project, or the configuration of a well-known tool, in any folder. */
function isKnown(name: string): boolean {
  if (CONFIG_FILES.some((file) => file === name) || name.startsWith('.husky/')) return true
  const file = baseName(name)
  return TOOLS.some((pattern) => pattern.test(file))
}

const TOOLS: readonly RegExp[] = [
  // JavaScript and TypeScript
  /^(?:vitest|vite|jest|karma|cypress|playwright|ava|wdio|protractor|nightwatch)(?:[.-][\w-]+)*[.-](?:conf|config|workspace|preset|setup)(?:[.-][\w-]+)*\.\w+$/,
  /^(?:setupTests\.[jt]sx?|jasmine\.json|angular\.json|project\.json)$/,
  /^\.(?:mocharc|nycrc|c8rc|taprc|babelrc|swcrc)(?:\.\w+)?$/,
  /^(?:[tj]sconfig)(?:\.[\w-]+)*\.json$/,
  /^(?:eslint|prettier|biome|oxlint|stylelint|rollup|rolldown|webpack|turbo|nx|lerna)(?:\.config)?\.(?:\w+)$/,
  /^\.(?:eslintrc|eslintignore|prettierrc|prettierignore|oxlintrc|stylelintrc|lintstagedrc)(?:\.\w+)?$/,
  /^(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs|pnpm-workspace\.yaml|bunfig\.toml|deno\.jsonc?)$/,
  // Python
  /^(?:pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|conftest\.py|noxfile\.py|mypy\.ini|\.mypy\.ini)$/,
  /^(?:\.?ruff\.toml|\.flake8|\.pylintrc|pyproject\.toml|pyrightconfig\.json|\.coveragerc)$/,
  // .NET, Swift, Dart
  /^(?:.*\.(?:csproj|fsproj|slnx?|runsettings)|Directory\.Build\.(?:props|targets)|Package\.swift|dart_test\.yaml)$/,
  // Rust, Go, Elixir, the JVM, Ruby, PHP, C
  /^(?:Cargo\.toml|\.?clippy\.toml|\.?rustfmt\.toml|build\.rs|\.golangci\.\w+|go\.mod|go\.work)$/,
  /^(?:mix\.exs|\.credo\.exs|\.formatter\.exs|build\.gradle(?:\.kts)?|settings\.gradle(?:\.kts)?|pom\.xml|testng\.xml|junit-platform\.properties)$/,
  /^(?:Rakefile|\.rspec|\.rubocop\.yml|phpunit\.xml(?:\.dist)?|composer\.json|CMakeLists\.txt|justfile|Taskfile\.ya?ml)$/i,
  /^(?:\.pre-commit-config\.yaml|lefthook\.ya?ml|\.lefthook\.ya?ml)$/,
]

/** A package.json changes with every dependency: only the keys that tools and ralph read can decide a gate. */
function decidingParts(text: string | null): string {
  try {
    const read: unknown = JSON.parse(text ?? '{}')
    if (typeof read !== 'object' || read === null) return ''
    const parts: Readonly<Record<string, unknown>> = { ...read }
    return JSON.stringify(MANIFEST_KEYS.map((key) => parts[key] ?? null))
  } catch {
    // Not JSON: then no script can be run from it.
    return text ?? ''
  }
}

const MANIFEST_KEYS = [
  'scripts',
  'ralph',
  'jest',
  'vitest',
  'mocha',
  'ava',
  'nyc',
  'c8',
  'tap',
  'babel',
  'eslintConfig',
  'prettier',
  'stylelint',
  'lint-staged',
  'husky',
  'simple-git-hooks',
]
