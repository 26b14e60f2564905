import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { UserError } from '../base/errors.ts'
import type { Git } from '../git/git.ts'
import type { Base } from '../git/head.ts'
import { copyRefs, listRefs } from '../git/refs.ts'
import type { Repository } from '../git/repository.ts'
import { configText, readSettingsOf } from '../git/shared-clone.ts'

/** The repository whose objects ralph's own workspaces borrow, and the project's place in it. */
export interface Lender {
  /** Runs at the top of the checkout. */
  readonly git: Git
  readonly repository: Repository
  /** The project's root inside the checkout: empty, or ending with a slash. */
  readonly prefix: string
}

const OURS = 'refs/ralph/'
const RECORDS = 'refs/ralph/attempts/'
const CANDIDATES = 'refs/ralph/candidates/'
/** Refs for what somebody left in a workspace and no ref of the checkout holds. */
const STRAY = 'refs/ralph/stray/'

/** The repository of the workspace with its top there. */
export function cloneRepository(top: string, { repository }: Lender): Repository {
  const gitDir = join(top, '.git')
  const { objectFormat } = repository
  return { root: top, gitDir, commonDir: gitDir, objectFormat, linkedWorktree: false }
}

/** Makes an empty repository that borrows the checkout's objects, if there is none; returns whether it made one. */
export async function makeClone(top: string, { git, repository }: Lender): Promise<boolean> {
  const lent = `${join(repository.commonDir, 'objects')}\n`
  const alternates = '.git/objects/info/alternates'
  if (textAt(join(top, alternates)) === lent && existsSync(join(top, '.git/HEAD'))) return false
  setAside(top)
  const draft = `${top}.new`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(dirname(top), { recursive: true })
  await git.run([
    'init',
    '--quiet',
    '--template=',
    `--object-format=${repository.objectFormat}`,
    '--initial-branch=main',
    draft,
  ])
  mkdirSync(join(draft, '.git/info'), { recursive: true })
  mkdirSync(dirname(join(draft, alternates)), { recursive: true })
  writeFileSync(join(draft, alternates), lent)
  renameSync(draft, top)
  return true
}

/** Moves aside what is there: it is somebody's, or an unfinished clone of a run that died. */
export function setAside(top: string): void {
  if (!existsSync(top)) return
  let number = 1
  while (existsSync(`${top}.before-${number}`)) number++
  renameSync(top, `${top}.before-${number}`)
}

/** Whether the git files of a workspace are incomplete, for example because the checkout was deleted and cloned again. */
export async function isBroken(clone: Git): Promise<boolean> {
  const result = await clone.run(['rev-parse', '--quiet', '--verify', 'HEAD^{tree}'], {
    okCodes: [0, 1, 128],
  })
  return result.code !== 0
}

/**
 * Copies the checkout's settings, remotes, hooks and branches into a clone, and sets the clone's own branch to the base.
 * Removes every change that an earlier job made to them.
 */
export async function settle(
  clone: Repository,
  base: Base,
  { lender, excluded }: { readonly lender: Lender; readonly excluded: readonly string[] },
): Promise<void> {
  const { git, repository } = lender
  const settings = await readSettingsOf(git)
  const hooks = (await git.run(['rev-parse', '--git-path', 'hooks'])).stdout.toString().trim()
  const { gitDir } = clone
  for (const name of LEFTOVERS) rmSync(join(gitDir, name), { recursive: true, force: true })
  writeFileAtomic(
    join(gitDir, 'config'),
    configText(settings, { ...repository, hooks: absolute(git.cwd, hooks) }),
  )
  const exclude = textAt(join(repository.commonDir, 'info/exclude')) ?? ''
  mkdirSync(join(gitDir, 'info'), { recursive: true })
  writeFileSync(join(gitDir, 'info/exclude'), [exclude, ...excluded, ''].join('\n'))
  copyText(join(repository.commonDir, 'info/attributes'), join(gitDir, 'info/attributes'))
  copyText(join(repository.commonDir, 'shallow'), join(gitDir, 'shallow'))
  await writeRefs(clone, base, git)
}

/** Operations under way, locks, and other files that an attempt may have left beside refs and index. */
const LEFTOVERS = [
  'MERGE_HEAD',
  'MERGE_MSG',
  'MERGE_MODE',
  'AUTO_MERGE',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
  'BISECT_START',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
  'hooks',
  'config.lock',
  'config.worktree',
  'index.lock',
  'ralph-index.lock',
  'HEAD.lock',
  'packed-refs.lock',
]

function absolute(cwd: string, path: string): string {
  return isAbsolute(path) ? path : join(cwd, path)
}

function copyText(from: string, to: string): void {
  const text = textAt(from)
  if (text === null) rmSync(to, { force: true })
  else writeFileSync(to, text)
}

/** Writes branches, tags and remote-tracking refs as the checkout has them: in one file, without starting a process. */
async function writeRefs({ gitDir }: Repository, { head, branch }: Base, git: Git): Promise<void> {
  if (branch === null) throw new Error('a workspace of its own begins on a branch')
  const { stdout } = await git.run([
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    'refs/heads',
    'refs/tags',
    'refs/remotes',
    // A prompt names earlier attempts by their refs.
    'refs/ralph/attempts',
  ])
  const own = `refs/heads/${branch}`
  const lines = stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith(` ${own}`))
  // Without this folder git sees no repository, if the process is killed now.
  for (const name of readdirSync(join(gitDir, 'refs')))
    rmSync(join(gitDir, 'refs', name), { recursive: true, force: true })
  rmSync(join(gitDir, 'logs'), { recursive: true, force: true })
  writeFileAtomic(join(gitDir, 'packed-refs'), [...lines, `${head} ${own}`, ''].join('\n'))
  writeFileAtomic(join(gitDir, 'HEAD'), `ref: ${own}\n`)
}

