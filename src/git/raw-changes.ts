import type { Git } from './git.ts'

/** A path that differs between two trees, with the modes and objects of both, as git writes them. */
export interface RawChange {
  readonly path: string
  readonly kind: 'new' | 'changed' | 'gone'
  readonly was: { readonly mode: string; readonly hash: string }
  readonly is: { readonly mode: string; readonly hash: string }
}

/** The mode of nothing, of a submodule and of a link. */
export const MODES = { none: '000000', submodule: '160000', link: '120000' } as const

/** The differences between two trees or commits; a rename is one path that is gone and another that is new. */
export async function rawChanges(
  git: Git,
  from: string,
  to: string,
  paths: readonly string[] = [],
): Promise<readonly RawChange[]> {
  const args = ['diff-tree', '-r', '--raw', '--no-renames', '--no-abbrev', '-z', from, to]
  const { stdout } = await git.run([...args, ...(paths.length === 0 ? [] : ['--', ...paths])])
  const records = stdout.toString().split('\0')
  const found: RawChange[] = []
  for (let at = 0; at + 1 < records.length; at += 2) {
    const [before = '', mode = '', old = '', hash = ''] = records[at]!.slice(1).split(' ')
    const kind = before === MODES.none ? 'new' : mode === MODES.none ? 'gone' : 'changed'
    found.push({ path: records[at + 1]!, kind, was: { mode: before, hash: old }, is: { mode, hash } })
  }
  return found
}
