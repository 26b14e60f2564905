import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { abortPlan, makePlan, recoverPlan, type PlanEnd } from '../../authoring/plan/plan.ts'
import type { Plan } from '../../authoring/plan/plan-file.ts'
import { EXPORT_FILE } from '../../authoring/plan/ports.ts'
import { withoutRun } from '../../engine/alone.ts'
import type { Task } from '../../backlog/model.ts'
import { readOrigin } from '../../backlog/origin.ts'
import type { Place } from '../../config/project.ts'
import { refuseToStart, type World } from '../../base/world.ts'
import { planAsked } from '../../authoring/plan/find-plans.ts'
import { beginPlanning, planPorts, type PlanFront, type PlanRequest } from './plan-ports.ts'

/** The result of planning. */
export type PlanResult = PlanEnd | { readonly kind: 'aborted'; readonly plan: Plan }

/** Plans, while nobody else works in the checkout: a new plan, or an existing one from its present phase. */
export async function runPlan(
  world: World,
  place: Place,
  { request, front }: { readonly request: PlanRequest; readonly front: PlanFront },
): Promise<PlanResult> {
  const { root } = place
  refuseToStart(world, root)
  const { yes, research, dryRun } = request
  const { ports, folder } = await planPorts(world, place, { request, front })
  return withoutRun(folder, { pid: world.pid, now: world.now() }, async () => {
    if (!dryRun) {
      // What a planning that died was writing belongs to the present branch.
      await recoverPlan(ports)
      await beginPlanning(world, place, request)
    }
    const plan = await planAsked(request, ports.places, { cwd: world.cwd, note: ports.note.read() })
    if (request.aborts) return { kind: 'aborted', plan: await abortPlan(plan, ports) }
    if (plan.exports) refuseOthers(place, await ports.backlog())
    return makePlan(plan, { yes, research, dryRun }, ports)
  })
}

/** Throws if another tool has written a file there: planning does not overwrite it. */
function refuseOthers({ root, config }: Place, backlog: readonly Task[]): void {
  if (!existsSync(join(root, EXPORT_FILE))) return
  const isOurs =
    config.bridges.some(({ path, sync }) => path === EXPORT_FILE && sync) &&
    backlog.every(({ id, origin }) => {
      const from = readOrigin(origin)
      return from?.path !== EXPORT_FILE || from.key === id
    })
  if (isOurs) return
  throw new UserError(
    `${EXPORT_FILE} is there already, and not from a plan`,
    `Move it, or read it in: ralph import ${EXPORT_FILE} --sync`,
  )
}
