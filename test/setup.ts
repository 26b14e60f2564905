import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Builds what the tests run, so that a test never speaks of an older build. */
export function setup(): void {
  if (isBuilt()) return
  execFileSync('npm', ['run', '--silent', 'bundle'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}

/** Whether the build, which writes this schema last, is younger than all that it is made of. */
function isBuilt(): boolean {
  const last = join(root, 'dist/ralph.task.schema.json')
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const paths = ['package.json', 'package-lock.json', ...sources.map((name) => join('src', name))]
  return existsSync(last) && paths.every((path) => changedAt(join(root, path)) < changedAt(last))
}

const changedAt = (path: string): number => statSync(path).mtimeMs
