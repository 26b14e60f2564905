import { NO_NEEDS } from '../../base/cage-needs.ts'
import { UserError } from '../../base/errors.ts'
import type { Availability } from '../../process/cage/available.ts'
import type { CagePolicy } from '../../process/cage/mounts.ts'
import type { CagePlace } from '../../process/cage/rules.ts'
import type { CageRequest } from '../../process/cage/start.ts'
import type { SandboxState } from '../../engine/events/event.ts'
import { openReadingGit } from '../../git/door.ts'
import type { Git } from '../../git/git.ts'
import { findRepository } from '../../git/repository.ts'
import type { Provider } from '../../agents/port.ts'
import { findOnPath } from '../../process/program.ts'
import { startProcess, type StartProcess } from '../../process/start.ts'
import { StartedProcesses } from '../../process/started.ts'
import { SANDBOX_MODES, type Config, type SandboxMode } from '../../config/defaults.ts'
import type { Place } from '../../config/project.ts'
import type { World } from '../../base/world.ts'

/** Overrides `sandbox.mode`. */
const VARIABLE = 'RALPH_SANDBOX'

/** The sandbox of a run: whether there is one, and how it starts each kind of process in a folder of a slot. */
export type Sandbox = ReturnType<typeof unsandboxed>

/** A folder of a slot in which processes are started; git runs in the checkout. */
type SandboxedPlace = Omit<CagePlace, 'tracked'> & { readonly git: Git }

/** The mode to use: from the command line, else the environment, else the configuration. */
export function sandboxMode(
  requested: SandboxMode | null | undefined,
  { env, config }: { env: World['env']; config: Config },
): SandboxMode {
  const inEnvironment = env[VARIABLE]
  if (requested != null || inEnvironment === undefined || inEnvironment === '')
    return requested ?? config.sandbox.mode
  const mode = SANDBOX_MODES.find((one) => one === inEnvironment.toLowerCase())
  if (mode === undefined)
    throw new UserError(`${VARIABLE} is "${inEnvironment}"`, `It is one of ${SANDBOX_MODES.join(', ')}.`)
  return mode
}

/** Whether a sandbox works here and with what program, or why not and what to do about it. */
export async function sandboxAvailable(env: World['env'], root: string): Promise<Availability> {
  const { cageAvailable } = await import('../../process/cage/available.ts')
  return cageAvailable({ env, cwd: root })
}

/** Opens the sandbox in the requested or configured mode: if it does not work, `on` throws, and `auto` names the reason. */
export async function openSandbox(
  env: World['env'],
  { root, config }: Place,
  requested?: SandboxMode | null,
): Promise<Sandbox> {
  const mode = sandboxMode(requested, { env, config })
  if (mode === 'off') return unsandboxed(null, env)
  const available = await sandboxAvailable(env, root)
  if (!available.ok) {
    if (mode === 'on') throw new UserError(`the sandbox is required, but ${available.reason}`, available.fix)
    return unsandboxed(available.reason, env)
  }
  const [{ cagedStart }, rules] = await Promise.all([
    import('../../process/cage/start.ts'),
    import('../../process/cage/rules.ts'),
  ])
  return {
    state: { on: true, reason: null },
    async starts({ git, ...at }, started) {
      const place = { ...at, tracked: await trackedEnvFiles(git) }
      const settings = { ...config.sandbox, copy: config.workspace.copy }
      const world = { place, settings, env }
      const caged = (policyFor: (request: CageRequest) => CagePolicy): StartProcess =>
        started.following(cagedStart(available.program, policyFor))
      const agent = ({ cageNeeds }: Provider): StartProcess => {
        const needs = cageNeeds?.(env) ?? NO_NEEDS
        return byPersonsPath(
          caged((request) => rules.agentPolicy(world, needs, request)),
          env,
        )
      }
      return {
        agent,
        // A person is responsible for the agent that they drive, unless a sandbox is requested.
        byHand: mode === 'on' ? agent : () => started.following(startProcess),
        gate: caged((request) => rules.gatePolicy(world, request)),
        prepare: caged((request) => rules.preparePolicy(world, request)),
      }
    },
  }
}

/** Files named like `.env` that git tracks: they contain no secrets. */
export async function trackedEnvFiles(git: Git): Promise<readonly string[]> {
  const { stdout } = await git.run(['ls-files', '-z', '--', ':(top,glob)**/.env*'])
  return stdout.toString().split('\0').filter(Boolean)
}

/** How the sandbox would start processes in the checkout itself, to tell what it hides; null if there is none. */
export async function sandboxHere({ env, now }: Pick<World, 'env' | 'now'>, place: Place) {
  const { root, config } = place
  const mode = sandboxMode(null, { env, config })
  const sandbox = await openSandbox(env, place, mode === 'off' ? mode : 'auto')
  const repository = await findRepository(openReadingGit({ cwd: root, env }))
  if (!sandbox.state.on || !repository) return null
  const git = openReadingGit({ cwd: repository.root, env })
  const started = new StartedProcesses(() => now().getTime())
  return sandbox.starts({ root, top: repository.root, checkout: NOWHERE, git, borrowed: [] }, started)
}

/** No path: nothing is hidden there. */
const NOWHERE = '/dev/null/nowhere'

/** Without a sandbox every process is started the same way. */
function unsandboxed(reason: string | null, env: World['env']) {
  const state: SandboxState = { on: false, reason }
  return {
    state,
    async starts(_: SandboxedPlace, started: StartedProcesses) {
      const start = started.following(startProcess)
      const agent = (_provider: Provider): StartProcess => byPersonsPath(start, env)
      return { agent, byHand: agent, gate: start, prepare: start }
    },
  }
}

/** Finds an agent's program by the person's PATH: one that an agent may have written is never found first. */
function byPersonsPath(start: StartProcess, env: World['env']): StartProcess {
  return (command, options) => {
    if ('shell' in command || command.program.includes('/')) return start(command, options)
    return start({ ...command, program: findOnPath(command.program, env) ?? command.program }, options)
  }
}
