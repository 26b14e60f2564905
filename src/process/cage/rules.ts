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
  return { ...policyOf(world, request, needs), hosts, hostsKey: 'network' }
}

/** The policy of a gate's cage. */
export function gatePolicy(world: CageWorld, request: CageRequest): CagePolicy {
  return { ...policyOf(world, request), hosts: world.settings.gatesNetwork, hostsKey: 'gatesNetwork' }
}

/** The policy for the preparation of a workspace, which installs what agents and gates need. */
export function preparePolicy(world: CageWorld, request: CageRequest): CagePolicy {
  const hosts = ['registries', ...world.settings.network, ...registriesIn(world.env)]
  return { ...policyOf(world, request), hosts, hostsKey: 'network' }
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
  { place, settings, env }: CageWorld,
  request: CageRequest,
  needs = NO_NEEDS,
): Omit<CagePolicy, 'hosts' | 'hostsKey'> {
  const home = env['HOME'] ?? homedir()
  const paths = (entries: readonly string[]): readonly string[] => entriesIn(entries, home, place.root)
  const read = paths(settings.read)
  const write = paths(settings.write).filter((path) => !place.isReadOnly || !isInside(path, place.top))
  const caches = cachesFor(place, env)
  const never = neverWritten(place, write)
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
  const isClosed = (path: string): boolean => closed.some((rule) => isInside(path, rule.path))
  return {
    rules: [
      // The cage's own temporary folder would hide them.
      ...[...programs, ...read].filter(isTemporary).map(readRule),
      ...homeRules(home, env, {
        paths: [...programs, ...read, ...needs.homes.map(({ folder }) => folder), ...needs.files],
        folders: [request.program, real(request.program) ?? request.program, process.execPath].map(dirname),
      }),
      ...outermost(write).map(writeRule),
      // Prompts, and other files that ralph keeps for other attempts.
      ...[cacheFolder(env)].flatMap((folder) => (folder === null ? [] : [closedRule(folder)])),
      closedRule(place.checkout),
      // They may be in a folder that was just hidden.
      ...[...programs, ...place.borrowed].filter((path) => isInside(path, place.checkout)).map(readRule),
      ...place.borrowed.map(readRule),
      ...(place.isReadOnly ? [readRule(place.top)] : parentsOf(place, never).map(writeRule)),
      ...never.map(readRule),
      ...request.writable.map(writeRule),
      ...closed.filter(({ path }) => !own.has(relative(home, path)) && !isOpened(path)),
      ...caches.folders.map(writeRule),
      ...write.filter((path) => path !== place.top && isClosed(path)).map(writeRule),
      ...read.filter(isClosed).map(readRule),
      ...(request.readable === undefined ? [] : [readRule(request.readable)]),
    ],
    never: place.isReadOnly ? [place.top, ...never] : never,
    checkout: place.checkout,
    isHidden: (name) => isKey(name, needs) && !settings.read.includes(`env:${name}`),
    env: caches.env,
    homes: needs.homes,
    files: needs.files,
  }
}

/** The files with keys, by path, without names of variables. */
function entriesIn(entries: readonly string[], home: string, root: string): readonly string[] {
  return entries
    .filter((entry) => !entry.startsWith('env:'))
    .map((entry) =>
      entry === '~' || entry.startsWith('~/') ? join(home, entry.slice(1)) : resolve(root, entry),
    )
    .map((path) => real(path) ?? path)
}

/**
 * The paths that the place may not write: those of ralph and its configuration, which no entry opens, and those that are
 * run later, unless they are among the opened ones.
 */
