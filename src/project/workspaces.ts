import { join } from 'node:path'
import { UserError } from '../base/errors.ts'
import type { Git } from '../git/git.ts'
import { tipOf } from '../git/head.ts'
import type { Repository } from '../git/repository.ts'
import type { Sealer } from '../git/seal/sealer.ts'
import { openTaskFolder } from '../run/source.ts'
import type { RunPorts, Workspaces } from '../run/ports.ts'
import { refuseUnlendable, type Lender } from '../workspace/clone.ts'
import { releaseDeadLock } from '../workspace/follow.ts'
import { detectPrepare, LOCK_FILES, type Furniture } from '../workspace/furnish.ts'
import { OwnWorkspace, workspacesFolder } from '../workspace/own.ts'
import type { Workspace } from '../workspace/port.ts'
import { openTrunk } from '../workspace/trunk.ts'
import type { Remote } from '../worker/remote.ts'
import { sharedTrunk } from '../worker/trunk.ts'
import type { WorkspaceConfig } from './config/defaults.ts'
import { openOrigins } from './origins.ts'
import type { Place } from './project.ts'
import type { SandboxedPlace } from './sandbox.ts'

/** What starts processes in a workspace. */
export type ProcessPorts = Pick<
  RunPorts,
  'agent' | 'runGate' | 'runGateUncaged' | 'runPrepare' | 'missingProgram'
>

/** What connects workspaces with the rest. */
interface Wiring {
  /** Runs at the top of the checkout. */
  readonly git: Git
  readonly repository: Repository
  readonly home: Workspace
  readonly env: RunPorts['env']
  readonly sealer: (git: Git) => Sealer | null
  readonly promptIn: (root: string) => RunPorts['prompt']
  /** The processes' starters for a workspace. */
  readonly startsIn: (place: SandboxedPlace) => Promise<ProcessPorts>
  readonly checkpoint: RunPorts['checkpoint']
  /** The folder whose lock files decide how a workspace is prepared; by default the checkout. */
  readonly furnishedAs?: string | undefined
  /** The remote that is landed on too; null for the checkout alone. */
  readonly remote?: Remote | null
}

/** The workspaces of a checkout, as configured. */
export function workspacesOf(place: Place, wiring: Wiring): Workspaces {
  const { root, config } = place
  const { git, repository, home, env, checkpoint } = wiring
  const checkout = { git, repository }
  const lender: Lender = { git, repository, prefix: home.prefix }
  const furniture = furnitureOf(wiring.furnishedAs ?? root, config.workspace)
  const folder = (): string =>
    workspacesFolder({ root, top: repository.root }, { dir: config.workspace.dir, env })
  const known = new Map<number, OwnWorkspace>()
  const own = (number: number): OwnWorkspace => {
    const made =
      known.get(number) ??
      new OwnWorkspace(number, { lender, home, folder: folder(), furniture, env, checkpoint })
    known.set(number, made)
    return made
  }
  return {
    folder,
    furniture,
    own,
    async portsIn(one) {
      const gitDir = join(one.top, '.git')
      const started = await wiring.startsIn({
        root: one.root,
        repository: { root: one.top, gitDir, commonDir: gitDir },
        git: one.git,
        isOwn: true,
        borrowed: [join(repository.commonDir, 'objects'), ...furniture.link.map((path) => join(root, path))],
      })
      return {
        ...started,
        prompt: wiring.promptIn(one.root),
        sealer: wiring.sealer(one.git),
        origins: await openOrigins(config.bridges, one.root),
      }
    },
    sourceIn: (one) => openTaskFolder({ ...place, root: one.root }),
    trunk(on) {
      const trunk = openTrunk(checkout, own(0), on)
      return wiring.remote ? sharedTrunk(trunk, wiring.remote) : trunk
    },
    async finish(move) {
      releaseDeadLock(repository)
      if (move) await openTrunk(checkout, own(0), { branch: move.branch, note: () => undefined }).finish(move)
    },
    prepareBranch: (branch) => prepareBranch(git, branch),
    refuseUnlendable: () => refuseUnlendable(lender),
  }
}

/** What each workspace gets: from the configuration, else from the lock files. */
export function furnitureOf(root: string, { prepare, copy, link }: WorkspaceConfig): Furniture {
  if (prepare === null) return { ...detectPrepare(root), copy, link }
  return { prepare: prepare.trim() === '' ? null : prepare, locks: LOCK_FILES, copy, link }
}

async function prepareBranch(git: Git, branch: string): Promise<string | null> {
  const { stdout } = await git.run(['worktree', 'list', '--porcelain', '-z'])
  if (stdout.toString().split('\0').includes(`branch refs/heads/${branch}`))
    return `${branch} is checked out: leave --branch out, and the tasks land there`
  if ((await tipOf(git, branch)) !== null) return null
  const valid = await git.run(['check-ref-format', '--branch', branch], { okCodes: [0, 1, 128] })
  if (valid.code !== 0) throw new UserError(`git takes no branch named ${branch}`, 'Take another name.')
  await git.run(['branch', '--no-track', branch, 'HEAD'])
  return null
}
