import { GitError as SimpleGitError, simpleGit, type SimpleGit } from 'simple-git'
import { findOnPath } from '../process/program.ts'
import type { Git } from './git.ts'

/** Pushes the branch that is checked out to its usual place and returns its name, or git's message. */
export async function pushBranch(
  git: Git,
): Promise<{ readonly branch: string } | { readonly problem: string }> {
  const door = openSimple(git)
  try {
    await door.push()
    return { branch: (await door.branchLocal()).current }
  } catch (error) {
    if (error instanceof SimpleGitError) return { problem: withoutHints(error.message) || 'git push failed' }
    throw error
  }
}

/** Variables with which the person says how to reach a remote; simple-git wants each to be allowed. */
const REACH = new Set(['GIT_SSH_COMMAND', 'GIT_SSH', 'GIT_ASKPASS', 'SSH_ASKPASS'])

function openSimple({ cwd, env }: Git): SimpleGit {
  const allowed = Object.fromEntries(
    Object.entries(env).filter(([name]) => !OWN.test(name) || REACH.has(name) || CONFIGURED.test(name)),
  )
  return simpleGit({
    baseDir: cwd,
    allowEnvironment: Object.keys(allowed),
    binary: findOnPath('git', env) ?? 'git',
    unsafe: {
      allowUnsafeCustomBinary: true,
      allowUnsafeSshCommand: true,
      allowUnsafeAskPass: true,
      allowUnsafeConfigEnvCount: true,
      allowUnsafeConfigPaths: true,
    },
  }).env(allowed)
}

/** Editors and pagers are for a person; of git's own variables only those for remotes and settings are needed. */
const OWN = /^(?:GIT_|EDITOR$|VISUAL$|PAGER$)/
const CONFIGURED = /^GIT_(?:CONFIG_|TERMINAL_PROMPT$)/

/** Removes git's hints, which are longer than its message. */
function withoutHints(text: string): string {
  const lines = text.split('\n').filter((line) => !line.startsWith('hint:'))
  return lines.join('\n').trim()
}
