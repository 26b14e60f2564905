import type { TaskFolders } from '../backlog/task-folders.ts'
import { matchesOneOf } from '../base/glob.ts'
import { UserError } from '../base/errors.ts'
import type { Git } from '../git/git.ts'
import { tipOf } from '../git/head.ts'
import { identityProblem, ignoredPaths, signingProblem } from '../git/repository.ts'
import type { RunOptions, RunPorts } from './ports.ts'
import { fewOf } from '../base/text.ts'
import { ownFilesIn } from './witness/witness.ts'
import { refuseUnusable, type Home } from './slot/home.ts'

/** What keeps ralph from committing, and what to do about it. */
interface Obstacle {
  readonly message: string
  readonly fix: string
}

/** Throws if no run could work here. */
export async function refuseImpossible({ home, source }: RunPorts): Promise<void> {
  const found = await obstacles(home.git, home.prefix, source.folders)
  if (found.length > 0)
    throw new UserError(
      found.map(({ message }) => message).join('; '),
      found.map(({ fix }) => fix).join('\n'),
    )
  await refuseUnusable(home)
}

/** Throws if patterns match nothing, so that nothing would be seen of what becomes of the tests, or a gate would never run. */
export async function refuseUnmatched(
  { tests, gates }: Pick<RunOptions, 'tests' | 'gates'>,
  home: Home,
): Promise<void> {
  const ofGates = gates.flatMap(({ name, paths = [] }) =>
    paths.map((pattern) => [`paths of the gate ${name}`, [pattern]] as const),
  )
  const named = [['tests.paths', tests.paths] as const, ...ofGates].filter(([, { length }]) => length > 0)
  const files = named.length > 0 ? await ownFilesIn('HEAD', home) : []
  const wrong = named.filter(([, patterns]) => !files.some(matchesOneOf(patterns)))
  if (wrong.length === 0) return
  throw new UserError(
    wrong
      .map(([key, patterns]) => `${key} matches no file of the last commit: ${fewOf(patterns)}`)
      .join('\n'),
    'Name files that git has, relative to the project, or leave it out.',
  )
}

/** What keeps ralph from committing in a repository at all. */
export async function obstacles(
  git: Git,
  prefix: string,
  { first: folder, ids }: Pick<TaskFolders, 'first' | 'ids'>,
): Promise<readonly Obstacle[]> {
  const found: Obstacle[] = []
  const identity = await identityProblem(git)
  if (identity !== null)
    found.push({
      message: `git does not know who commits: ${identity.split('\n').at(-1) ?? ''}`,
      fix: 'Set git config user.name and git config user.email',
    })
  const unsigned = identity === null ? await signingProblem(git) : null
  if (unsigned !== null)
    found.push({
      message: `git is to sign commits, and cannot: ${unsigned}`,
      fix: 'Repair the key (user.signingKey), or set commit.gpgSign to false here',
    })
  const path = `${prefix}${folder === '.' ? '' : `${folder}/`}${ids.idOf(1, 1)}.md`
  if ((await ignoredPaths(git, [path])).size > 0)
    found.push({
      message: `git ignores the task folder ${folder}, so no commit could hold a task`,
      fix: 'Take it out of .gitignore (git check-ignore -v names the line)',
    })
  return found
}

/** The branch that tasks land on: the named one, made where it is missing, or the checked-out one; null for a detached HEAD. */
export async function branchToLandOn(
  { branch }: Pick<RunOptions, 'branch'>,
  { git, repository }: Home,
): Promise<string | null> {
  if (branch === null) return checkedOut(git)
  if (branch === (await checkedOut(git)) || (await tipOf(git, branch)) !== null) return branch
  const valid = await git.run(['check-ref-format', '--branch', branch], { okCodes: [0, 1, 128] })
  if (valid.code !== 0) throw new UserError(`${branch} is not a valid branch name`, 'Take another name.')
  await git.at(repository.root).run(['branch', '--no-track', branch, 'HEAD'])
  return branch
}

async function checkedOut(git: Git): Promise<string | null> {
  const { code, stdout } = await git.run(['symbolic-ref', '--quiet', '--short', 'HEAD'], { okCodes: [0, 1] })
  return code === 0 ? stdout.toString().trim() : null
}
