import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { nativePath, pathWithin } from '../../base/paths.ts'
import type { Git } from '../../git/git.ts'
import type { Repository } from '../../git/repository.ts'
import { effectiveSettings, NO_HOOKS, unsafeDrivers, type Settings } from '../../git/settings.ts'

/** The person's repository, as it was before any agent of this run began. */
export interface Home {
  /** Runs at the top of the checkout. It starts no hook, and no program that is in the tree. */
  readonly git: Git
  readonly repository: Repository
  /** The project's root inside the repository: empty, or ending with a slash. */
  readonly prefix: string
  /** The settings of ralph's own repositories. */
  readonly settings: Settings
  /** The settings that an agent's git may have: who commits, remotes, line ends. */
  readonly shown: Settings
  /** The folder of the person's hooks. */
  readonly hooks: string
}

/** Settings that are wrong in another folder, that start a program, or that ralph sets itself. */
const NOT_TAKEN =
  /^(?:core\.(?:repositoryformatversion|bare|worktree|hookspath|fsmonitor|untrackedcache|sparsecheckout.*|splitindex|filemode|symlinks|ignorecase|precomposeunicode|editor|pager|sshcommand|askpass)|index\..*|extensions\.(?!partialclone$).*|include.*|gc\..*|maintenance\..*|submodule\..*|alias\..*|credential\..*|pager\..*|diff\..*|difftool\..*|mergetool\..*|sequence\..*|commit\.template|fetch\..*|push\..*)$/i

const SHOWN =
  /^(?:user\..*|author\..*|committer\..*|remote\..*\.(?:url|fetch)|branch\..*|i18n\..*|init\.defaultbranch|core\.(?:autocrlf|eol|longpaths))$/i

/** What holds wherever ralph's git works: nothing runs beside it, and nothing is taken on trust. */
const SAFE: Settings = [
  ['core.hooksPath', NO_HOOKS],
  ['core.fsmonitor', 'false'],
  ['core.untrackedCache', 'false'],
  ['core.safecrlf', 'false'],
  ['submodule.recurse', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['protocol.ext.allow', 'never'],
]

/** Only in a folder of ralph's own, whose index no other git has written. */
const OWN: Settings = [
  ['core.bare', 'false'],
  ['core.splitIndex', 'false'],
  ['core.sparseCheckout', 'false'],
  ['core.trustctime', 'true'],
  ['core.checkStat', 'default'],
]

/** Reads what slots need to know of a checkout. `git` runs at its top. */
export async function openHome(git: Git, repository: Repository, root: string): Promise<Home> {
  const top = repository.root
  const inside = pathWithin(nativePath(top), nativePath(root)) ?? ''
  const all = await effectiveSettings(git)
  const off = unsafeDrivers(all, { top, env: git.env })
  const blanked = new Set(off.map(([key]) => key))
  const isSha256 = repository.objectFormat === 'sha256'
  const isPartial = all.some(([key]) => key === 'extensions.partialclone')
  const named = all.findLast(([key]) => key === 'core.hookspath')?.[1]
  return {
    git: git.with({ settings: Object.fromEntries([...SAFE, ...off]) }),
    repository,
    prefix: inside === '' ? '' : `${inside}/`,
    settings: [
      ['core.repositoryformatversion', isSha256 || isPartial ? '1' : '0'],
      ...(isSha256 ? [['extensions.objectformat', 'sha256'] as const] : []),
      ...all.filter(([key]) => !NOT_TAKEN.test(key) && !blanked.has(key)),
      ...SAFE,
      ...OWN,
      ['lfs.storage', join(repository.commonDir, 'lfs')],
    ],
    shown: [
      ['core.repositoryformatversion', isSha256 ? '1' : '0'],
      ...(isSha256 ? [['extensions.objectformat', 'sha256'] as const] : []),
      ['core.bare', 'false'],
      ...all.filter(([key]) => SHOWN.test(key)),
    ],
    hooks: named === undefined ? join(repository.commonDir, 'hooks') : await hooksPath(git),
  }
}

/** The folder of hooks from the top of the repository, where it is among the files of the tree; null if it is not. */
export function hooksInTree({ hooks, repository }: Pick<Home, 'hooks' | 'repository'>): string | null {
  const inside = pathWithin(repository.root, hooks)
  return inside === null || inside === '' || inside.startsWith('.git/') ? null : inside
}

/** git itself knows how to read `~` and a relative path there. */
async function hooksPath(git: Git): Promise<string> {
  const args = ['rev-parse', '--path-format=absolute', '--git-path', 'hooks']
  return (await git.run(args)).stdout.toString().trim()
}

/** Throws if the tree uses a filter that would run a file of the tree, or if ralph cannot make slots from the repository. */
export async function refuseUnusable({ git, repository, settings }: Home): Promise<void> {
  const all = await effectiveSettings(git)
  const off = new Set(all.flatMap(([key, value]) => (value === '' ? [key] : [])))
  const names = [...off].flatMap((key) => /^filter\.(.+)\.(?:clean|smudge|process)$/.exec(key)?.[1] ?? [])
  if (names.length > 0) {
    const args = ['grep', '-h', '-o', '-E', 'filter=[^ \t]+', 'HEAD', '--', '*.gitattributes']
    const { stdout } = await git.run(args, { okCodes: [0, 1, 128] })
    const used = new Set(stdout.toString().split('\n'))
    const name = names.find((one) => used.has(`filter=${one}`))
    if (name !== undefined)
      throw new UserError(
        `git's filter ${name} runs a file of the repository, which an agent could change`,
        `Put its program outside of the repository: git config filter.${name}.clean names it.`,
      )
  }
  if (settings.some(([key]) => key === 'extensions.partialclone')) return
  if (existsSync(join(repository.commonDir, 'reftable')))
    throw new UserError('this repository keeps its refs in a reftable', 'git refs migrate --ref-format=files')
}
