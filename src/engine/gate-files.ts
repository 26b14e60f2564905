import { CONFIG_FILES } from '../base/names.ts'
import { matchesOneOf } from '../base/glob.ts'
import type { Gate } from '../base/nouns.ts'
import { textIn } from '../git/tree.ts'
import { hooksInTree, type Home } from './slot/home.ts'
import type { Work } from './slot/slot.ts'
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
  const changed: string[] = []
  for (const { path } of changes) {
    const name = path.startsWith(home.prefix) ? path.slice(home.prefix.length) : path
    const decides = isKnown(name) || isNamed(name) || isListed(name) || isHook(path, home)
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
  /^(?:vitest|vite|jest|karma|cypress|playwright|ava|wdio)\.(?:config|workspace)\.\w+$/,
  /^\.(?:mocharc|nycrc|c8rc|taprc|babelrc|swcrc)(?:\.\w+)?$/,
  /^(?:[tj]sconfig)(?:\.[\w-]+)*\.json$/,
  /^(?:eslint|prettier|biome|oxlint|stylelint|rollup|rolldown|webpack|turbo|nx|lerna)(?:\.config)?\.(?:\w+)$/,
  /^\.(?:eslintrc|eslintignore|prettierrc|prettierignore|oxlintrc|stylelintrc|lintstagedrc)(?:\.\w+)?$/,
  /^(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs|pnpm-workspace\.yaml|bunfig\.toml|deno\.jsonc?)$/,
  // Python
  /^(?:pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|conftest\.py|noxfile\.py|mypy\.ini|\.mypy\.ini)$/,
  /^(?:\.?ruff\.toml|\.flake8|\.pylintrc|pyproject\.toml|pyrightconfig\.json|\.coveragerc)$/,
  // Rust, Go, Elixir, the JVM, Ruby, PHP, C
  /^(?:Cargo\.toml|\.?clippy\.toml|\.?rustfmt\.toml|build\.rs|\.golangci\.\w+|go\.mod|go\.work)$/,
  /^(?:mix\.exs|\.credo\.exs|\.formatter\.exs|build\.gradle(?:\.kts)?|settings\.gradle(?:\.kts)?|pom\.xml)$/,
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
