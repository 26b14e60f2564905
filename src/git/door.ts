import { existsSync } from 'node:fs'
import { UserError } from '../base/errors.ts'
import { runProgram, type ProgramEnd } from '../process/run.ts'
import { gitEnvironment } from './environment.ts'
import { GitError, type Git, type GitOptions, type GitResult, type GitSurroundings } from './git.ts'

/** Opens git in a folder, with an environment in which nothing points at another repository. */
export function openGit(where: {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}): Git {
  return doorTo(where.cwd, { env: gitEnvironment(where.env) })
}

function doorTo(cwd: string, surroundings: GitSurroundings): Git {
  const { env = {}, settings = {} } = surroundings
  const before = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return {
    cwd,
    env,
    run: (args, options = {}) => execute({ cwd, env, args: [...before, ...args], options }),
    with: (more) =>
      doorTo(cwd, { env: { ...env, ...more.env }, settings: { ...settings, ...more.settings } }),
  }
}

interface Command {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  readonly options: GitOptions
}

async function execute(command: Command): Promise<GitResult> {
  const { cwd, env, args, options } = command
  const { stdin, signal, okCodes = [0] } = options
  signal?.throwIfAborted()
  // Without this git writes each commit of a log by itself, and a reader at the other end of a pipe wakes up for each.
  const all = { ...env, GIT_FLUSH: '0', ...options.env }
  const { code, stdout, stderr } = await ended(cwd, { program: 'git', args, cwd, env: all, stdin, signal })
  signal?.throwIfAborted()
  const complaint = stderr.toString()
  if (code === null || !okCodes.includes(code)) throw new GitError(args, code, complaint)
  return { code, stdout, stderr: complaint }
}

async function ended(cwd: string, run: Parameters<typeof runProgram>[0]): Promise<ProgramEnd> {
  try {
    return await runProgram(run)
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    // The system gives one code for a program and for a folder that is not there.
    if (isMissing && existsSync(cwd))
      throw new UserError('git was not found', 'Install git, or put it on PATH.')
    throw error
  }
}
