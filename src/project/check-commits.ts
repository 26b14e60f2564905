import { checkWork } from '../attempt/check.ts'
import { Control } from '../run/control.ts'
import { attemptPorts } from '../run/job-ports.ts'
import { announced } from '../run/prepare.ts'
import { Agents } from './agents.ts'
import type { Place, Where } from './project.ts'
import { takeWorkspaces, type CommitWorkspace } from './commit-workspaces.ts'
import { NO_WISH, runOptions } from './run-options.ts'
import { openSandbox, sandboxMode } from './sandbox.ts'
import type { World } from './world.ts'

/** The result of the gates on a commit. */
export interface CommitCheck {
  readonly commit: string
  /** The names of the gates that passed. */
  readonly passed: readonly string[]
  /** Why it is not green; null if it is. */
  readonly problem: string | null
}

/** Runs on each commit the gates of its own configuration, each commit in a workspace, several at once. */
export async function checkCommits(
  world: World,
  request: {
    readonly where: Where
    readonly place: Place
    readonly commits: readonly { readonly commit: string; readonly id: string }[]
    readonly jobs: number
  },
  onChecked: (check: CommitCheck) => Promise<void>,
): Promise<readonly CommitCheck[]> {
  const { where, place, commits, jobs } = request
  const count = Math.min(jobs, commits.length)
  if (count === 0) return []
  const { workspaces, release } = await takeWorkspaces(world, { where, place, count })
  const control = new Control().obey(world.signal, world.urgent)
  const left = [...commits]
  const checks: CommitCheck[] = []
  const work = async (workspace: CommitWorkspace): Promise<void> => {
    for (let next = left.shift(); next && !control.isStopping; next = left.shift()) {
      const check = await checkCommit(next, { world, workspace, control })
      checks.push(check)
      await onChecked(check)
    }
  }
  try {
    await Promise.all(workspaces.map(work))
    return checks
  } finally {
    release()
  }
}

/** Ignores the single events. */
const unheard = (): void => undefined

async function checkCommit(
  { commit, id }: { readonly commit: string; readonly id: string },
  {
    world: outer,
    workspace,
    control,
  }: {
    readonly world: World
    readonly workspace: CommitWorkspace
    readonly control: Control
  },
): Promise<CommitCheck> {
  // Each workspace would listen for Ctrl-C itself: the control does so for all.
  const world: World = Object.create(outer, {
    signal: { value: control.signal },
    urgent: { value: control.killSignal },
  })
  const base = { head: commit, branch: 'ralph-verify' }
  const furnished = await workspace.bring(base, unheard)
  const { own, project } = furnished
  const mode = sandboxMode(null, { env: world.env, config: project.config })
  const sandbox = await openSandbox(mode, { env: world.env, root: own.root, config: project.config })
  const agents = new Agents(world, NO_WISH, { ...project, isCaged: sandbox.state.on })
  const { gates } = runOptions(NO_WISH, project)
  if (gates.length === 0) return { commit, passed: [], problem: 'its configuration has no gates' }
  const result = await workspace.within(
    furnished,
    { world, base, agents, sandbox, control, emit: unheard },
    async (ports) => {
      const attempt = attemptPorts(ports, id)
      const { outcome, passed } = await checkWork(
        {
          id,
          attempt: 0,
          gates,
          work: await own.workspace.inspect.work(base),
          written: [],
          produced: announced(project.tasks),
          objection: async () => null,
        },
        attempt,
        unheard,
      )
      return { commit, passed, problem: outcome?.reason ?? null }
    },
  )
  return 'commit' in result ? result : { commit, passed: [], problem: result.problem }
}
