import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { git, put } from './bare-git.ts'

export { ENV, git, put } from './bare-git.ts'

const made: string[] = []
afterEach(() => {
  for (const folder of made.splice(0).flatMap((one) => [one, `${one}.own`]))
    rmSync(folder, { recursive: true, force: true })
})

/** An empty folder that is gone after the test. */
export function makeFolder(): string {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'ralph-test-')))
  made.push(folder)
  return folder
}

/** A repository with these files in its first commit. */
export function makeRepository(
  files: Readonly<Record<string, string>> = { 'README.md': '# shop\n' },
): string {
  const root = makeFolder()
  git(root, 'init', '-q', '-b', 'main')
  git(root, 'config', 'user.name', 'Ada')
  git(root, 'config', 'user.email', 'ada@example.com')
  if (Object.keys(files).length === 0) return root
  put(root, files)
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '-m', 'Begin')
  return root
}
