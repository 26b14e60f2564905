import type { Gate } from '../../base/nouns.ts'
import type { RunOptions } from '../../engine/ports.ts'
import { detectGates } from '../../config/detect-gates.ts'
import { GATE_TIMEOUT_SECONDS, type Config } from '../../config/defaults.ts'
import type { Place } from '../../config/project.ts'
import type { OptionsOf } from '../options/option.ts'
import type { RUN_OPTIONS } from '../options/run-options.ts'

type Values = OptionsOf<typeof RUN_OPTIONS>

/** What a run is asked for: the options of `ralph run`; a missing one comes from the configuration. */
export type RunRequest = {
  readonly [Key in Exclude<keyof Values, 'noGates' | 'dryRun' | 'verbose' | 'tui'>]?: Values[Key] | null
} & {
  /** The named task; without one, the next. */
  readonly task?: string | null
}

/** The options of a run; the request has overridden the configuration already. */
export function runOptions(
  request: RunRequest,
  { config, root }: Pick<Place, 'config' | 'root'>,
  canAsk = false,
): RunOptions {
  const { task = null, loop, byHand, branch = null, maxTurns = null, timeoutSeconds = null } = request
  return {
    ...config,
    task,
    loop: loop ?? false,
    byHand: byHand ?? false,
    branch,
    maxTurns,
    timeoutSeconds,
    jobs: jobsOf(request, config),
    gates: request.gates?.map(gateOf) ?? config.gates ?? detectGates(root),
    onFailure: onFailureOf(config, canAsk),
    subject: config.commit.subject,
  }
}

/** With a queue the number of jobs follows the workers, up to this. */
const MOST_GIVEN = 100

function jobsOf({ loop, jobs, byHand, queue }: RunRequest, config: Config): number {
  // A person drives one agent at a time.
  if (!loop || byHand) return 1
  return jobs ?? (queue == null ? config.jobs : MOST_GIVEN)
}

function gateOf(command: string): Gate {
  return { name: command, command, required: true, timeoutSeconds: GATE_TIMEOUT_SECONDS }
}

/** Without a person to ask, a failed task is blocked, and the others are done. */
function onFailureOf({ onFailure }: Config, canAsk: boolean): RunOptions['onFailure'] {
  if (onFailure === 'block' || onFailure === 'stop') return onFailure
  return canAsk ? 'ask' : 'block'
}
