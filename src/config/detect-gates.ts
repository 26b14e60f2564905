import { dirname, join } from 'node:path'
import { namesIn } from '../base/folder.ts'
import { matchesOneOf } from '../base/glob.ts'
import type { Gate } from '../base/nouns.ts'
import { textAt } from '../base/read-file.ts'
import { isObject, parsedJson } from '../base/text.ts'
import { GATE_TIMEOUT_SECONDS } from './defaults.ts'

/** Quick checks first: they find errors sooner than a whole test run. */
const KINDS = ['typecheck', 'lint', 'test', 'build'] as const
type Kind = (typeof KINDS)[number]

/**
 * The checks that a project's own files name; may be empty. A linter is required if it passes before the first task. The
 * files may be those of a commit, by name.
 */
export function detectGates(root: string, files?: ReadonlyMap<string, string>): Gate[] {
  const folder = files ? folderOf(root, files) : folderAt(root)
  return KINDS.flatMap((kind) =>
    [...commandsIn(folder, kind)].map(([tool, command], index) => ({
      name: index === 0 ? kind : `${kind} (${tool})`,
      command,
      // Nothing says that the linter must pass, and many projects have open findings: what is green stays green.
      ...(kind === 'lint' ? ({ required: false, ifGreen: true } as const) : { required: true }),
      timeoutSeconds: GATE_TIMEOUT_SECONDS,
    })),
  )
}

/** Whether the text of a file says something of gates, and not only its name. */
export function namesGates(file: string): boolean {
  return TOOLS.flat().some(({ files }) => matchesOneOf(files)(file))
}

/** Each tool's command of a kind, from the first group of the table in which there is any. */
function commandsIn(folder: Folder, kind: Kind): ReadonlyMap<string, string> {
  for (const group of TOOLS) {
    const found = new Map<string, string>()
    for (const row of group) {
      const command = found.has(row.tool) ? undefined : commandOf(row, kind, folder)
      if (command !== undefined) found.set(row.tool, filledIn(command, folder))
    }
    if (found.size > 0) return found
  }
  return new Map()
}

/** What shows that a project uses a tool, and how that is run. */
interface Row {
  readonly tool: string
  readonly files: readonly string[]
  /** What one of these files must say. */
  readonly says?: RegExp
  /** Where the files name scripts, or targets: the key that holds them, or what finds them. */
  readonly names?: string | RegExp
  readonly run: string | { readonly [kind in Kind]?: string }
}

function commandOf({ files, says, names, run }: Row, kind: Kind, folder: Folder): string | undefined {
  const texts = folder.names.filter(matchesOneOf(files)).map((name) => folder.text(name))
  if (typeof run !== 'string')
    return texts.some((text) => says?.test(plain(text)) ?? true) ? run[kind] : undefined
  const named = new Set(
    texts.flatMap((text) => (names instanceof RegExp ? targetsIn(text, names) : scriptsIn(text, names!))),
  )
  const name = (names instanceof RegExp ? TARGETS : SCRIPTS)[kind].find((one) => named.has(one))
  return name && run.replace('{name}', name)
}

const SCRIPTS: Readonly<Record<Kind, readonly string[]>> = {
  typecheck: ['typecheck', 'type-check', 'check-types', 'types', 'tsc'],
  lint: ['lint'],
  test: ['test', 'test:ci', 'test:run'],
  build: ['build'],
}
const TARGETS: typeof SCRIPTS = {
  typecheck: ['typecheck'],
  lint: ['lint'],
  test: ['test', 'check'],
  build: ['build'],
}

function scriptsIn(text: string, key: string): readonly string[] {
  const manifest = parsedJson(text.replace(/^\uFEFF/, ''))
  const scripts = isObject(manifest) ? manifest[key] : null
  return isObject(scripts) ? Object.keys(scripts).filter((name) => isCheck(scripts[name])) : []
}

function targetsIn(text: string, pattern: RegExp): readonly string[] {
  return [...plain(text).matchAll(pattern)].flatMap(([, names]) => names!.trim().split(/\s+/))
}