function neverWritten({ top, root }: CagePlace, opened: readonly string[]): readonly string[] {
  const inFolders = (names: readonly string[]): readonly string[] =>
    [...new Set([top, root])].flatMap((folder) => names.map((name) => join(folder, name)))
  const config = CONFIG_FILES.map((name) => join(root, name))
  const later = inFolders(STARTS_LATER).filter((path) => !opened.includes(path))
  return [...inFolders(['.ralph']), ...config, ...later].filter((path) => !isLink(path))
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

function keysIn(home: string): readonly MountRule[] {
  const ofAgents = Object.values(AGENT_KEYS).flat()
  return [
    ...[...KEYS.closed, ...ofAgents].map((name) => closedRule(join(home, name))),
    ...KEYS.empty.map((name): MountRule => ({ kind: 'empty', path: join(home, name) })),
  ]
}

/** The values of the person's secrets: of variables that a cage hides, and of files named like `.env` that git does not track. */
export function secretValues(place: Pick<CagePlace, 'top' | 'tracked'>, env: Environment): readonly string[] {
  const hidden = Object.entries(env).filter(([name]) => isKey(name, NO_NEEDS))
  const inFiles = secretsIn(place).flatMap(({ path }) => valuesIn(path))
  const values = [...hidden.map(([, value]) => value ?? ''), ...inFiles]
  return [...new Set(values)].filter((value) => value.length >= SHORTEST_SECRET && !PLACE.test(value))
}

/** An address without a password, or a path: in `.env` files there are many. */
const PLACE = /^(?:[a-z+]+:\/\/[^@\s]*|[.~]?\.?\/\S*)$/i

/** Shorter values may stand anywhere. */
const SHORTEST_SECRET = 16

function valuesIn(file: string): readonly string[] {
  const text = readPlainFile(file, LONGEST_ENV_FILE) ?? ''
  return [...text.matchAll(/^[ \t]*(?:export[ \t]+)?\w+[ \t]*=[ \t]*(["']?)(.*?)\1[ \t]*$/gm)].map(
    ([, , value]) => value!,
  )
}

const LONGEST_ENV_FILE = 1_000_000

const ENV_FILE = /^\.env(?:\..+|rc)?$/
const NO_SECRET = /\.(?:example|sample|template|dist|defaults|schema)$/
const DEEPEST = 3
const NOT_ENTERED = new Set(['node_modules', 'vendor', 'target', 'dist', 'build', 'venv'])

/** Untracked files named like `.env`, as deep as people usually have them. */
function secretsIn({ top, tracked }: Pick<CagePlace, 'top' | 'tracked'>): readonly MountRule[] {
  const known = new Set(tracked)
  const visit = (folder: string, depth: number): readonly string[] =>
    inFolder(folder).flatMap((entry) => {
      const { name } = entry
      const path = join(folder, name)
      if (ENV_FILE.test(name) && name !== '.envrc' && !NO_SECRET.test(name)) return [path]
      const isEntered = entry.isDirectory() && !name.startsWith('.') && !NOT_ENTERED.has(name)
      return isEntered && depth < DEEPEST ? visit(path, depth + 1) : []
    })
  return visit(top, 0)
    .filter((path) => !known.has(relative(top, path)))
    .map(closedRule)
}

/** The caches of package managers: a folder for this repository's cages alone. */
function cachesFor({ checkout }: CagePlace, env: Environment) {
  const parent = cacheFolder(env)
  const name = createHash('sha256').update(checkout).digest('hex').slice(0, 16)
  const folder = parent === null ? '/tmp/caches' : join(parent, 'caches', name)
  try {
    if (parent !== null) mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch {
    return { folders: [], env: {} }
  }
  const places = Object.entries(CACHES).map(([variable, below]) => [variable, join(folder, below)] as const)
  return { folders: parent === null ? [] : [folder], env: Object.fromEntries(places) }
}

/** Variables with the caches of package managers, and where those are. */
const CACHES = {
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

function isKey(name: string, { variables }: CageNeeds): boolean {
  if (variables !== 'all' && variables.includes(name)) return false
  if (AGENT_VARIABLES.test(name)) return variables !== 'all'
  return KEY_VARIABLES.some((pattern) => pattern.test(name))
}

const writeRule = (path: string): MountRule => ({ kind: 'write', path })
const readRule = (path: string): MountRule => ({ kind: 'read', path })
const closedRule = (path: string): MountRule => ({ kind: 'closed', path })
