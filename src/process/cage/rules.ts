import { createHash } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtFile } from '../../base/built-file.ts'
import { entriesIn as inFolder } from '../../base/folder.ts'
import { hostsNamedIn, NO_NEEDS, type CageNeeds } from '../../base/cage-needs.ts'
import { readPlainFile } from '../../base/read-file.ts'
import { CONFIG_FILES } from '../../base/names.ts'
import type { Environment } from '../mark.ts'
import { cacheFolder } from '../../base/cache-folder.ts'
import { AGENT_KEYS, AGENT_VARIABLES, homeRules, KEY_VARIABLES, KEYS, SYSTEM_KEYS } from './home.ts'
import { isInside, isLink, isTemporary, outermost, real, type CagePolicy, type MountRule } from './mounts.ts'
import type { CageRequest } from './start.ts'

/** The place that a cage is for. */
export interface CagePlace {
  /** The top of the folder. */
  readonly top: string
  /** The project's root, in it. */
  readonly root: string
  /** The top of the checkout, which cannot be read. */
  readonly checkout: string
  /** Whether its agent only reads, as in planning. */
  readonly isReadOnly?: boolean
  /** Paths outside of the folder that may be read: the checkout's objects, and folders beside it. */
  readonly borrowed: readonly string[]
  /** Files named like `.env` that git tracks: they contain no secrets. */
  readonly tracked: readonly string[]
}

/** The sandbox's part of the configuration. */
export interface CageSettings {
  readonly write: readonly string[]
  readonly read: readonly string[]
  readonly denyRead: readonly string[]
  readonly network: readonly string[]
  readonly gatesNetwork: readonly string[]
  /** Files that are copied into workspaces of ralph's own: they may be read in a checkout, too. */
  readonly copy: readonly string[]
}

interface CageWorld {
  readonly place: CagePlace
  readonly settings: CageSettings
  readonly env: Environment
}

/** Files that agents, editors and git run when they start in a repository: existing ones cannot be written. */
const STARTS_LATER = [
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/hooks',
  '.codex/config.toml',
  '.codex/hooks.json',
  '.gemini/settings.json',
  '.gemini/.env',
  '.qwen/settings.json',
  '.opencode/opencode.json',
  '.opencode/plugin',
  '.opencode/plugins',
  'opencode.json',
  'opencode.jsonc',
  '.cursor/mcp.json',
  '.cursor/hooks.json',
  '.vscode/tasks.json',
  '.vscode/settings.json',
  '.vscode/mcp.json',
  '.mcp.json',
  '.envrc',
  '.githooks',
  '.husky',
]

/** The policy of an agent's cage. */
export function agentPolicy(world: CageWorld, needs: CageNeeds, request: CageRequest): CagePolicy {
  const hosts = [...needs.hosts, ...world.settings.network]
  return policyOf(world, request, { needs, hosts, hostsKey: 'network' })
}

/** The policy of a gate's cage. */
export function gatePolicy(world: CageWorld, request: CageRequest): CagePolicy {
  const hosts = world.settings.gatesNetwork
  return policyOf(world, request, { needs: NO_NEEDS, hosts, hostsKey: 'gatesNetwork' })
}

/** The policy for the preparation of a workspace, which installs what agents and gates need. */
export function preparePolicy(world: CageWorld, request: CageRequest): CagePolicy {
  const hosts = ['registries', ...world.settings.network, ...registriesIn(world.env)]
  return policyOf(world, request, { needs: NO_NEEDS, hosts, hostsKey: 'network' })
}

/** The registry that a person has set for a package manager, as an entry of a list of hosts. */
function registriesIn(env: Environment): readonly string[] {
  const home = env['HOME'] ?? homedir()
  const npmrc = readPlainFile(join(home, '.npmrc'), 1024 * 1024) ?? ''
  const inFile = [...npmrc.matchAll(/^(?:@[^:\s]+:)?registry\s*=\s*(\S+)/gm)].map(([, url]) => url)
  const inEnvironment = [
    'npm_config_registry',
    'NPM_CONFIG_REGISTRY',
    'PIP_INDEX_URL',
    'UV_INDEX_URL',
    'UV_DEFAULT_INDEX',
    'GOPROXY',
  ]
  return hostsNamedIn(...inFile, ...inEnvironment.map((name) => env[name]))
}

