import { UserError } from '../../base/errors.ts'
import type { World } from '../../base/world.ts'
import type { Agents } from '../../agents/agents.ts'
import type { Task } from '../../backlog/model.ts'
import { GATE_TIMEOUT_SECONDS } from '../../config/defaults.ts'
import { findConfig } from '../../config/load.ts'
import type { Place } from '../../config/project.ts'
import type { RunOptions, RunPorts } from '../../engine/ports.ts'
import { composeMessage } from '../../git/trailers.ts'
import { inTime } from '../../process/sleep.ts'

/** A run, as far as it decides whether it needs a gate. */
interface MaybeUnchecked {
  readonly options: Pick<RunOptions, 'gates'>
  /** Whether somebody asked for these gates, or for none. */
  readonly isAsked: boolean
  /** The tasks that the run may come to. */
  readonly tasks: readonly Task[]
  readonly agents: Pick<Agents, 'namesFor'>
}

const HOW = 'How is this project tested? A command that must pass, such as: npm test'
const NO_GATE = 'no gate is known, so nothing would check the work'

/** Why a run should not begin as it is; null if it has a gate, or needs none. */
export async function lackOfGates(
  { config }: Pick<Place, 'config'>,
  { options, isAsked, tasks, agents }: MaybeUnchecked,
): Promise<string | null> {
  if (isAsked || config.gates !== null || options.gates.length > 0) return null
  for (const task of tasks) {
    if (isText(task)) continue
    const [agent = 'script'] = await agents.namesFor(task)
    // A script is its author's own.
    if (agent !== 'script') return NO_GATE
  }
  return null
}

/** Whether a task produces nothing but Markdown. */
function isText({ produces }: Task): boolean {
  return (
    !!produces?.length && produces.every(({ path }) => path !== null && /\.(?:md|mdx|markdown)$/i.test(path))
  )
}

/** Asks a person once how the project is tested, and commits the answer; throws if nobody says. */
export async function askForGates(
  world: World,
  { root, config }: Pick<Place, 'root' | 'config'>,
  ask: RunPorts['ask'],
): Promise<RunOptions['gates']> {
  const question = { id: '', text: HOW, options: ['none'] }
  const answer =
    ask && (await inTime(config.askSeconds, world.signal, (signal) => ask(question, signal)))?.trim()
  if (!answer)
    throw new UserError(
      NO_GATE,
      'Add to ralph.config.json how the project is tested: "gates": [{ "name": "test", "command": "npm test" }]\nTo run without a check: --no-gates once, or "gates": [] for good.',
    )
  const written = answer === 'none' ? [] : [{ name: 'test', command: answer }]
  const [{ withKey }, { commitTaskFiles }] = await Promise.all([
    import('../../authoring/bridges/configuration.ts'),
    import('../../authoring/commit-task-files.ts'),
  ])
  const file = withKey(root, findConfig(root)?.file, 'gates', written)
  const message = composeMessage({ subject: 'Say how the project is tested', body: '', trailers: [] })
  await commitTaskFiles(world, { root, texts: new Map([[file.file, file.text]]), message })
  return written.map((gate) => ({ ...gate, required: true, timeoutSeconds: GATE_TIMEOUT_SECONDS }))
}
