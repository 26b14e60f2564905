import { fewOf } from '../base/text.ts'
import type { Happening } from '../events/event.ts'
import type { Base } from '../git/head.ts'
import type { KeptAttempt } from '../git/record.ts'
import type { Work, Workspace } from '../workspace/port.ts'
import type { Trunk } from '../workspace/trunk.ts'
import {
  commitCandidate,
  MOST_MOVES,
  resultOf,
  stoppedBy,
  withCandidate,
  type Landed,
  type LandingPorts,
  type LandingRequest,
  type Refusal,
} from './land.ts'

/** A candidate that is ready and that the person's uncommitted work keeps from landing: it stays as it is. */
export interface Held {
  readonly kind: 'held'
  readonly paths: readonly string[]
  readonly reason: string
}

/** The ports of landing candidates that were made elsewhere. */
export interface OntoPorts {
  readonly trunk: Trunk
  /** The ports of a landing in that workspace, which is at the base. */
  readonly within: (workspace: Workspace, base: Base) => Promise<LandingPorts>
  /** Whether the gates always run here, because somebody else reports that they have passed. */
  readonly isForeign: boolean
}

/**
 * Lands a candidate on a branch that may have moved since the job began. It is merged onto the branch, the gates run
 * again if that gives another tree, the commit is made and sealed apart, and only then the branch moves to it.
 */
export async function landOnto(
  request: LandingRequest,
  ports: OntoPorts,
  emit: (event: Happening) => void,
): Promise<Landed | Held> {
  const { kept, facts } = request.candidate
  emit({ type: 'landing-started', id: facts.task, ref: kept.ref })
  const landed = await mergeAndLand(request, ports, emit)
  const result = landed.kind === 'held' ? 'held' : resultOf(landed)
  const paths = landed.kind === 'held' ? landed.paths : []
  emit({ type: 'landing-finished', id: facts.task, result, paths })
  return landed
}

async function mergeAndLand(
  request: LandingRequest,
  ports: OntoPorts,
  emit: (event: Happening) => void,
): Promise<Landed | Held> {
  const { candidate } = request
  const { kept, facts } = candidate
  const { trunk } = ports
  const refused = (refusal: Refusal, work: Work = candidate.work): Landed => {
    return { kind: 'refused', refusal, work, undone: null }
  }
  for (let moves = 0; moves < MOST_MOVES; moves++) {
    const base = await trunk.tip()
    const isFirst = base.head === kept.base
    if (!isFirst && !(await trunk.holds(kept.base, base))) return refused(rewritten(base))
    const merged = isFirst
      ? ({ kind: 'merged', tree: kept.tree } as const)
      : await trunk.merge(base, kept.commit)
    if (merged.kind === 'conflict') {
      const landed = await landedText(trunk, kept, base)
      return refused(conflictIn(merged.paths, `${landed}\n\n${merged.hunks}`, base))
    }
    const workspace = await trunk.at(base)
    const within = await ports.within(workspace, base)
    const isSame = merged.tree === kept.tree
    if (((!isSame || ports.isForeign) && facts.gates?.length) || within.sealer) {
      // The next steps may take a while, and be in vain.
      const held = await trunk.obstacle(base, merged.tree)
      if (held) return held
    }
    // The next round begins without what hooks and gates left in an earlier one.
    const changes = await trunk.put(base, merged.tree)
    if (changes === null) continue
    const work: Work = {
      ...candidate.work,
      base,
      tree: merged.tree,
      changes,
      persons: [],
      below: [],
      head: null,
    }
    const checked =
      isSame && !ports.isForeign
        ? { refusal: null, work, passed: facts.gates ?? [] }
        : await within.check(work)
    if (checked.refusal) {
      const { refusal } = checked
      if (isFirst || refusal.kind === 'interrupted') return refused(refusal, checked.work)
      return refused(failingTogether(refusal, await landedText(trunk, kept, base), base), checked.work)
    }
    const checkedFacts = { ...facts, gates: checked.passed, base: base.head }
    const toLand = withCandidate(request, { kept, facts: checkedFacts, work: checked.work })
    const landed = await commitCandidate(toLand, within, emit)
    if (landed.kind === 'refused') return landed
    if (landed.sealPending) return refused(stoppedBy('the run was interrupted while it sealed'))
    const moved = await trunk.publish(base.head, landed.commit)
    within.checkpoint('published')
    if (moved.kind === 'held') return moved
    if (moved.kind === 'moved') return landed
  }
  return refused(stoppedBy('the branch moved on each time that the task was to land'))
}

function rewritten({ head, branch }: Base): Refusal {
  return {
    kind: 'conflict',
    reason: `${branch ?? 'the branch'} was moved to ${head.slice(0, 10)}, which does not hold what it began from`,
    detail: '',
    fingerprint: `rewritten: ${head}`,
  }
}

function conflictIn(paths: readonly string[], detail: string, { head }: Base): Refusal {
  const reason = `it conflicts with what has landed since it began: ${fewOf(paths)}`
  return { kind: 'conflict', reason, detail, fingerprint: `conflict: ${head}` }
}

function failingTogether({ reason, detail }: Refusal, landed: string, { head }: Base): Refusal {
  return {
    kind: 'conflict',
    reason: `the gates passed on it alone, and fail together with what has landed since: ${reason}`,
    detail: `${landed}\n\n${detail}`,
    fingerprint: `together: ${head}`,
  }
}

/** What the agent needs to know of the other commits. */
async function landedText(trunk: Trunk, { base: begun }: KeptAttempt, base: Base): Promise<string> {
  const commits = await trunk.landedSince(begun, base)
  const lines = commits.slice(0, MOST_LANDED).map(({ hash, subject }) => `- ${hash.slice(0, 10)} ${subject}`)
  const more = commits.length - lines.length
  return ['Landed since this attempt began:', ...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join(
    '\n',
  )
}

const MOST_LANDED = 20
