import { copyFileSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Git } from '../git/git.ts'
import { ignoredPaths } from '../git/repository.ts'

/** What git ignores and a workspace needs. Paths and patterns are relative to the project's root. */
export interface Furniture {
  /** A command that makes a workspace ready; null if there is none. */
  readonly prepare: string | null
  /** The files that the command depends on: it runs again when one of them changes. */
  readonly locks: readonly string[]
  readonly copy: readonly string[]
  readonly link: readonly string[]
}

/** Lists patterns of ignored files, which other tools copy into worktrees too. */
const INCLUDE_FILE = '.worktreeinclude'

/** The ignored files of a project that are copied into each workspace, relative to its root. */
export async function filesToCopy(git: Git, { copy }: Pick<Furniture, 'copy'>): Promise<readonly string[]> {
  const isThere = existsSync(join(git.cwd, INCLUDE_FILE))
  if (copy.length === 0 && !isThere) return []
  const patterns = [...copy.flatMap((pattern) => ['-x', pattern]), ...(isThere ? ['-X', INCLUDE_FILE] : [])]
  const { stdout } = await git.run(['ls-files', '--others', '--ignored', '-z', ...patterns])
  const found = stdout.toString().split('\0').filter(Boolean)
  const ignored = await ignoredPaths(git, found)
  return found.filter((path) => ignored.has(path))
}

/** Copies files from one project's root into another's, overwriting what is there, and links folders. */
export function furnish(
  from: string,
  to: string,
  { copies, links }: { readonly copies: readonly string[]; readonly links: readonly string[] },
): void {
  for (const path of copies) {
    const [source, target] = [join(from, path), join(to, path)]
    if (!lstatSync(source, { throwIfNoEntry: false })?.isFile()) continue
    mkdirSync(dirname(target), { recursive: true })
    rmSync(target, { force: true, recursive: true })
    copyFileSync(source, target)
  }
  for (const path of links) {
    const [source, target] = [join(from, path), join(to, path)]
    if (!existsSync(source)) continue
    if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(target)
    if (existsSync(target)) continue
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(source, target, 'junction')
  }
}

/** The install command for each lock file: the first file that exists counts. */
const LOCKS: readonly (readonly [file: string, command: string])[] = [
  ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
  ['bun.lock', 'bun install --frozen-lockfile'],
  ['bun.lockb', 'bun install --frozen-lockfile'],
  ['yarn.lock', 'yarn install --frozen-lockfile'],
  ['package-lock.json', 'npm ci'],
  ['npm-shrinkwrap.json', 'npm ci'],
  ['uv.lock', 'uv sync'],
  ['poetry.lock', 'poetry install'],
  ['Pipfile.lock', 'pipenv sync --dev'],
  ['Gemfile.lock', 'bundle install'],
  ['composer.lock', 'composer install'],
  ['mix.lock', 'mix deps.get'],
]

/** The commands that make a fresh copy of a project ready, according to its lock files: one command a language. */
export function detectPrepare(root: string): Pick<Furniture, 'prepare' | 'locks'> {
  const found = LOCKS.filter(([file]) => existsSync(join(root, file)))
  const ofNode = found.filter(([, command]) => NODE.test(command))
  const ofPython = found.filter(([, command]) => PYTHON.test(command))
  const others = found.filter((one) => !ofNode.includes(one) && !ofPython.includes(one))
  const taken = [...ofNode.slice(0, 1), ...ofPython.slice(0, 1), ...others]
  if (taken.length === 0) return { prepare: null, locks: [] }
  return { prepare: taken.map(([, command]) => command).join(' && '), locks: taken.map(([file]) => file) }
}

const NODE = /^(?:pnpm|bun|yarn|npm) /
const PYTHON = /^(?:uv|poetry|pipenv) /

/** Every lock file that a configured command may depend on. */
export const LOCK_FILES: readonly string[] = LOCKS.map(([file]) => file)

/** A key that changes when the command, or a file that it depends on, changes. */
export function preparedKey(root: string, { prepare, locks }: Pick<Furniture, 'prepare' | 'locks'>): string {
  const hash = createHash('sha256').update(prepare ?? '')
  for (const file of locks) {
    const path = join(root, file)
    hash.update(`\0${file}\0`).update(existsSync(path) ? readFileSync(path) : '')
  }
  return hash.digest('hex').slice(0, 16)
}
