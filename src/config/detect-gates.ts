import { dirname, join } from 'node:path'
import { namesIn } from '../base/folder.ts'
import type { Gate } from '../base/nouns.ts'
import { textAt } from '../base/read-file.ts'
import { isObject, parsedJson } from '../base/text.ts'
import { GATE_TIMEOUT_SECONDS } from './defaults.ts'

/** Quick checks first: they find errors sooner than a whole test run. */
const KINDS = ['typecheck', 'lint', 'test', 'build'] as const
type Kind = (typeof KINDS)[number]
type Commands = { readonly [kind in Kind]?: string | false | undefined }

/**
 * The checks that a project's own files name; may be empty. A linter is required if it
 * passes before the first task. The files may be those of a commit, by name.
 */
export function detectGates(root: string, files?: ReadonlyMap<string, string>): Gate[] {
  const folder = files ? folderOf(root, files) : folderAt(root)
  const found = Object.entries(ECOSYSTEMS).map(([name, detect]) => [name, detect(folder)] as const)
  const make = makeTargets(folder)
  return KINDS.flatMap((kind) => {
    const named = found.filter(([, commands]) => commands[kind])
    // A Makefile mostly calls the tools that were just found: it adds only the kinds that they lack.
    const all = named.length === 0 && make[kind] ? [['make', make] as const] : named
    return all.map(([name, commands], index) => ({
      name: index === 0 ? kind : `${kind} (${name})`,
      command: commands[kind] || '',
      // Nothing says that the linter must pass, and many projects have open findings: what is green stays green.
      ...(kind === 'lint' ? ({ required: false, ifGreen: true } as const) : { required: true }),
      timeoutSeconds: GATE_TIMEOUT_SECONDS,
    }))
  })
}

/** The files whose texts are read; of all others only their names count. */
export const MANIFESTS = [
  'package.json',
  'Cargo.toml',
  'pyproject.toml',
  'mix.exs',
  'GNUmakefile',
  'makefile',
  'Makefile',
] as const
type Manifest = (typeof MANIFESTS)[number]

const ECOSYSTEMS: Readonly<Record<string, (folder: Folder) => Commands>> = {
  node: packageScripts,
  cargo,
  go,
  python,
  mix,
}

const SCRIPT_NAMES: Readonly<Record<Kind, readonly string[]>> = {
  typecheck: ['typecheck', 'type-check', 'check-types', 'types', 'tsc'],
  lint: ['lint'],
  test: ['test', 'test:ci', 'test:run'],
  build: ['build'],
}
const NPM_PLACEHOLDER = 'no test specified'
const WATCHES = /(^|\s)--?watch(?!=false)/

function packageScripts(folder: Folder): Commands {
  const manifest = parsedJson(folder.text('package.json').replace(/^\uFEFF/, ''))
  if (!isObject(manifest) || !isObject(manifest['scripts'])) return {}
  const { scripts } = manifest
  const manager = packageManager(folder.root, manifest['packageManager'])
  return commandsFor((kind) => {
    const script = SCRIPT_NAMES[kind].find((name) => isCheck(scripts[name]))
    // `bun test` does not run the script of that name, and yarn has commands that hide scripts.
    return script && (manager === 'npm' && script === 'test' ? 'npm test' : `${manager} run ${script}`)
  })
}

/** Whether a script ends by itself, and does something. */
function isCheck(script: unknown): boolean {
  return (
    typeof script === 'string' &&
    script.trim() !== '' &&
    !script.includes(NPM_PLACEHOLDER) &&
    !WATCHES.test(script)
  )
}

const LOCK_FILES = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
] as const

/** The package manager that package.json names, else that of the lock file, which may be in a parent folder in a monorepo. */
function packageManager(root: string, named: unknown): string {
  const known = typeof named === 'string' ? /^(npm|pnpm|yarn|bun)@/.exec(named)?.[1] : undefined
  if (known !== undefined) return known
  const folder = folderAt(root)
  const lock = LOCK_FILES.find(([file]) => folder.has(file))
  if (lock) return lock[1]
  const parent = dirname(root)
  return folder.has('.git') || parent === root ? 'npm' : packageManager(parent, undefined)
}

