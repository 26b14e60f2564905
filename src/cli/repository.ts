import { UserError } from '../base/errors.ts'
import { openGit } from '../git/door.ts'
import type { Git } from '../git/git.ts'
import { findRepository, type Repository } from '../git/repository.ts'
import type { Io } from './io.ts'

/** The repository around a project; a command that needs one says so where there is none. */
export async function openRepository(io: Io, root: string): Promise<{ repository: Repository; git: Git }> {
  const repository = await findRepository(openGit({ cwd: root, env: io.env }))
  if (!repository) {
    throw new UserError('there is no git repository here', 'Make one: git init, then commit what there is.')
  }
  return { repository, git: openGit({ cwd: repository.root, env: io.env }) }
}

/** The same, with a first commit: what writes needs something to begin from. */
export async function openWithCommit(io: Io, root: string): Promise<{ repository: Repository; git: Git }> {
  const opened = await openRepository(io, root)
  const { code } = await opened.git.run(['rev-parse', '--verify', '--quiet', 'HEAD'], { okCodes: [0, 1] })
  if (code === 0) return opened
  throw new UserError(
    'this repository has no commit yet',
    'Make the first one: git add -A && git commit -m "Begin"',
  )
}