const NPM_PLACEHOLDER = 'no test specified'
const WATCHES = /(^|\s)--?watch(?!=false)/

/** Whether a script ends by itself, and does something. */
function isCheck(script: unknown): boolean {
  // composer has lists.
  const text = Array.isArray(script) ? script.join(' && ') : script
  return (
    typeof text === 'string' && text.trim() !== '' && !text.includes(NPM_PLACEHOLDER) && !WATCHES.test(text)
  )
}

/** A text without its comments. */
function plain(text: string): string {
  return text.replaceAll(/^\s*#.*|\s#.*$/gm, '')
}

/** A tool that is configured, or among the dependencies: `[tool.ruff]`, `"ruff>=0.6"`, `ruff = "^0.6"`, `ruff==0.6`. */
function mentions(tool: string): RegExp {
  return new RegExp(
    String.raw`^\s*\[(?:tool[.:])?${tool}[\].]|["']${tool}["'\s<>=~!\[;]|^\s*(?:commands\s*=\s*)?${tool}(?=$|[\s=<>~!;\[@])`,
    'm',
  )
}

const CLIPPY = { lint: 'cargo clippy{workspace} --all-targets -- -D warnings' }
const PYPROJECT = { tool: 'python', files: ['pyproject.toml'] } as const
const PYTEST = { test: '{python}pytest' }
const TEST_FILES = { tool: 'python', files: ['tests/test_*.py'] } as const

/**
 * The tools by which a project can be checked, the more telling files of each first. A later group adds only the kinds that
 * the earlier ones lack: a Makefile mostly calls the tools above it, and test files alone say little of how they are run.
 */
const TOOLS: readonly (readonly Row[])[] = [
  [
    { tool: 'node', files: ['package.json'], names: 'scripts', run: '{node} run {name}' },
    { tool: 'deno', files: ['deno.json', 'deno.jsonc'], names: 'tasks', run: 'deno task {name}' },
    {
      tool: 'cargo',
      files: ['Cargo.toml'],
      run: { typecheck: 'cargo check{workspace} --all-targets', test: 'cargo test{workspace}' },
    },
    { tool: 'cargo', files: ['Cargo.toml'], says: /^\s*\[(?:workspace\.)?lints\.clippy\]/m, run: CLIPPY },
    { tool: 'cargo', files: ['clippy.toml'], run: CLIPPY },
    { tool: 'go', files: ['.golangci.{yml,yaml,toml,json}'], run: { lint: 'golangci-lint run' } },
    {
      tool: 'go',
      files: ['go.mod'],
      run: { lint: 'go vet ./...', test: 'go test ./...', build: 'go build ./...' },
    },
    {
      ...PYPROJECT,
      says: /^\s*\[tool\.mypy\][^[]*^\s*(?:files|packages|modules)\s*=/m,
      run: { typecheck: '{python}mypy' },
    },
    { ...PYPROJECT, says: mentions('mypy'), run: { typecheck: '{python}mypy .' } },
    { ...PYPROJECT, says: mentions('pyright'), run: { typecheck: '{python}pyright' } },
    { ...PYPROJECT, says: mentions('ruff'), run: { lint: '{python}ruff check' } },
    { tool: 'python', files: ['pytest.ini', '.pytest.ini'], run: PYTEST },
    {
      tool: 'python',
      files: ['pyproject.toml', 'tox.ini', 'setup.cfg', 'requirements*.txt'],
      says: mentions('pytest'),
      run: PYTEST,
    },
    { tool: 'mix', files: ['mix.exs'], says: /\{\s*:credo\b/, run: { lint: 'mix credo' } },
    {
      tool: 'mix',
      files: ['mix.exs'],
      run: { typecheck: 'mix compile --warnings-as-errors', test: 'mix test' },
    },
    { tool: 'composer', files: ['composer.json'], names: 'scripts', run: 'composer run {name}' },
    {
      tool: 'composer',
      files: ['composer.json'],
      says: /"pestphp\/pest"/,
      run: { test: 'vendor/bin/pest' },
    },
    {
      tool: 'composer',
      files: ['composer.json'],
      says: /"phpunit\/phpunit"/,
      run: { test: 'vendor/bin/phpunit' },
    },
    { tool: 'gradle', files: ['gradlew'], run: { test: './gradlew test' } },
    { tool: 'maven', files: ['mvnw'], run: { test: './mvnw --batch-mode test' } },
    { tool: 'dotnet', files: ['*.{sln,slnx}'], run: { test: 'dotnet test' } },
  ],
  [
    {
      tool: 'make',
      files: ['GNUmakefile', 'makefile', 'Makefile'],
      names: /^([^\s#:=][^#:=\n]*)::?(?![:=])/gm,
      run: 'make {name}',
    },
    {
      tool: 'just',
      files: ['{justfile,Justfile,.justfile}'],
      names: /^@?([\w-]+)[^:\n]*:(?!=)/gm,
      run: 'just {name}',
    },
    {
      tool: 'task',
      files: ['{T,t}askfile.{yml,yaml}'],
      names: /^ {2}["']?([\w:-]+)["']?:(?=\s|$)/gm,
      run: 'task {name}',
    },
  ],
  [
    {
      tool: 'deno',
      files: ['deno.json', 'deno.jsonc'],
      run: { test: 'deno test --allow-all --permit-no-files' },
    },
    { ...TEST_FILES, says: /^\s*(?:import|from) pytest\b|^(?:async )?def test/m, run: PYTEST },
    {
      ...TEST_FILES,
      says: /^\s*(?:import|from) unittest\b/m,
      run: { test: '{python}python3 -m unittest discover -s tests{top}' },
    },
  ],
]

/** What stands for a word of a command, where there is such a file. */
const WORDS: Readonly<
  Record<string, readonly (Pick<Row, 'says'> & { readonly file: string; readonly word: string })[]>
> = {
  python: [
    { file: 'uv.lock', word: 'uv run ' },
    { file: 'poetry.lock', word: 'poetry run ' },
    { file: 'pdm.lock', word: 'pdm run ' },
  ],
  workspace: [{ file: 'Cargo.toml', says: /^\s*\[workspace[\].]/m, word: ' --workspace' }],
  top: [{ file: 'tests/__init__.py', word: ' -t .' }],
}

function filledIn(command: string, folder: Folder): string {
  const filled = command.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'node') return packageManager(folder.root, folder.text('package.json'))
    const found = WORDS[name]?.find(
      ({ file, says }) => folder.names.includes(file) && (says?.test(plain(folder.text(file))) ?? true),
    )
    return found?.word ?? ''
  })
  // `bun test` does not run the script of that name, and yarn has commands that hide scripts.
  return filled.replace(/^npm run test$/, 'npm test')
}

const LOCK_FILES = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
] as const

/** The package manager that package.json names, else that of the lock file, which may be in a parent folder in a monorepo. */
function packageManager(root: string, text: string): string {
  const known = /"packageManager"\s*:\s*"(npm|pnpm|yarn|bun)@/.exec(text)?.[1]
  if (known !== undefined) return known
  const names = namesIn(root)
  const lock = LOCK_FILES.find(([file]) => names.includes(file))
  if (lock) return lock[1]
  const parent = dirname(root)
  return names.includes('.git') || parent === root ? 'npm' : packageManager(parent, '')
}

/** The files directly in a project, and in its folder of tests. */
interface Folder {
  readonly root: string
  readonly names: readonly string[]
  /** The text of a file; empty if it does not exist or cannot be read. */
  text(name: string): string
}

function folderOf(root: string, files: ReadonlyMap<string, string>): Folder {
  return { root, names: [...files.keys()], text: (name) => files.get(name) ?? '' }
}

function folderAt(root: string): Folder {
  const tests = namesIn(join(root, 'tests')).map((name) => `tests/${name}`)
  return { root, names: [...namesIn(root), ...tests], text: (name) => textAt(join(root, name)) }
}