function policyOf(
  world: CageWorld,
  request: CageRequest,
  { needs, ...network }: Pick<CagePolicy, 'hosts' | 'hostsKey'> & { readonly needs: CageNeeds },
): CagePolicy {
  const { place, settings, env } = world
  const home = env['HOME'] ?? homedir()
  const paths = (entries: readonly string[]): readonly string[] =>
    entriesIn(entries, { home, root: place.root })
  const read = paths(settings.read)
  const write = paths(settings.write).filter((path) => !place.isReadOnly || !isInside(path, place.top))
  const caches = cachesFor(place, env)
  const never = [...neverWritten(place), ...laterIn(place).filter((path) => !write.includes(path))]
  const programs = [
    request.program,
    dirname(request.program),
    dirname(process.execPath),
    fileURLToPath(builtFile('cage-inside.cjs')),
  ]
  const own = new Set(needs.keys)
  const opened = [...write, ...read, ...paths(settings.copy)]
  const isOpened = (path: string): boolean =>
    opened.some(
      (entry) => path === entry || (isInside(path, entry) && !isInside(home, entry) && entry !== place.top),
    )
  const closed = [
    ...keysIn(home),
    ...SYSTEM_KEYS.map(closedRule),
    ...secretsIn(place),
    ...paths(settings.denyRead).map(closedRule),
  ]
  return {
    rules: [
      ...shown([...programs, ...read]),
      ...homeRules(home, env, {
        paths: [...programs, ...read, ...needs.homes.map(({ folder }) => folder), ...needs.files],
        folders: [request.program, real(request.program) ?? request.program, process.execPath].map(dirname),
      }),
      ...outermost(write).map(writeRule),
      ...hiddenOwn(env),
      closedRule(place.checkout),
      // They may be in a folder that was just hidden.
      ...[...programs, ...place.borrowed].filter((path) => isInside(path, place.checkout)).map(readRule),
      ...place.borrowed.map(readRule),
      ...(place.isReadOnly ? [readRule(place.top)] : parentsOf(place, never).map(writeRule)),
      ...never.map(readRule),
      ...request.writable.map(writeRule),
      ...closed.filter(({ path }) => !own.has(relative(home, path)) && !isOpened(path)),
      ...[...caches.folders, ...write.filter((path) => path !== place.top && isHiddenBy(path, closed))].map(
        writeRule,
      ),
      ...read.filter((path) => isHiddenBy(path, closed)).map(readRule),
      ...(request.readable === undefined ? [] : [readRule(request.readable)]),
    ],
    never: place.isReadOnly ? [place.top, ...never] : never,
    isHidden: (name) => isKey(name, needs) && !settings.read.includes(`env:${name}`),
    env: caches.env,
    homes: needs.homes,
    files: needs.files,
    ...network,
  }
}

/** The files with keys, by path, without names of variables. */
function entriesIn(
  entries: readonly string[],
  { home, root }: { home: string; root: string },
): readonly string[] {
  return entries
    .filter((entry) => !entry.startsWith('env:'))
    .map((entry) =>
      entry === '~' || entry.startsWith('~/') ? join(home, entry.slice(1)) : resolve(root, entry),
    )
    .map((path) => real(path) ?? path)
}

/** Allows paths that the cage's own temporary folder would hide. */
function shown(paths: readonly string[]): readonly MountRule[] {
  return paths.filter(isTemporary).map(readRule)
}

/** The paths of ralph and its configuration: no entry may make them writable. */
function neverWritten({ top, root }: CagePlace): readonly string[] {
  const ralph = [...new Set([top, root])].map((folder) => join(folder, '.ralph'))
  const config = CONFIG_FILES.map((name) => join(root, name))
  return [...ralph, ...config].filter((path) => !isLink(path))
}

