import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { textAt } from '../../base/read-file.ts'
import { parsedJson } from '../../base/text.ts'

/** How a project's packages are installed, and where. */
export interface Installer {
  /** The file that says which packages it needs. */
  readonly lock: string
  readonly command: string
  /** The folder that they are in. */
  readonly folder: string
  /** What else it writes, which git ignores. */
  readonly beside?: readonly string[]
  /** Whether the folder names its own path in its files, as a Python environment does. */
  readonly namesItself?: boolean
  /** Whether every package of the project has such a folder, too. */
  readonly isNested?: boolean
  /** Whether that folder holds what the lock file asks for; by default it must be newer than the same lock file. */
  readonly fits?: (project: string, lock: string) => boolean
  /** Whether the project may work without it: then a failure to install is only a warning. */
  readonly isOptional?: boolean
}

/** What yarn 2 and later installs where it makes no node_modules. */
const PLUG_AND_PLAY = [
  '.pnp.cjs',
  '.pnp.loader.mjs',
  '.yarn/cache',
  '.yarn/unplugged',
  '.yarn/install-state.gz',
]

const NODE: readonly Installer[] = [
  node('pnpm-lock.yaml', 'pnpm install --frozen-lockfile --package-import-method=copy', pnpmFits),
  node('bun.lock', 'bun install --frozen-lockfile --backend=copyfile'),
  node('bun.lockb', 'bun install --frozen-lockfile --backend=copyfile'),
  { ...node('yarn.lock', 'yarn install --frozen-lockfile'), beside: PLUG_AND_PLAY },
  node('package-lock.json', 'npm ci', npmFits),
  node('npm-shrinkwrap.json', 'npm ci', npmFits),
]

