import { existsSync } from 'node:fs'
import { codeOf, UserError } from '../base/errors.ts'
import { runProgram, type ProgramEnd } from '../process/run.ts'
import { gitEnvironment } from './environment.ts'
import { GitError, type Git, type GitOptions, type GitResult, type GitSurroundings } from './git.ts'

/** Where to open git. */
interface GitFolder {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Opens git to work in a folder, with the person's hooks, filters and signature, and with an environment in which
 * nothing leads to another repository.
 */
export function openGit({ cwd, env }: GitFolder): Git {
  return doorTo(cwd, { env: gitEnvironment(env) })
}

/**
 * Opens git only to read a repository that may be a stranger's: git starts nothing that the repository names. A
 * folder for which that is not possible counts as no repository.
 */
export function openReadingGit({ cwd, env }: GitFolder): Git {
  return readingDoorTo(cwd, {
    env: { ...gitEnvironment(env), ...READING_ENVIRONMENT },
    settings: READING_SETTINGS,
  })
}

function readingDoorTo(cwd: string, surroundings: GitSurroundings): Git {
  const door = doorTo(cwd, surroundings)
  let unfiltered: Promise<Readonly<Record<string, string>>> | undefined
  return {
    ...door,
    isReading: true,
    async run(args, options = {}) {
      // Of the commands that only read, just these compare files with an index, and may run a filter for that.
      if (args[0] !== 'status' && args[0] !== 'add') return door.run(args, options)
      unfiltered ??= withoutFilters(door)
      return door.run(args, { ...options, env: { ...options.env, ...(await unfiltered) } })
    },
    at: (folder) => readingDoorTo(folder, surroundings),
    with: (more) => readingDoorTo(cwd, added(surroundings, more)),
  }
}

/** A folder of the repository could be a bare repository with its own settings, which a clone would not show. */
const READING_SETTINGS = {
  'safe.bareRepository': 'explicit',
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.pager': 'cat',
  'commit.gpgSign': 'false',
  'log.showSignature': 'false',
}

/** Refreshes no index, and fetches no missing object. */
const READING_ENVIRONMENT = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
}

/** Switches each filter off by its name, the only way to do it. Uses the environment, as a name may hold any character. */
async function withoutFilters(door: Git): Promise<Readonly<Record<string, string>>> {
  const query = ['config', '--name-only', '-z', '--get-regexp', '^filter\\.']
  const { stdout } = await door.run(query, { okCodes: [0, 1, 128] })
  const keys = [...new Set(stdout.toString().split('\0').filter(Boolean))]
  const first = Number(door.env['GIT_CONFIG_COUNT'] ?? 0) || 0
  const entries = keys.flatMap((key, index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, key.endsWith('.required') ? 'false' : ''],
  ])
  return { ...Object.fromEntries(entries), GIT_CONFIG_COUNT: String(first + keys.length) }
}

function doorTo(cwd: string, surroundings: GitSurroundings): Git {
  const { env = {}, settings = {} } = surroundings
  const before = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return {
    cwd,
    env,
    isReading: false,
    run: (args, options = {}) => execute({ cwd, env, args: [...before, ...args], options }),
    at: (folder) => doorTo(folder, surroundings),
    with: (more) => doorTo(cwd, added(surroundings, more)),
  }
}

function added({ env, settings }: GitSurroundings, more: GitSurroundings): GitSurroundings {
  return { env: { ...env, ...more.env }, settings: { ...settings, ...more.settings } }
}

interface Command {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  readonly options: GitOptions
}

async function execute(command: Command): Promise<GitResult> {
  const { cwd, env, args, options } = command
  const { stdin, onOutput, signal, okCodes = [0] } = options
  signal?.throwIfAborted()
  // Without this git writes each commit of a log separately, and wakes the reader of the pipe for each.
  const all = { ...env, GIT_FLUSH: '0', ...options.env }
  const run = { program: 'git', args, cwd, env: all, stdin, onOutput, signal }
  const { code, stdout, stderr } = await ended(cwd, run)
  signal?.throwIfAborted()
  const complaint = stderr.toString()
  if (code === null || !okCodes.includes(code)) throw new GitError(args, code, complaint)
  return { code, stdout, stderr: complaint }
}

async function ended(cwd: string, run: Parameters<typeof runProgram>[0]): Promise<ProgramEnd> {
  try {
    return await runProgram(run)
  } catch (error) {
    // The system reports the same code for a missing program and a missing folder.
    if (codeOf(error) === 'ENOENT' && existsSync(cwd))
      throw new UserError('git was not found', 'Install git, or put it on PATH.')
    throw error
  }
}
