import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openGit } from '../src/git/door.ts'
import type { Git } from '../src/git/git.ts'

/** The program as it is built. */
export const PROGRAM = fileURLToPath(new URL('../dist/bin.cjs', import.meta.url))

type Files = Readonly<Record<string, string | Uint8Array>>

const GIT = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }

/** The environment of this machine, without what a person has set for their own git. */
export const ENV: Readonly<Record<string, string | undefined>> = { ...process.env, ...GIT }

/** Of this machine only PATH and the folder for slots, and an identity: what the whole program is started with. */
export const env = {
  ...GIT,
  PATH: process.env['PATH'] ?? '',
  XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? '',
  RALPH_SANDBOX: 'off',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.com',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@example.com',
}

/** Bare git, for what a test arranges and for what it looks at. */
export function git(cwd: string, ...args: readonly string[]): string {
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  return execFileSync('git', args, { cwd, encoding: 'utf8', env: ENV, stdio: [...stdio] }).trimEnd()
}

/** ralph's own git in a folder. */
export const doorOf = (cwd: string): Git => openGit({ cwd, env: ENV })

/** Writes files, making their folders; what begins like a script can be run. */
export function put(root: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
    if (typeof content === 'string' && content.startsWith('#!')) chmodSync(join(root, path), 0o755)
  }
}

/** Commits everything that is there. */
export function commit(root: string, message: string, files: Files = {}): string {
  put(root, files)
  git(root, 'add', '--all')
  // git packs a large repository after this, and must have ended when somebody copies it.
  git(root, '-c', 'gc.autoDetach=false', 'commit', '--quiet', '--no-verify', '--message', message)
  return git(root, 'rev-parse', 'HEAD')
}

/** An empty folder; all of them are gone when the tests are over. */
export function makeFolder(): string {
  return realpathSync.native(mkdtempSync(join(tmpdir(), 'ralph-test-')))
}

/** A project that is no repository. */
export function projectFolder(files: Files): string {
  const root = makeFolder()
  put(root, { 'package.json': '{}', ...files })
  return root
}

/** A task file of the ordinary style. */
export function taskText(id: string, title: string, fields: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ Status: 'TODO', Depends: 'none', ...fields }).map(
    ([key, value]) => `- **${key}**: ${value}`,
  )
  return `# ${id}: ${title}\n\n${lines.join('\n')}\n\n## Description\n\nDo it.\n\n## Acceptance Criteria\n\n- [ ] It is done\n`
}

/** A repository with these files in its first commit; without files it has none. */
export function makeRepository(
  files: Files = { 'README.md': '# shop\n' },
  objectFormat: 'sha1' | 'sha256' = 'sha1',
): string {
  const root = makeFolder()
  cpSync(templateOf(files, objectFormat), root, { recursive: true })
  return root
}

/** The repositories that were made, by what is in them: to copy one takes less time than git to make it. */
const templates = new Map<string, string>()

function templateOf(files: Files, objectFormat: string): string {
  const key = JSON.stringify([files, objectFormat])
  const known = templates.get(key)
  if (known !== undefined) return known
  const template = makeFolder()
  git(template, 'init', '--quiet', '--template=', '--initial-branch=main', `--object-format=${objectFormat}`)
  put(template, { '.git/hooks/.keep': '', '.git/info/exclude': '' })
  git(template, 'config', 'user.name', 'Ada')
  git(template, 'config', 'user.email', 'ada@example.com')
  if (Object.keys(files).length > 0) commit(template, 'Begin', files)
  templates.set(key, template)
  return template
}
