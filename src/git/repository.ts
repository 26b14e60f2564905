import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { nativePath, type PathSpelling } from '../base/paths.ts'
import { type Git, GitError } from './git.ts'

/** The folders of a repository. */
export interface Repository {
  /** The top of the checkout. */
  readonly root: string
  /** This checkout's own git folder: index, HEAD, operations under way. */
  readonly gitDir: string
  /** The folder that all worktrees share: objects, refs, config, hooks. */
  readonly commonDir: string
  readonly objectFormat: 'sha1' | 'sha256'
  readonly linkedWorktree: boolean
}

/** Finds the repository around the door's folder; null if there is none (or only a bare one). */
export async function findRepository(git: Git): Promise<Repository | null> {
  const query = ['--show-toplevel', '--absolute-git-dir', '--git-common-dir', '--show-object-format']
  const { code, stdout, stderr } = await git.run(['rev-parse', ...query], { okCodes: [0, 128] })
  if (code !== 0) {
    if (saysNoRepository(stderr)) return null
    // Mostly `detected dubious ownership`, which git explains better than ralph could.
    throw new GitError(['rev-parse'], code, stderr)
  }
  const [root = '', gitDir = '', commonDir = '', format] = stdout.toString().trimEnd().split('\n')
  const [own, shared] = [nativePath(gitDir), nativePath(resolve(git.cwd, commonDir))]
  return {
    root: nativePath(root),
    gitDir: own,
    commonDir: shared,
    objectFormat: format === 'sha256' ? 'sha256' : 'sha1',
    linkedWorktree: own !== shared,
  }
}

/** In which ways paths may differ that the file system treats as one, as git detected when it made the repository. */
export async function pathSpelling(git: Git): Promise<PathSpelling> {
  const args = ['config', '--type=bool', '--get-regexp', '^core\\.(ignorecase|precomposeunicode)$']
  const { stdout } = await git.run(args, { okCodes: [0, 1] })
  const isOn = (name: string): boolean => new RegExp(`^core\\.${name} true$`, 'm').test(stdout.toString())
  return { ignorecase: isOn('ignorecase'), precomposeunicode: isOn('precomposeunicode') }
}

/** Whether git reports that there is no repository to work in; a bare one inside another does not count. */
export function saysNoRepository(complaint: string): boolean {
  return /not a git repository|must be run in a work tree|cannot use bare repository/.test(complaint)
}

const OPERATIONS = ['merge', 'rebase', 'am', 'cherry-pick', 'revert', 'bisect'] as const
type Operation = (typeof OPERATIONS)[number]

/** Operations that somebody began in this checkout and has not finished. */
export function operationsUnderWay(repository: Repository): readonly Operation[] {
  const has = (name: string): boolean => existsSync(join(repository.gitDir, name))
  const applying = has('rebase-apply/applying')
  const underWay: Record<Operation, boolean> = {
    merge: has('MERGE_HEAD'),
    rebase: has('rebase-merge') || (has('rebase-apply') && !applying),
    am: applying,
    'cherry-pick': has('CHERRY_PICK_HEAD'),
    revert: has('REVERT_HEAD'),
    bisect: has('BISECT_LOG'),
  }
  return OPERATIONS.filter((operation) => underWay[operation])
}

/** Git's message if it does not know the committer's identity; else null. */
export async function identityProblem(git: Git): Promise<string | null> {
  const { code, stderr } = await git.run(['var', 'GIT_COMMITTER_IDENT'], { okCodes: [0, 128] })
  if (code !== 0) return stderr.trim()
  const author = await git.run(['var', 'GIT_AUTHOR_IDENT'], { okCodes: [0, 128] })
  return author.code === 0 ? null : author.stderr.trim()
}

/** Git's message if it is to sign commits and cannot: tried on a commit that no ref names. */
export async function signingProblem(git: Git): Promise<string | null> {
  const { stdout } = await git.run(['config', '--type=bool', '--get', 'commit.gpgSign'], { okCodes: [0, 1] })
  if (stdout.toString().trim() !== 'true') return null
  const args = ['commit-tree', '-S', '-m', 'ralph: can git sign?', 'HEAD^{tree}']
  const { code, stderr } = await git.run(args, { okCodes: [0, 1, 128] })
  // Before the first commit there is no tree to try it on.
  if (code === 0 || /HEAD\^\{tree\}/.test(stderr)) return null
  return stderr.trim().split('\n').at(-1) ?? ''
}

/** All that git ignores, relative to the top; a folder with nothing else in it is named once, with a slash. */
export async function allIgnored(git: Git): Promise<readonly string[]> {
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']
  return (await git.run(args)).stdout.toString().split('\0').filter(Boolean)
}

/**
 * Which of these paths git ignores. Tracked paths are not included; outside of a repository none is, and paths in a
 * submodule are not checked.
 */
export async function ignoredPaths(git: Git, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set()
  const args = ['check-ignore', '--stdin', '-z']
  const { code, stdout, stderr } = await git.run(args, {
    stdin: paths.join('\0') + '\0',
    okCodes: [0, 1, 128],
  })
  if (code !== 128) return new Set(stdout.toString().split('\0').filter(Boolean))
  if (saysNoRepository(stderr)) return new Set()
  if (!/in submodule|beyond a symbolic link/.test(stderr)) throw new GitError(args, code, stderr)
  if (paths.length === 1) return new Set()
  // git stops at the first such path, and does not name all of them.
  const middle = Math.ceil(paths.length / 2)
  const [one, other] = [
    await ignoredPaths(git, paths.slice(0, middle)),
    await ignoredPaths(git, paths.slice(middle)),
  ]
  return new Set([...one, ...other])
}
