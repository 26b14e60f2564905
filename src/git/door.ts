import { existsSync } from 'node:fs'
import { UserError, codeOf } from '../base/errors.ts'
import { type ProgramEnd, runProgram } from '../process/run.ts'
import { type Git, GitError, type GitOptions, type GitResult, type GitSurroundings } from './git.ts'

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

/**
 * The person's environment for git: without variables that lead to another repository, index or configuration (as
 * when a hook starts ralph), in plain English, and with nothing that waits for a person.
 */
function gitEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const clean: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !MISLEADING.has(name)) clean[name] = value
  }
  // LC_ALL would win over LC_MESSAGES; hooks keep the person's character set.
  if (env['LC_ALL']) clean['LC_CTYPE'] = env['LC_ALL']
  return { ...clean, LC_MESSAGES: 'C', GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'true' }
}

/** `git rev-parse --local-env-vars`, what changes how a path is read, and what hides the language. */
const MISLEADING = new Set([
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_CONFIG',
  'GIT_OBJECT_DIRECTORY',
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_GRAFT_FILE',
  'GIT_INDEX_FILE',
  'GIT_INDEX_VERSION',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_REPLACE_REF_BASE',
  'GIT_PREFIX',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_SHALLOW_FILE',
  'GIT_COMMON_DIR',
  'GIT_NAMESPACE',
  'GIT_QUARANTINE_PATH',
  'GIT_LITERAL_PATHSPECS',
  'GIT_GLOB_PATHSPECS',
  'GIT_NOGLOB_PATHSPECS',
  'GIT_ICASE_PATHSPECS',
  'GIT_EXTERNAL_DIFF',
  'GIT_DIFF_OPTS',
  'GIT_REFLOG_ACTION',
  'GIT_DEFAULT_HASH',
  'GIT_TRACE',
  'GIT_OPTIONAL_LOCKS',
  'LC_ALL',
  'LANGUAGE',
])
