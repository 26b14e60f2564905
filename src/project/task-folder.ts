import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UserError } from '../base/errors.ts'
import type { Config } from './config/defaults.ts'
import type { Place } from './project.ts'
import { nativePath, pathKey, pathWithin } from '../base/paths.ts'

/** Whether the folder leads out of the project. A missing folder does not: reading it reports that. */
function leadsOut(root: string, dir: string): boolean {
  try {
    return pathWithin(realpathSync(root), realpathSync(join(root, dir))) === null
  } catch {
    return false
  }
}

/** The task folders of a project: from the command line, else from the configuration. */
export async function taskFolders(
  root: string,
  { tasks }: Pick<Config, 'tasks'>,
  named?: string,
): Promise<Pick<Place, 'dir' | 'moreDirs' | 'isIgnored'>> {
  const { dir, ignore } = typeof tasks === 'string' ? { dir: [tasks], ignore: [] } : tasks
  const [first = '', ...more] = named === undefined ? dir : [named]
  const own = taskFolder(root, first)
  const moreDirs = [...new Set(more.map((one) => taskFolder(root, one)))].filter((one) => one !== own)
  return { dir: own, moreDirs, isIgnored: ignore.length > 0 ? await ignoring(ignore) : undefined }
}

async function ignoring(patterns: readonly string[]): Promise<(name: string) => boolean> {
  // Loaded only for patterns: most projects have none.
  const { parseGlob } = await import('../base/glob.ts')
  const globs = patterns.map(
    (pattern) => parseGlob(pattern) ?? { matches: (name: string) => name === pattern },
  )
  return (name) => globs.some((glob) => glob.matches(name))
}

/** The task folder relative to the root, with forward slashes. Throws if it is outside, because no commit could hold it. */
export function taskFolder(root: string, named: string): string {
  const full = resolve(root, named)
  const dir = pathWithin(root, full) ?? pathWithin(root, nativePath(full))
  if (dir === null) {
    throw new UserError(
      `the task folder ${named} is outside of the project at ${root}`,
      'Name it relative to there, as in --dir docs/tasks; -C <path> works on another project.',
    )
  }
  if (leadsOut(root, dir)) {
    throw new UserError(
      `the task folder ${named} is a link that leads out of the project at ${root}`,
      'No commit could hold a task there. Make it a folder, or work on the other project with -C <path>.',
    )
  }
  return spelledAsOnDisk(root, dir) || '.'
}

/** The spelling on disk: `Docs/Tasks` may be `docs/tasks` here, and git knows only the latter. A link keeps its own name. */
function spelledAsOnDisk(root: string, dir: string): string {
  const onDisk = pathWithin(root, nativePath(join(root, dir)))
  const same = { ignorecase: true, precomposeunicode: true }
  return onDisk !== null && pathKey(onDisk, same) === pathKey(dir, same) ? onDisk : dir
}
