import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { namesIn } from '../base/folder.ts'
import { nativePath, pathWithin } from '../base/paths.ts'
import type { Git } from '../git/git.ts'
import type { Repository } from '../git/repository.ts'

/** The files that decide what git does in a repository, and that no tree holds. */
export interface SettingsPlaces {
  readonly files: readonly string[]
  /** Folders that an agent could replace by a link, with that of the hooks. */
  readonly folders: readonly string[]
  /** The folder of the hooks, wherever it is. */
  readonly hooks: string
  /** The hooks of submodules, in which git runs too. */
  readonly moreHooks: readonly string[]
  /**
   * Whether the content of the hooks' folder stays: a workspace of ralph's own uses the checkout's hooks, where a
   * person may edit them.
   */
  readonly keepsHooks: boolean
  /** The hooks' folder inside the repository's tree, with a slash; null if it is elsewhere. */
  readonly hooksInTree: string | null
  /** Hooks in the tree, and files of the tree that hook links lead to: changes to them are work. */
  readonly trackedHooks: ReadonlySet<string>
}

/** Reads the places from git, before any agent could have moved them. */
export async function settingsPlaces(
  git: Git,
  repository: Repository,
  isOwn = false,
): Promise<SettingsPlaces> {
  const { gitDir, commonDir, root } = repository
  const result = await git.run(['rev-parse', '--git-path', 'hooks'])
  const hooks = resolve(git.cwd, result.stdout.toString().trim())
  const inTree = pathWithin(root, hooks)
  const hooksInTree = inTree === null || pathWithin(commonDir, hooks) !== null ? null : `${inTree}/`
  const files = [
    ...(await configFiles(git)).filter((path) => pathWithin(root, path) ?? pathWithin(commonDir, path)),
    join(commonDir, 'config'),
    join(gitDir, 'config.worktree'),
    join(gitDir, 'info/sparse-checkout'),
    ...OF_ALL.map((name) => join(commonDir, name)),
  ]
  const modules = modulesBelow(join(commonDir, 'modules'))
  const moreHooks = modules.map((folder) => join(folder, 'hooks'))
  for (const folder of modules) files.push(...OF_MODULE.map((name) => join(folder, name)), ...linkTo(folder))
  const keepsHooks = !isOwn || pathWithin(commonDir, hooks) !== null
  return {
    files: [...new Set(files)],
    folders: [join(commonDir, 'info'), ...(keepsHooks ? [hooks] : []), ...moreHooks],
    hooks,
    moreHooks,
    keepsHooks,
    hooksInTree,
    trackedHooks: await trackedAmong(git, hooksInTree, linkedFrom(root, hooks)),
  }
}

/** The git folders of submodules, with those of nested ones. */
function modulesBelow(folder: string): readonly string[] {
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name)
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return []
    const isModule = statSync(join(path, 'HEAD'), { throwIfNoEntry: false })?.isFile() === true
    return isModule ? [path, ...modulesBelow(join(path, 'modules'))] : modulesBelow(path)
  })
}

/** The file in a submodule's work tree that names its git folder. */
function linkTo(folder: string): readonly string[] {
  const config = readSetting(join(folder, 'config'), new Set())?.bytes.toString() ?? ''
  const tree = /^\s*worktree = (.+)$/m.exec(config)?.[1]
  return tree === undefined ? [] : [join(resolve(folder, tree), '.git')]
}

const OF_MODULE = ['config', 'config.worktree', 'info/exclude', 'info/attributes']
const OF_ALL = ['info/exclude', 'info/attributes', 'info/grafts', 'shallow', 'objects/info/alternates']

/** The files that git reads its configuration from, with those that they include. */
async function configFiles(git: Git): Promise<readonly string[]> {
  const { stdout } = await git.run(['config', '--list', '--show-origin', '--name-only', '-z'], {
    okCodes: [0, 1],
  })
  const origins = stdout.toString().split('\0')
  return origins.flatMap((origin) => (origin.startsWith('file:') ? [resolve(git.cwd, origin.slice(5))] : []))
}

/** The files of the tree that links in a folder lead to, as with husky. */
function linkedFrom(root: string, folder: string): readonly string[] {
  const targets = namesIn(folder).flatMap((name) => {
    const path = join(folder, name)
    const inTree = linkAt(path) === null ? null : pathWithin(root, nativePath(path))
    return inTree === null ? [] : [inTree]
  })
  return [...new Set(targets)]
}

async function trackedAmong(
  git: Git,
  folder: string | null,
  files: readonly string[],
): Promise<ReadonlySet<string>> {
  const paths = folder === null ? files : [folder, ...files]
  if (paths.length === 0) return new Set()
  const { stdout } = await git.run(['ls-files', '-z', '--', ...paths.map((path) => `:(literal)${path}`)])
  const tracked = stdout.toString().split('\0').filter(Boolean)
  return new Set(tracked.map((path) => resolve(git.cwd, path)))
}

