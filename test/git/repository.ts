import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach } from 'vitest'

const made: string[] = []
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

export const ENV: Readonly<Record<string, string | undefined>> = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
}

/** An empty folder that is gone after the test. */
export function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-test-')))
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

/** Writes files, making their folders. */
export function put(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

/** Bare git, for what a test arranges and for what it looks at. */
export function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    env: ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd()
}
