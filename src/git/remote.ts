import { GitError as SimpleGitError, simpleGit, type SimpleGit } from 'simple-git'
import { findOnPath } from '../process/program.ts'
import type { Git } from './git.ts'

/** Pushes the branch that is checked out to where it usually goes; its name, or what git said. */
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

/** What the person's own environment may say of how a remote is reached; simple-git wants to be told that it may. */
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

/** Editors and pagers are for a person; of git's own variables only those that lead to a remote, or to a setting, matter. */
const OWN = /^(?:GIT_|EDITOR$|VISUAL$|PAGER$)/
const CONFIGURED = /^GIT_(?:CONFIG_|TERMINAL_PROMPT$)/

/** What git adds to teach beginners is longer than what it has to say. */
function withoutHints(text: string): string {
  const lines = text.split('\n').filter((line) => !line.startsWith('hint:'))
  return lines.join('\n').trim()
}