/** The bytes of a settings file. */
interface Setting {
  /** Empty if the link leads to work, or nowhere: then only the link itself counts. */
  readonly bytes: Buffer
  readonly mode: number
  /** The target, if it is a link. */
  readonly link: string | null
}

/** All settings, by absolute path. */
export interface Settings {
  readonly files: ReadonlyMap<string, Setting>
  /** The target of each folder; null if it is no link. */
  readonly folders: ReadonlyMap<string, string | null>
  /** The resolved path of the folder that the hooks' folder is in. */
  readonly besideHooks: string
}

export function readSettings(places: SettingsPlaces): Settings {
  const { files, folders, hooks, moreHooks, keepsHooks, trackedHooks } = places
  const own = [...(keepsHooks ? [hooks] : []), ...moreHooks]
    .flatMap((folder) => namesIn(folder).map((name) => join(folder, name)))
    .filter((path) => !path.endsWith('.sample') && !trackedHooks.has(path))
  const settings = new Map<string, Setting>()
  for (const path of [...files, ...own]) {
    const file = readSetting(path, trackedHooks)
    if (file) settings.set(path, file)
  }
  return {
    files: settings,
    folders: new Map(folders.map((path) => [path, linkAt(path)])),
    besideHooks: nativePath(dirname(hooks)),
  }
}

/**
 * Restores settings, after copying their present state into a folder; returns the paths that had changed. What
 * somebody else has changed stays.
 */
export function restoreSettings(
  before: Settings,
  places: SettingsPlaces,
  {
    keepIn,
    isAnothers = () => false,
  }: { readonly keepIn: string; readonly isAnothers?: (path: string) => boolean },
): readonly string[] {
  // If its parent folder leads elsewhere by now, the hooks are not this agent's: the checkout's tree has what they were.
  const isElsewhere = nativePath(dirname(places.hooks)) !== before.besideHooks
  const isOurs = (path: string): boolean =>
    !isAnothers(path) && (!isElsewhere || pathWithin(places.hooks, path) === null)
  const folders = [...before.folders].filter(([path, link]) => isOurs(path) && linkAt(path) !== link)
  for (const [path, link] of folders) restoreFolder(path, link, keepIn)
  const changed = changedSettings(before, readSettings(places)).filter(isOurs)
  for (const path of changed) restoreFile(path, before.files.get(path), keepIn)
  return [...(isElsewhere ? [places.hooks] : []), ...folders.map(([path]) => path), ...changed]
}

/** The files that have changed. */
export function changedSettings(before: Settings, now: Settings): readonly string[] {
  const paths = new Set([...before.files.keys(), ...now.files.keys()])
  return [...paths].filter((path) => {
    const [old, present] = [before.files.get(path), now.files.get(path)]
    if (!old || !present || old.link !== present.link) return true
    return old.mode !== present.mode || !old.bytes.equals(present.bytes)
  })
}

/** Restores a folder that was replaced by a link, or a link by a folder. The target of a link stays as it is. */
function restoreFolder(path: string, link: string | null, keepIn: string): void {
  const [present, kept] = [linkAt(path), keptAs(path, keepIn)]
  mkdirSync(keepIn, { recursive: true })
  if (present !== null) writeFileSync(kept, present)
  else if (statSync(path, { throwIfNoEntry: false }))
    cpSync(path, kept, { recursive: true, verbatimSymlinks: true })
  rmSync(path, { recursive: true, force: true })
  if (link !== null) symlinkSync(link, path)
}

function restoreFile(path: string, old: Setting | undefined, keepIn: string): void {
  const present = readSetting(path, new Set())
  if (present) {
    mkdirSync(keepIn, { recursive: true })
    writeFileSync(keptAs(path, keepIn), present.bytes)
  }
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) restoreFolder(path, null, keepIn)
  // The file may be read-only now; and writing through a link would change its target.
  if (!old || present?.link !== old.link) rmSync(path, { force: true })
  if (!old) return
  mkdirSync(dirname(path), { recursive: true })
  if (old.link !== null && present?.link !== old.link) symlinkSync(old.link, path)
  if (old.link !== null && old.mode === 0) return
  if (old.link === null) rmSync(path, { force: true })
  writeFileSync(path, old.bytes, { mode: old.mode })
  chmodSync(path, old.mode)
}

function keptAs(path: string, keepIn: string): string {
  return join(keepIn, path.replaceAll(/[/\\:]+/g, '_'))
}

function readSetting(path: string, work: ReadonlySet<string>): Setting | null {
  const link = linkAt(path)
  const only = link === null ? null : { bytes: Buffer.alloc(0), mode: 0, link }
  if (only && work.has(nativePath(path))) return only
  try {
    const { mode } = statSync(path)
    return { bytes: readFileSync(path), mode: mode & 0o777, link }
  } catch {
    // It does not exist, or is a folder: neither is a setting.
    return only
  }
}

/** The target of a link, as written in it; null if it is no link. */
function linkAt(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null
  } catch {
    return null
  }
}