function cargo(folder: Folder): Commands {
  if (!folder.has('Cargo.toml')) return {}
  const manifest = folder.text('Cargo.toml')
  const all = /^\s*\[workspace[\].]/m.test(manifest) ? ' --workspace' : ''
  const clippy = /^\s*\[(workspace\.)?lints\.clippy\]/m.test(manifest) || folder.has('clippy.toml')
  return {
    typecheck: `cargo check${all} --all-targets`,
    lint: clippy && `cargo clippy${all} --all-targets -- -D warnings`,
    test: `cargo test${all}`,
  }
}

function go(folder: Folder): Commands {
  if (!folder.has('go.mod')) return {}
  const golangci = ['yml', 'yaml', 'toml', 'json'].some((ending) => folder.has(`.golangci.${ending}`))
  return {
    lint: golangci ? 'golangci-lint run' : 'go vet ./...',
    test: 'go test ./...',
    build: 'go build ./...',
  }
}

const PYTHON_RUNNERS = [
  ['uv.lock', 'uv run '],
  ['poetry.lock', 'poetry run '],
  ['pdm.lock', 'pdm run '],
] as const

function python(folder: Folder): Commands {
  const project = folder.text('pyproject.toml')
  const run = PYTHON_RUNNERS.find(([lock]) => folder.has(lock))?.[1] ?? ''
  const names = (tool: string): boolean => namesTool(project, tool)
  const mypy = /^\s*\[tool\.mypy\][^[]*^\s*(files|packages|modules)\s*=/m.test(project) ? 'mypy' : 'mypy .'
  return {
    typecheck: names('mypy') ? run + mypy : names('pyright') && `${run}pyright`,
    lint: names('ruff') && `${run}ruff check`,
    test: names('pytest') && `${run}pytest`,
  }
}

/** Whether a tool is configured, or among the dependencies: `[tool.ruff]`, `"ruff>=0.6"`, `ruff = "^0.6"`. */
function namesTool(project: string, tool: string): boolean {
  const lines = project.split(/\r?\n/).map((line) => line.replace(/^\s*#.*|\s#.*$/, ''))
  const mention = new RegExp(String.raw`^\s*\[tool\.${tool}[\].]|["']${tool}["'\s<>=~!\[;]|^\s*${tool}\s*=`)
  return lines.some((line) => mention.test(line))
}

function mix(folder: Folder): Commands {
  if (!folder.has('mix.exs')) return {}
  return {
    typecheck: 'mix compile --warnings-as-errors',
    lint: /\{\s*:credo\b/.test(folder.text('mix.exs')) && 'mix credo',
    test: 'mix test',
  }
}

function makeTargets(folder: Folder): Commands {
  const file = (['GNUmakefile', 'makefile', 'Makefile'] as const).find((name) => folder.has(name))
  const rules = file ? folder.text(file).matchAll(/^([^\s#:=][^#:=\n]*)::?(?![:=])/gm) : []
  const targets = new Set([...rules].flatMap(([, names]) => names!.trim().split(/\s+/)))
  return commandsFor((kind) => {
    const target = [kind, ...(kind === 'test' ? ['check'] : [])].find((name) => targets.has(name))
    return target && `make ${target}`
  })
}

function commandsFor(find: (kind: Kind) => string | undefined): Commands {
  return Object.fromEntries(KINDS.map((kind) => [kind, find(kind)]))
}

interface Folder {
  readonly root: string
  has(name: string): boolean
  /** The text of a file; empty if it does not exist or cannot be read. */
  text(name: Manifest): string
}

function folderOf(root: string, files: ReadonlyMap<string, string>): Folder {
  return { root, has: (name) => files.has(name), text: (name) => files.get(name) ?? '' }
}

function folderAt(root: string): Folder {
  const names = new Set(namesIn(root))
  return { root, has: (name) => names.has(name), text: (name) => textAt(join(root, name)) }
}