const PYTHON: readonly Installer[] = [
  python('uv.lock', 'uv sync --link-mode=copy'),
  python('poetry.lock', 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install'),
  python('Pipfile.lock', 'PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev'),
]

const OTHERS: readonly Installer[] = [
  { lock: 'Gemfile.lock', command: 'bundle check || bundle install', folder: 'vendor/bundle' },
  { lock: 'composer.lock', command: 'composer install', folder: 'vendor' },
  { lock: 'mix.lock', command: 'mix deps.get', folder: 'deps' },
]

/** The commands that install what a project needs: the one that is configured, or those of its lock files. */
export function installCommands(root: string, prepare: string | null): readonly string[] {
  if (prepare !== null) return prepare.trim() === '' ? [] : [prepare]
  return installersIn(root).map(({ command }) => command)
}

/** What fetches packages into a store of the person's, which no sandbox may write. */
const FETCHED: readonly Pick<Installer, 'lock' | 'command'>[] = [
  { lock: 'go.sum', command: 'go mod download' },
  { lock: 'Cargo.lock', command: 'cargo fetch' },
]

/** The commands that a person runs once in a project, if its packages were never fetched. */
export function fetchesIn(project: string): readonly string[] {
  return FETCHED.flatMap(({ lock, command }) => (existsSync(join(project, lock)) ? [command] : []))
}

function node(lock: string, command: string, fits?: Installer['fits']): Installer {
  return { lock, command, folder: 'node_modules', isNested: true, ...(fits ? { fits } : {}) }
}

function python(lock: string, command: string): Installer {
  return { lock, command, folder: '.venv', namesItself: true }
}

/** The installers of a project, according to the files in a folder: one for each language. */
export function installersIn(project: string): readonly Installer[] {
  const isThere = ({ lock }: Installer): boolean => existsSync(join(project, lock))
  const [npm, pip] = [npmInstaller(project), pipInstaller(project)]
  return [
    ...[...NODE.filter(isThere), ...(npm ? [npm] : [])].slice(0, 1),
    ...[...PYTHON.filter(isThere), ...(pip ? [pip] : [])].slice(0, 1),
    ...OTHERS.filter(isThere),
  ]
}

/** A library often has no lock file: what npm installs stands in package.json. */
function npmInstaller(project: string): Installer | null {
  const manifest = manifestOf(project)
  const isNeeded = ['dependencies', 'devDependencies', 'workspaces'].some((key) => key in manifest)
  return isNeeded ? { ...node('package.json', 'npm install --no-package-lock'), isOptional: true } : null
}

/** Runs what a Node project itself does after an installation, such as a build, which copied packages lack; null if nothing. */
export function ownScripts(project: string): string | null {
  const { scripts } = manifestOf(project)
  if (typeof scripts !== 'object' || scripts === null) return null
  const named = ['postinstall', 'prepare'].filter((name) => name in scripts)
  return named.length === 0 ? null : named.map((name) => `npm run ${name}`).join(' && ')
}

function manifestOf(project: string): Readonly<Record<string, unknown>> {
  const read = parsedJson(textAt(join(project, 'package.json')))
  return typeof read === 'object' && read !== null ? { ...read } : {}
}

/** pip has no lock file: what it installs stands in `requirements*.txt`, or in pyproject.toml. */
function pipInstaller(project: string): Installer | null {
  const files = ['requirements.txt', 'requirements-dev.txt', 'requirements-test.txt', 'dev-requirements.txt']
  const found = files.filter((file) => existsSync(join(project, file)))
  const manifest = textAt(join(project, 'pyproject.toml'))
  const isPackage = /^\s*\[build-system\]/m.test(manifest)
  if (found.length === 0 && !isPackage && !/^\s*\[project\]/m.test(manifest)) return null
  const required = found.map((file) => `-r ${file}`).join(' ')
  const itself = `-e ${withExtras(manifest)}`
  const steps = [
    'python3 -m venv --system-site-packages .venv',
    // A program that the machine has too must be in the environment: otherwise it runs without the other packages.
    `.venv/bin/pip install --quiet --ignore-installed ${required === '' ? itself : required}`,
    ...(required !== '' && isPackage ? [`.venv/bin/pip install --quiet ${itself}`] : []),
  ]
  return {
    lock: found[0] ?? 'pyproject.toml',
    command: steps.join(' && '),
    folder: '.venv',
    namesItself: true,
    isOptional: true,
  }
}

/** The project itself, with the extras that its tests usually need. */
function withExtras(manifest: string): string {
  const [, section = ''] =
    /^\s*\[project\.optional-dependencies\]([^]*?)(?:^\s*\[[a-z]|$(?![^]))/m.exec(manifest) ?? []
  const extras = [...section.matchAll(/^\s*(dev|tests?|testing)\s*=/gm)].map(([, name]) => name)
  return extras.length > 0 ? `'.[${extras.join(',')}]'` : '.'
}

/** Whether a project's installed packages are those that this lock file asks for. */
export function isInstalled(project: string, { lock, folder, fits }: Installer, wanted: string): boolean {
  const installed = statSync(join(project, folder), { throwIfNoEntry: false })
  if (!installed?.isDirectory()) return false
  if (fits) return fits(project, wanted)
  const own = join(project, lock)
  return textAt(own) === wanted && statSync(own).mtimeMs <= installed.mtimeMs
}

/** pnpm keeps the lock file of what it has installed. */
function pnpmFits(project: string, wanted: string): boolean {
  return textAt(join(project, 'node_modules/.pnpm/lock.yaml')) === wanted
}

/** npm keeps a list of what it has installed, without packages for other systems. */
function npmFits(project: string, wanted: string): boolean {
  const installed = packagesOf(textAt(join(project, 'node_modules/.package-lock.json')))
  const locked = packagesOf(wanted)
  if (!installed || !locked) return false
  const isSame = ([path, { version, integrity }]: [string, LockedPackage]): boolean =>
    locked[path]?.version === version && locked[path]?.integrity === integrity
  const isNeeded = ([path, one]: [string, LockedPackage]): boolean =>
    path !== '' && one.optional !== true && one.peer !== true && one.devOptional !== true
  return (
    Object.entries(installed).every(isSame) &&
    Object.entries(locked).every((entry) => !isNeeded(entry) || entry[0] in installed)
  )
}

interface LockedPackage {
  readonly version?: unknown
  readonly integrity?: unknown
  readonly optional?: unknown
  readonly peer?: unknown
  readonly devOptional?: unknown
}

function packagesOf(text: string): Readonly<Record<string, LockedPackage>> | null {
  const read = parsedJson(text)
  if (typeof read !== 'object' || read === null || !('packages' in read)) return null
  return typeof read.packages === 'object' ? (read.packages as Record<string, LockedPackage>) : null
}
