import { UserError } from '../base/errors.ts'
import type { World } from '../base/world.ts'
import type { Bridge } from '../backlog/formats.ts'
import { readOrigin } from '../backlog/origin.ts'
import type { Task } from '../backlog/model.ts'
import { isObject } from '../base/text.ts'
import { runProgram } from '../process/run.ts'

/** The issues of a repository, as `ralph import` names them. */
export function isGithub(path: string): boolean {
  return path.startsWith('github:')
}

const MOST_ISSUES = 1000
const PATIENCE_MS = 120_000

/** The open issues with a label, as the gh program prints them. Only who may triage a repository can give labels. */
export async function readIssues(
  world: Pick<World, 'cwd' | 'env'>,
  path: string,
  label: string | undefined,
): Promise<string> {
  const name = /^github:([\w-]+\/[\w.-]+)$/.exec(path)?.[1]
  if (name === undefined)
    throw new UserError(
      `${path} is no repository of GitHub`,
      'Write ralph import github:owner/repo --label agent',
    )
  if (label === undefined)
    throw new UserError(
      'issues are only imported by label: anybody may open one, and an agent would work on it',
      `ralph import ${path} --label agent`,
    )
  const { text, problem } = await gh(world, [
    'issue',
    'list',
    `--repo=${name}`,
    `--label=${label}`,
    '--state=open',
    `--limit=${MOST_ISSUES + 1}`,
    '--json=number,title,body,labels,milestone,state,stateReason',
  ])
  const issues = problem === null ? listIn(text) : null
  if (issues === null)
    throw new UserError(
      `gh cannot list the issues of ${name}: ${problem ?? 'it printed no JSON'}`,
      stepAfter(problem ?? ''),
    )
  if (issues.length > MOST_ISSUES)
    throw new UserError(
      `more than ${MOST_ISSUES} open issues of ${name} have the label ${label}`,
      'Give another label to those that an agent is to do.',
    )
  return text
}

function stepAfter(problem: string): string {
  if (problem === NO_GH) return 'Install it from https://cli.github.com, and log in: gh auth login'
  return /gh auth login|HTTP 401/.test(problem)
    ? 'Log in: gh auth login'
    : 'gh auth status shows who you are there. Check the name of the repository, too.'
}

const NO_GH = 'there is no program gh'

function listIn(text: string): readonly unknown[] | null {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** Closes the issue that a finished task came from, if it is kept in sync. Returns why it could not be closed. */
export async function closeIssue(
  world: Pick<World, 'cwd' | 'env'>,
  bridges: readonly Bridge[],
  task: Pick<Task, 'id' | 'origin'>,
): Promise<string | null> {
  const origin = readOrigin(task.origin)
  const isSynced = bridges.some(({ path, sync }) => sync && isGithub(path) && path === origin?.path)
  if (!origin || !isSynced || !/^\d+$/.test(origin.key)) return null
  return close(world, origin.path, { id: task.id, key: origin.key })
}

/**
 * Closes the issues of DONE tasks that are still open, as after a kill; not those that a person has opened again. Returns a
 * sentence about each.
 */
export async function closeDone(
  world: Pick<World, 'cwd' | 'env'>,
  { path, issues }: { path: string; issues: string },
  done: readonly Imported[],
): Promise<readonly string[]> {
  const said: string[] = []
  for (const issue of listIn(issues) ?? []) {
    const task = isObject(issue) && done.find(({ key }) => key === String(issue['number']))
    if (!task) continue
    const isAgain = issue['stateReason'] === 'REOPENED'
    const { id, key } = task
    said.push(
      isAgain
        ? `issue ${key} was opened again, and ${id} is DONE: ralph reopen ${id} "why"`
        : ((await close(world, path, task)) ?? `closed issue ${key}: ${id} is DONE`),
    )
  }
  return said
}

/** A task, and the number of its issue. */
interface Imported {
  readonly id: string
  readonly key: string
}

async function close(world: Pick<World, 'cwd' | 'env'>, path: string, { id, key }: Imported) {
  const name = path.slice('github:'.length)
  const { problem } = await gh(world, ['issue', 'close', key, `--repo=${name}`, '--reason=completed'])
  if (problem === null) return null
  return `${id} is done, and issue ${key} is still open: ${problem}. Close it: gh issue close ${key} --repo ${name}`
}

/** Runs gh without questions; the problem is the first line of what it complains about. */
async function gh({ cwd, env }: Pick<World, 'cwd' | 'env'>, args: readonly string[]) {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  try {
    const { code, stdout, stderr } = await runProgram({
      program: 'gh',
      args,
      cwd,
      env: { ...env, GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' },
      signal,
    })
    const [complaint = ''] = stderr.toString().trim().split('\n')
    const failed = signal.aborted
      ? 'it did not answer within two minutes'
      : complaint || `it exited with ${code}`
    return { text: stdout.toString(), problem: code === 0 ? null : failed }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return { text: '', problem: NO_GH }
  }
}