/** The top, and the folders above what may not be written: a folder that is a mount of its own cannot be renamed. */
function parentsOf({ top }: CagePlace, paths: readonly string[]): readonly string[] {
  const found = new Set([top])
  for (const path of paths) {
    if (!existsSync(path)) continue
    for (let folder = dirname(path); folder !== top && isInside(folder, top); folder = dirname(folder))
      found.add(folder)
  }
  return [...found].toSorted((a, b) => a.length - b.length)
}

function laterIn({ top, root }: CagePlace): readonly string[] {
  const folders = [...new Set([top, root])]
  return folders
    .flatMap((folder) => STARTS_LATER.map((name) => join(folder, name)))
    .filter((path) => !isLink(path))
}

function keysIn(home: string): readonly MountRule[] {
  const ofAgents = Object.values(AGENT_KEYS).flat()
  return [
    ...[...KEYS.closed, ...ofAgents].map((name) => closedRule(join(home, name))),
    ...KEYS.empty.map((name): MountRule => ({ kind: 'empty', path: join(home, name) })),
  ]
}

const ENV_FILE = /^\.env(?:\..+|rc)?$/
const NO_SECRET = /\.(?:example|sample|template|dist|defaults|schema)$/
const DEEPEST = 3
const NOT_ENTERED = new Set(['node_modules', 'vendor', 'target', 'dist', 'build', 'venv'])

/** Untracked files named like `.env`, as deep as people usually have them. */
function secretsIn({ top, tracked }: CagePlace): readonly MountRule[] {
  const known = new Set(tracked)
  const found: string[] = []
  const visit = (folder: string, depth: number): void => {
    for (const entry of inFolder(folder)) {
      const path = join(folder, entry.name)
      if (ENV_FILE.test(entry.name) && entry.name !== '.envrc' && !NO_SECRET.test(entry.name))
        found.push(path)
      else if (
        entry.isDirectory() &&
        depth < DEEPEST &&
        !entry.name.startsWith('.') &&
        !NOT_ENTERED.has(entry.name)
      )
        visit(path, depth + 1)
    }
  }
  visit(top, 0)
  return found.filter((path) => !known.has(relative(top, path))).map(closedRule)
}

/** Prompts, and other files that ralph keeps for other attempts. */
function hiddenOwn(env: Environment): readonly MountRule[] {
  const folder = cacheFolder(env)
  return folder === null ? [] : [closedRule(folder)]
}

/** The caches of package managers: a folder for this repository's cages alone. */
function cachesFor(
  { checkout }: CagePlace,
  env: Environment,
): { folders: readonly string[]; env: Record<string, string> } {
  const parent = cacheFolder(env)
  const name = createHash('sha256').update(checkout).digest('hex').slice(0, 16)
  const folder = parent === null ? '/tmp/caches' : join(parent, 'caches', name)
  if (parent !== null && !made(folder)) return { folders: [], env: {} }
  const variables = {
    npm_config_cache: 'npm',
    npm_config_store_dir: 'pnpm',
    YARN_CACHE_FOLDER: 'yarn',
    YARN_GLOBAL_FOLDER: 'yarn-global',
    BUN_INSTALL_CACHE_DIR: 'bun',
    DENO_DIR: 'deno',
    PIP_CACHE_DIR: 'pip',
    UV_CACHE_DIR: 'uv',
    GOCACHE: 'go-build',
  }
  const places = Object.entries(variables).map(([variable, below]) => [variable, join(folder, below)])
  return {
    folders: parent === null ? [] : [folder],
    env: Object.fromEntries(places) as Record<string, string>,
  }
}

function made(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return true
  } catch {
    return false
  }
}

function isHiddenBy(path: string, closed: readonly MountRule[]): boolean {
  return closed.some((rule) => isInside(path, rule.path))
}

function isKey(name: string, { variables }: CageNeeds): boolean {
  if (variables !== 'all' && variables.includes(name)) return false
  if (AGENT_VARIABLES.test(name)) return variables !== 'all'
  return KEY_VARIABLES.some((pattern) => pattern.test(name))
}

const writeRule = (path: string): MountRule => ({ kind: 'write', path })
const readRule = (path: string): MountRule => ({ kind: 'read', path })
const closedRule = (path: string): MountRule => ({ kind: 'closed', path })
