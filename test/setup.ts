import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Builds what the tests run, so that a test never speaks of an older build. */
export function setup(): void {
  const root = fileURLToPath(new URL('..', import.meta.url))
  execFileSync('npm', ['run', '--silent', 'bundle'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}
