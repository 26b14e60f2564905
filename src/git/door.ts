import { simpleGit } from 'simple-git'
import type { SimpleGitOptions } from 'simple-git'
import { UserError } from '../base/errors.ts'
import { gitEnvironment } from './environment.ts'
import { GitError } from './git.ts'
import type { Git, GitOptions, GitResult } from './git.ts'

/** Opens git in a folder, with an environment in which nothing points at another repository. */
export function openGit(where: { readonly cwd: string; readonly env: Environment }): Git {
  const env = gitEnvironment(where.env)
  return {
    cwd: where.cwd,
    run(args, options = {}) {
      // Else git writes each commit by itself, and a reader at the other end of a pipe wakes up for each.
      const quick = isReader(args) ? { GIT_FLUSH: '0' } : {}
      return execute({ cwd: where.cwd, env: { ...env, ...quick, ...options.env }, args, options })
    },
  }
}

type Environment = Readonly<Record<string, string | undefined>>

interface Command {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  readonly options: GitOptions
}

/** What simple-git knows when a command has ended; it hands it to its `errors` hook and to nobody else. */
interface Ended {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
}

async function execute(command: Command): Promise<GitResult> {
  const { args, options } = command
  options.signal?.throwIfAborted()
  let ended: Ended | undefined
  const door = simpleGit({
    ...doorOptions(command),
    // Names need not be UTF-8, so the bytes are taken here; of what is left to simple-git it makes another copy, and text.
    errors(_failure, result) {
      ended = {
        code: result.exitCode,
        stdout: Buffer.concat(result.stdOut.splice(0)),
        stderr: Buffer.concat(result.stdErr).toString(),
      }
      return undefined
    },
  })
  // When these are closed no more can come, yet for those that print nothing simple-git would wait 50 ms more.
  if (isReader(args)) door.outputHandler((_, stdout) => queueMicrotask(() => stdout.emit('data', NOTHING)))
  try {
    await door.env(command.env).raw([...args])
  } catch (error) {
    options.signal?.throwIfAborted()
    throw error
  }
  options.signal?.throwIfAborted()
  return resultOf(command, ended)
}

const NOTHING = Buffer.alloc(0)

/**
 * simple-git guards against arguments and variables that come from a stranger. Here the arguments are
 * ralph's own and the environment is the person's, so what it would refuse is let through. A command that
 * prints nothing costs 50 ms more in simple-git, unless it is a reader: on the way of every task, ask for a form that prints.
 */
function doorOptions({ cwd, env, args, options }: Command): Partial<SimpleGitOptions> {
  return {
    baseDir: cwd,
    ...(isReader(args) ? { completion: { onClose: true, onExit: false } } : {}),
    allowEnvironment: Object.keys(env),
    input: () => (typeof options.stdin === 'string' ? options.stdin : Buffer.from(options.stdin ?? [])),
    ...(options.signal ? { abort: options.signal } : {}),
    unsafe: {
      // Without it simple-git sets a variable that makes abbreviated options fail, also in people's hooks.
      allowAbbreviatedOptions: true,
      allowUnsafeAskPass: true,
      allowUnsafeConfigEnvCount: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeCredentialHelper: true,
      allowUnsafeDiffExternal: true,
      allowUnsafeEditor: true,
      allowUnsafeExec: true,
      allowUnsafeFilter: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeGitProxy: true,
      allowUnsafeGpgProgram: true,
      allowUnsafeHooksPath: true,
      allowUnsafeInclude: true,
      allowUnsafeMergeDriver: true,
      allowUnsafePack: true,
      allowUnsafePager: true,
      allowUnsafeProtocolOverride: true,
      allowUnsafeSshCommand: true,
      allowUnsafeSubmodule: true,
      allowUnsafeTemplateDir: true,
      allowUnsafeUrlRewrite: true,
    },
  }
}

/**
 * These start no hook, nor anything else that lives on and holds their output open. The others are given 50 ms after
 * their exit, by a timer that also keeps ralph itself from ending sooner.
 */
const READERS = new Set([
  'cat-file',
  'check-ignore',
  'diff-tree',
  'for-each-ref',
  'log',
  'ls-tree',
  'merge-base',
  'rev-list',
  'rev-parse',
  'var',
])

function isReader([name = '']: readonly string[]): boolean {
  return READERS.has(name)
}

function resultOf({ args, options }: Command, ended: Ended | undefined): GitResult {
  if (!ended) throw new Error(`git ${args.join(' ')} ended without a result`)
  if (/\bspawn git ENOENT\b/.test(ended.stderr))
    throw new UserError('git was not found', 'Install git, or put it on PATH.')
  if (!(options.okCodes ?? [0]).includes(ended.code))
    throw new GitError(args, ended.code < 0 ? null : ended.code, ended.stderr)
  return { code: ended.code, stdout: ended.stdout, stderr: ended.stderr }
}
