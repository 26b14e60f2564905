import { UserError } from '../base/errors.ts'
import { openGit, openReadingGit } from './door.ts'
import { GitError, type Git } from './git.ts'
import { findRepository, saysNoRepository, type Repository } from './repository.ts'
import type { World } from '../base/world.ts'

/** Reads history for a command, without checking first whether there is a repository: each check is a process. */
export async function readHistory<T>(
  world: Pick<World, 'env'>,
  root: string,
  read: (git: Git) => Promise<T>,
): Promise<T> {
  try {
    return await read(openReadingGit({ cwd: root, env: world.env }))
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    if (isNoRepository(error)) throw noRepository()
    if (
      /(?:bad|unknown|ambiguous) (?:revision|argument) 'HEAD'|does not have any commits/.test(error.stderr)
    ) {
      throw noCommit()
    }
    throw error
  }
}

/** Opens the repository around a project for reading; throws if there is none. */
export async function openRepository(
  world: Pick<World, 'env'>,
  root: string,
): Promise<{ repository: Repository; git: Git }> {
  const repository = await findRepository(openReadingGit({ cwd: root, env: world.env }))
  if (!repository) throw noRepository()
  return { repository, git: openReadingGit({ cwd: repository.root, env: world.env }) }
}

/** Opens it for writing; throws if it has no commit, which is needed as a base. */
export async function openWithCommit(
  world: Pick<World, 'env'>,
  root: string,
): Promise<{ repository: Repository; git: Git }> {
  const { repository } = await openRepository(world, root)
  const git = openGit({ cwd: repository.root, env: world.env })
  const { code } = await git.run(['rev-parse', '--verify', '--quiet', 'HEAD'], { okCodes: [0, 1] })
  if (code === 0) return { repository, git }
  throw noCommit()
}

/** Makes a repository of a folder. */
export async function makeRepository({ env }: Pick<World, 'env'>, root: string): Promise<void> {
  await openGit({ cwd: root, env }).run(['init', '--quiet'])
}

function noRepository(): UserError {
  return new UserError('there is no git repository here', 'Make one: git init, then commit what there is.')
}

function noCommit(): UserError {
  return new UserError(
    'this repository has no commit yet',
    'Make the first one: git add -A && git commit -m "Begin"',
  )
}

/** Returns `otherwise` without git, for commands that only read. */
export async function unlessGitIsMissing<T>(read: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await read
  } catch (error) {
    if (error instanceof UserError || isNoRepository(error)) return otherwise
    throw error
  }
}

function isNoRepository(error: unknown): boolean {
  return error instanceof GitError && saysNoRepository(error.stderr)
}
