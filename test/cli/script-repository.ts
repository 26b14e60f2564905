import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder, taskText } from './project-folder.ts'
import { ralph, type Answer } from './ralph.ts'

const GIT = {
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.com',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@example.com',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
}
/** Of the machine only PATH, and an identity. */
export const env = {
  PATH: process.env['PATH'] ?? '',
  XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] ?? '',
  RALPH_SANDBOX: 'off',
  ...GIT,
}

/** What git prints. */
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, env, encoding: 'utf8' }).trim()

/** A repository whose tasks carry their own scripts. */
export function repository(scripts: Readonly<Record<string, string>>, config: object = {}): string {
  const tasks = Object.entries(scripts).map(([id, script]) => [
    `docs/tasks/${id}.md`,
    `${taskText(id, `Do ${id}`)}\n## Script\n\n\`\`\`sh\n${script}\n\`\`\`\n`,
  ])
  const cwd = projectFolder({
    ...Object.fromEntries(tasks),
    'ralph.config.json': JSON.stringify({ commit: { seal: false }, gates: [], ...config }),
  })
  git(cwd, 'init', '--quiet', '--initial-branch=main')
  git(cwd, 'add', '--all')
  git(cwd, 'commit', '--quiet', '--message=Begin')
  return cwd
}

/** A shell command that an agent waits in until a test lets it go on. */
export function barrier(): { readonly waits: string; readonly letGo: () => void } {
  // Outside of the checkout: a slot has files of its own.
  const file = join(projectFolder({}), 'go')
  return {
    waits: `until [ -e '${file}' ]; do sleep 0.05; done`,
    letGo: () => writeFileSync(file, ''),
  }
}

/** Runs it on the embedded agent. */
export const run = (cwd: string, ...argv: string[]): Promise<Answer> =>
  ralph(['run', '--agent', 'script', '--baseline', 'off', ...argv], { cwd, env })
