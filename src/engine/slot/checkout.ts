import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ralphPaths } from '../../base/ralph-folder.ts'
import { Folder, type Snapshot } from './folder.ts'
import type { AsItIs } from './follow.ts'
import type { Home } from './home.ts'

/** The files of the checkout as they are now, taken with an index of ralph's own: the person's own is not touched. */
export async function takeCheckout(
  { git, repository, settings, prefix }: Home,
  beside: string,
): Promise<AsItIs & Snapshot & { readonly folder: Folder }> {
  mkdirSync(beside, { recursive: true })
  const folder = new Folder(
    { git, commonDir: repository.commonDir, settings },
    { files: repository.root, own: join(beside, 'checkout.git') },
  )
  folder.open()
  folder.forget()
  const index = join(repository.gitDir, 'index')
  // It keeps its time: git tells by that which files it has to read again.
  if (existsSync(index)) cpSync(index, folder.index, { preserveTimestamps: true })
  return { ...(await folder.snapshot(ralphPaths(prefix))), index: folder.index, folder }
}
