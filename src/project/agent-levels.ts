import type { Discipline } from '../prompt/discipline.ts'
import type { Facts } from '../task/model.ts'

/** What one place says of who does a task; null where it leaves that to the next. */
export interface AgentWish {
  readonly agent: string | null
}

/** The places in which it is said who does a task, the one that decides first. */
export function agentLevels<Wish extends AgentWish>({
  task,
  discipline,
  tier,
  config,
}: {
  readonly task: Wish
  readonly discipline: Wish | null
  readonly tier: Wish
  readonly config: Wish
}): readonly Wish[] {
  return [task, ...(discipline ? [discipline] : []), tier, config]
}

/** Null takes the first that is installed. */
export function agentFrom(levels: readonly AgentWish[]): string | null {
  return levels.find(({ agent }) => agent !== null)?.agent ?? null
}

/** The discipline that a task names; without a file of that name it does without, as `ralph lint` says. */
export async function disciplineOf(
  root: string,
  { discipline }: Facts<'discipline'>,
): Promise<Discipline | null> {
  if (discipline === null) return null
  // Most tasks name none.
  const { findDiscipline } = await import('../prompt/library.ts')
  const lookup = await findDiscipline(root, discipline)
  return lookup.found ? lookup.value : null
}
