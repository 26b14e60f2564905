import { existsSync, realpathSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { INSIDE_VARIABLE } from '../../base/names.ts'
import { pathWithin } from '../../base/paths.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Variables that would lead git, or a tool that asks it, back to the checkout. */
const MISLEADING =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|PREFIX|NAMESPACE|CEILING_DIRECTORIES)$/

/**
 * The environment of what is started in a folder of a slot: every variable that names a place in the checkout names the
 * same place in the folder.
 */
export function slotEnvironment(
  env: Environment,
  at: {
    /** The top of the checkout, and of the folder. */
    readonly checkout: string
    readonly files: string
    /** The project's root in the folder. */
    readonly root: string
    readonly number: number
    readonly side: string
  },
): Environment {
  const moved = (path: string): string => placeIn(path, at.checkout, at.files) ?? path
  const entries = Object.entries(env).flatMap(([name, value]): [string, string | undefined][] => {
    if (value === undefined || MISLEADING.test(name)) return []
    return [[name, value.includes('/') ? value.split(delimiter).map(moved).join(delimiter) : value]]
  })
  const mapped = Object.fromEntries(entries)
  const programs = join(at.root, '.venv', 'bin')
  return {
    ...mapped,
    // What ralph has installed is found first, as after `source .venv/bin/activate`.
    ...(existsSync(programs) ? { PATH: [programs, mapped['PATH'] ?? ''].join(delimiter) } : {}),
    INIT_CWD: mapped['INIT_CWD'] === undefined ? undefined : at.root,
    PWD: at.root,
    COMPOSE_PROJECT_NAME: `${composeName(at.files)}-${at.number}-${at.side}`,
    RALPH_WORKSPACE: String(at.number),
    RALPH_PORT_BASE: String(portBase(at.number)),
    [INSIDE_VARIABLE]: at.root,
  }
}

/** The first of a slot's hundred ports: the gates of several jobs must not open the same ones. */
function portBase(number: number): number {
  return 20_000 + 100 * number
}

function composeName(files: string): string {
  const name = files.slice(files.lastIndexOf('/') + 1)
  return name.toLowerCase().replaceAll(/[^a-z0-9_-]/g, '') || 'project'
}

/** The same place in another folder; null if the path is not in the checkout. */
function placeIn(path: string, checkout: string, files: string): string | null {
  if (!isAbsolute(path)) return null
  const inside = pathWithin(checkout, path) ?? pathWithin(checkout, realPath(path))
  return inside === null ? null : join(files, inside)
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
