import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Git } from './git.ts'
import type { Repository } from './repository.ts'

/** Settings of a repository, in the order in which git reads them: `remote.origin.url` and its value. */
export type RepositorySettings = readonly (readonly [key: string, value: string])[]

/** The repository's own settings, with those that it includes. */
export async function readSettingsOf(git: Git): Promise<RepositorySettings> {
  const { stdout } = await git.run(['config', '--list', '--local', '--includes', '-z'], { okCodes: [0, 1] })
  const own = entriesIn(stdout.toString())
  if (!own.some(([key, value]) => key === 'extensions.worktreeconfig' && value === 'true')) return own
  const more = await git.run(['config', '--list', '--worktree', '-z'], { okCodes: [0, 1] })
  return [...own, ...entriesIn(more.stdout.toString())]
}

function entriesIn(output: string): RepositorySettings {
  return output
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const end = entry.indexOf('\n')
      return end < 0 ? ([entry, 'true'] as const) : ([entry.slice(0, end), entry.slice(end + 1)] as const)
    })
}

/** Settings on how the checkout itself is stored, which in a clone would be wrong or lead back to it. */
const NOT_LENT =
  /^(?:core\.(?:repositoryformatversion|bare|worktree|hookspath|fsmonitor|untrackedcache|sparsecheckout.*|splitindex)|index\..*|extensions\..*|include.*|gc\..*|maintenance\..*|fetch\.writecommitgraph|submodule\..*)$/i

/** The configuration of a clone that borrows a repository's objects, hooks and large files. */
export function configText(
  settings: RepositorySettings,
  lender: Pick<Repository, 'commonDir' | 'objectFormat'> & { readonly hooks: string },
): string {
  const isSha256 = lender.objectFormat === 'sha256'
  const large = join(lender.commonDir, 'lfs')
  const all: RepositorySettings = [
    ['core.repositoryformatversion', isSha256 ? '1' : '0'],
    ...(isSha256 ? [['extensions.objectformat', 'sha256'] as const] : []),
    ['core.bare', 'false'],
    ...settings.filter(([key]) => !NOT_LENT.test(key)),
    // git silently skips a hook that it does not find.
    ['core.hooksPath', lender.hooks],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ...(existsSync(large) ? [['lfs.storage', large] as const] : []),
  ]
  return all.map(([key, value]) => settingText(key, value)).join('')
}

/** Each setting has its own heading, which keeps their order. */
function settingText(key: string, value: string): string {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')]
  const [section, name] = [key.slice(0, first), key.slice(last + 1)]
  const sub = first === last ? '' : ` "${escaped(key.slice(first + 1, last))}"`
  const text = escaped(value).replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\b', '\\b')
  return `[${section}${sub}]\n\t${name} = "${text}"\n`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')
}