/**
 * Keeps in the checkout what only the refs of a workspace name, and returns the refs that keep it. If a run died there,
 * also keeps its records whose objects the checkout has, but not their refs.
 */
export async function keepStrayRefs(
  clone: Git,
  { git }: Lender,
  { of }: { readonly of: 'anybody' | 'a dead run' },
): Promise<readonly string[]> {
  const below = of === 'anybody' ? 'refs/' : OURS
  const all = [...(await listRefs(clone))].filter(([ref]) => ref.startsWith(below))
  // The checkout has already dropped each candidate that no run waits for.
  const found = of === 'anybody' ? all.filter(([ref]) => !ref.startsWith(CANDIDATES)) : all
  const missing = await missingOf(
    git,
    found.map(([, hash]) => hash),
  )
  if (of === 'anybody' && missing.size === 0) return []
  const held = await listRefs(git)
  const isUnnamed = (ref: string): boolean => of === 'a dead run' && ref.startsWith(RECORDS) && !held.has(ref)
  const wanted = found.filter(([ref, hash]) => missing.has(hash) || isUnnamed(ref))
  if (wanted.length === 0) return []
  // An object that neither repository has cannot be kept: the checkout has removed it since.
  const lost = await missingOf(
    clone,
    wanted.map(([, hash]) => hash),
  )
  const pairs = wanted
    .filter(([, hash]) => !lost.has(hash))
    .map(([ref, hash]): [string, string] => {
      // The number of an attempt may have been used again since a run died here.
      const isFree = ref.startsWith(OURS) && !held.has(ref)
      return [ref, isFree ? ref : `${STRAY}${hash.slice(0, 10)}/${ref.slice('refs/'.length)}`]
    })
  if (pairs.length > 0) await copyRefs(git, clone.cwd, pairs)
  return pairs.map(([, ref]) => ref)
}

/** Those of these objects that a repository does not have. */
async function missingOf(git: Git, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set()
  const unique = [...new Set(hashes)]
  const { stdout } = await git.run(['cat-file', '--batch-check=%(objecttype)'], {
    stdin: `${unique.join('\n')}\n`,
  })
  const lines = stdout.toString().split('\n')
  return new Set(unique.filter((_, index) => lines[index]?.endsWith(' missing')))
}

/** Whether a tree has a file that differs from another tree's, and whose content the checkout's repository does not have. */
export async function isNews(
  clone: Git,
  { git }: Lender,
  { from, tree }: { readonly from: string; readonly tree: string },
): Promise<boolean> {
  const args = ['diff-tree', '-r', '--raw', '--no-renames', '--no-abbrev', '--diff-filter=AMT', from, tree]
  const { stdout } = await clone.run(args)
  const lines = stdout.toString().split('\n').filter(Boolean)
  const blobs = [...new Set(lines.map((line) => line.split(' ')[3]!))]
  return (await missingOf(git, blobs)).size > 0
}

/** Keeps a tree that somebody left in a workspace as a commit in the checkout; returns its ref. */
export async function keepStrayTree(
  clone: Git,
  { git }: Lender,
  { tree, on, why }: { readonly tree: string; readonly on: string; readonly why: string },
): Promise<string> {
  const made = await clone.run(['commit-tree', tree, '-p', on, '-m', why])
  const hash = made.stdout.toString().trim()
  const ref = `${STRAY}${hash.slice(0, 10)}/workspace`
  await clone.run(['update-ref', ref, hash])
  await copyRefs(git, clone.cwd, [[ref, ref]])
  return ref
}

/** Keeps a base in the checkout as long as a workspace is at it. */
export async function pin(number: number, commit: string, { git }: Lender): Promise<void> {
  await git.run(['update-ref', `refs/ralph/bases/${number}`, commit])
}

/** Removes the ref of a workspace that is gone. */
export async function unpin(number: number, { git }: Lender): Promise<void> {
  await git.run(['update-ref', '--stdin'], { stdin: `delete refs/ralph/bases/${number}\n` })
}

function textAt(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** Throws if such workspaces cannot be made of the checkout, or would differ from it. */
export async function refuseUnlendable({ git, repository }: Lender): Promise<void> {
  const { stdout } = await git.run(['config', '--get-regexp', '^extensions\\.(partialclone|refstorage)$'], {
    okCodes: [0, 1],
  })
  const settings = stdout.toString()
  if (/^extensions\.refstorage reftable$/m.test(settings))
    throw new UserError(
      'this repository keeps its refs in a reftable, and its checkout could not follow what lands',
      'Convert them (git refs migrate --ref-format=files), or run one job at a time.',
    )
  if (settings.includes('partialclone'))
    throw new UserError(
      'this is a partial clone, and a workspace of its own could not fetch what it lacks',
      'Fetch all of it (git fetch --refetch --no-filter), or run one job at a time.',
    )
  if (!existsSync(join(repository.commonDir, 'objects')))
    throw new UserError('this repository keeps its objects elsewhere', 'Run one job at a time.')
}
