import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { namesIn } from '../base/folder.ts'
import { pathWithin } from '../base/paths.ts'
import type { Git } from '../git/git.ts'
import type { Repository } from '../git/repository.ts'

/** Where it stands what git does in a repository, and what no tree holds. */
export interface SettingsPlaces {
  readonly files: readonly string[]
  /** The folder of the hooks, wherever it is. */
  readonly hooks: string
  /** Whether what is in it is to stay: a workspace of ralph's own has the hooks of the checkout, where a person may change them. */
  readonly keepsHooks: boolean
  /** The same inside the repository's tree, with a slash; null where it is elsewhere. */
  readonly hooksInTree: string | null
  /** Hooks that are in the tree, and so are work where somebody changes them. */
  readonly trackedHooks: ReadonlySet<string>
}

/** Asks git for them, before any agent could have moved them. */
export async function settingsPlaces(
  git: Git,
  repository: Repository,
  isOwn = false,
): Promise<SettingsPlaces> {
  const { gitDir, commonDir, root } = repository
  const asked = await git.run(['rev-parse', '--git-path', 'hooks'])
  const hooks = resolve(git.cwd, asked.stdout.toString().trim())
  const inTree = pathWithin(root, hooks)
  const hooksInTree = inTree === null || pathWithin(commonDir, hooks) !== null ? null : `${inTree}/`
  const files = [
    ...(await configFiles(git)).filter((path) => pathWithin(root, path) ?? pathWithin(commonDir, path)),
    join(commonDir, 'config'),
    join(gitDir, 'config.worktree'),
    join(gitDir, 'info/sparse-checkout'),
    ...OF_ALL.map((name) => join(commonDir, name)),
  ]
  const keepsHooks = !isOwn || pathWithin(commonDir, hooks) !== null
  return {
    files: [...new Set(files)],
    hooks,
    keepsHooks,
    hooksInTree,
    trackedHooks: await trackedIn(git, hooksInTree),
  }
}

const OF_ALL = ['info/exclude', 'info/attributes', 'info/grafts', 'shallow', 'objects/info/alternates']

/** The files that git reads its configuration from, those that others include among them. */
async function configFiles(git: Git): Promise<readonly string[]> {
  const { stdout } = await git.run(['config', '--list', '--show-origin', '--name-only', '-z'], {
    okCodes: [0, 1],
  })
  const origins = stdout.toString().split('\0')
  return origins.flatMap((origin) => (origin.startsWith('file:') ? [resolve(git.cwd, origin.slice(5))] : []))
}

async function trackedIn(git: Git, folder: string | null): Promise<ReadonlySet<string>> {
  if (folder === null) return new Set()
  const { stdout } = await git.run(['ls-files', '-z', '--', `:(literal)${folder}`])
  return new Set(
    stdout
      .toString()
      .split('\0')
      .filter(Boolean)
      .map((path) => resolve(git.cwd, path)),
  )
}

/** The files byte for byte, by absolute path. */
export type Settings = ReadonlyMap<string, { readonly bytes: Buffer; readonly mode: number }>

export function readSettings({ files, hooks, keepsHooks, trackedHooks }: SettingsPlaces): Settings {
  const names = (keepsHooks ? namesIn(hooks) : []).filter((name) => !name.endsWith('.sample'))
  const own = names.map((name) => join(hooks, name)).filter((path) => !trackedHooks.has(path))
  const settings = new Map<string, { bytes: Buffer; mode: number }>()
  for (const path of [...files, ...own]) {
    const file = readFile(path)
    if (file) settings.set(path, file)
  }
  return settings
}

/** The paths that are not as they were. */
export function changedSettings(before: Settings, now: Settings): readonly string[] {
  const paths = new Set([...before.keys(), ...now.keys()])
  return [...paths].filter((path) => {
    const [old, present] = [before.get(path), now.get(path)]
    return !old || !present || old.mode !== present.mode || !old.bytes.equals(present.bytes)
  })
}

/** Puts settings back as they were, after keeping what is there now in a folder. */
export function restoreSettings(paths: readonly string[], before: Settings, keepIn: string): void {
  for (const path of paths) {
    const present = readFile(path)
    if (present) {
      const kept = join(keepIn, path.replaceAll(/[/\\:]+/g, '_'))
      mkdirSync(dirname(kept), { recursive: true })
      writeFileSync(kept, present.bytes)
    }
    const old = before.get(path)
    // It may have been made read-only.
    rmSync(path, { force: true })
    if (!old) continue
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, old.bytes, { mode: old.mode })
  }
}

function readFile(path: string): { bytes: Buffer; mode: number } | null {
  try {
    const { mode } = statSync(path)
    return { bytes: readFileSync(path), mode: mode & 0o777 }
  } catch {
    // Not there, or a folder: neither is a setting.
    return null
  }
}
