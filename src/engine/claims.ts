import type { Claim } from '../backlog/select/schedule.ts'
import type { Task } from '../backlog/model.ts'

/** After this number of tasks in a row that changed a path, the next one is expected to change it too. */
const HABIT = 3

/** What tasks of a run may not share with others, because they met them. Paths are as Touches name them. */
export class Claims {
  /** What a task met others in, in the order of their first conflicts: claimed as if it were its Touches. */
  readonly #claims = new Map<string, { readonly paths: readonly string[]; readonly together: number }>()
  /** The paths in which tasks of this run have met. */
  readonly #met = new Set<string>()
  /** The paths that each of the last tasks without Touches has changed. */
  #recent: readonly (readonly string[])[] = []

  /** Notes that a task met another one: for the rest of the run the two do not work at the same time. */
  add({ id }: Task, paths: readonly string[]): void {
    const before = this.#claims.get(id)
    for (const path of paths) this.#met.add(path)
    this.#claims.set(id, {
      paths: [...new Set([...(before?.paths ?? []), ...paths])],
      together: (before?.together ?? 0) + (paths.length === 0 ? 1 : 0),
    })
  }

  /** Notes that a task is over. */
  drop({ id }: Task): void {
    this.#claims.delete(id)
  }

  /** Notes what the work of a task changed, whether it landed or met others. */
  remember({ touches }: Task, changed: readonly string[]): void {
    if (touches.length === 0) this.#recent = [...this.#recent, changed].slice(-HABIT)
  }

  /** What tasks claim because they met others, and what the rest of these is expected to meet them in. */
  of(tasks: readonly Task[]): ReadonlyMap<string, Claim> {
    const claims = new Map<string, Claim>()
    for (const [id, { paths, together }] of this.#claims) claims.set(id, { paths, isAlone: together > 1 })
    const paths = this.#expected()
    for (const { id, touches } of paths.length === 0 ? [] : tasks)
      if (touches.length === 0 && !claims.has(id)) claims.set(id, { paths, isAlone: false })
    return claims
  }

  /** The paths that a task without Touches will probably change: tasks met there, and all of the last ones changed them. */
  #expected(): readonly string[] {
    if (this.#recent.length < HABIT) return []
    return [...this.#met].filter((path) => this.#recent.every((changed) => changed.includes(path)))
  }
}
