import type { Facts } from '../../backlog/model.ts'
import { disciplineOf } from '../../agents/agent-wishes.ts'

/** How a discipline is shown beside a task: its acronym, else its icon, in its colour. */
export interface Badge {
  readonly text: string
  readonly color: string | null
}

type Disciplined = Facts<'discipline'>

/** The badge of each task whose discipline has one; reads each discipline once. */
export async function disciplineBadges(
  root: string,
  tasks: readonly Disciplined[],
): Promise<(task: Disciplined) => Badge | null> {
  const badges = new Map<string | null, Badge | null>()
  for (const task of tasks) {
    if (badges.has(task.discipline)) continue
    const discipline = await disciplineOf(root, task)
    const text = discipline?.acronym ?? discipline?.icon ?? null
    badges.set(task.discipline, text === null ? null : { text, color: discipline?.color ?? null })
  }
  return ({ discipline }) => badges.get(discipline) ?? null
}
