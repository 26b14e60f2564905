import { criteriaOf } from '../backlog/criteria.ts'
import type { Task } from '../backlog/model.ts'
import { overlapOf } from '../backlog/select/schedule.ts'
import { subjectOf } from '../backlog/subject.ts'
import { counted } from '../base/text.ts'
import type { RawChange } from '../git/raw-changes.ts'
import { gatesText, usageTrailers, type KeptAttempt } from '../git/record.ts'
import { known, WRITES, type Trailer } from '../git/trailers.ts'
import type { Sums } from './land.ts'
import { HUMAN } from './outcome.ts'
import type { RunOptions } from './ports.ts'

/** What is measured of the work that a commit holds. */
interface Measured {
  readonly sums: Sums
  readonly size: { readonly files: number; readonly added: number; readonly removed: number }
  readonly changes: readonly RawChange[]
  readonly gates: readonly string[]
  readonly flaky: readonly string[]
  /** The project's root in the repository. */
  readonly prefix: string
}

/** The message of a task's commit: first what ralph has measured, then the agent's own words. */
export function commitMessage(
  task: Task,
  {
    candidate,
    subject,
    checkCriteria,
  }: Pick<RunOptions, 'subject' | 'checkCriteria'> & { candidate: KeptAttempt },
  { sums: { seconds, attempts, usage }, size, changes, gates, flaky, prefix }: Measured,
): { readonly subject: string; readonly body: string; readonly trailers: readonly Trailer[] } {
  const isAgents = candidate.agent !== HUMAN
  const [agent = ''] = candidate.agent.split(/[ ,]/)
  const outside = outsideOf(task, changes, prefix)
  const criteria = isAgents && checkCriteria ? criteriaText(task, candidate, agent) : null
  const facts = [
    `${counted(size.files, 'file')} +${size.added} −${size.removed}`,
    candidate.tests === null ? '' : `tests: ${candidate.tests}`,
    criteria === null ? '' : `criteria: ${criteria}`,
    outside.length > 0 ? `${counted(outside.length, 'file')} outside of Touches` : '',
  ]
  return {
    subject: subjectOf(subject, task),
    body: [facts.filter(Boolean).join(' · '), candidate.unsaid ? UNSAID : '', wordsOf(candidate)]
      .filter(Boolean)
      .join('\n\n'),
    trailers: known([
      ['Task', task.id],
      ['Agent', candidate.agent],
      ['Unsaid', candidate.unsaid ? 'yes' : null],
      ['Model', candidate.model],
      ['Tier', candidate.tier],
      ['Attempts', String(attempts)],
      ...usageTrailers({ usage, seconds }),
      ['Gates', gatesText(gates)],
      ...each('Flaky', flaky),
      ...each('Gates-Changed', candidate.gatesChanged),
      ['Tests', candidate.tests],
      ...each('Tests-Changed', candidate.testsChanged),
      ['Witness', candidate.witness],
      ...each('Reviewed', candidate.reviewed),
      ...each('Finding', candidate.findings.slice(0, MOST_FINDINGS)),
      ['Criteria', criteria],
      ...each('Outside-Touches', outside.slice(0, MOST_OUTSIDE)),
      ...each('Noticed', candidate.noticed),
      ...each('Runs-Later', candidate.runsLater),
      ...each('Assumed', candidate.assumed),
    ]),
  }
}

/** What the agent wrote, under its name: ralph has not checked it. */
export function wordsOf({ agent, detail }: Pick<KeptAttempt, 'agent' | 'detail'>): string {
  return detail.trim() === '' || agent === HUMAN ? detail : `${agent.split(/[ ,]/)[0]}${WRITES}\n\n${detail}`
}

const UNSAID =
  'The agent did not say that the task is done. Its tests passed, and what the task is to produce has changed, or new tests fail without the change.'

const MOST_OUTSIDE = 20
const MOST_FINDINGS = 20

function each(key: string, values: readonly string[]): readonly (readonly [string, string])[] {
  return values.map((value) => [key, value])
}

/** `4 of 5 (claude)`: who says so is not ralph. A reviewer's word goes before the agent's own. */
function criteriaText(task: Task, { criteriaMet, reviewed }: KeptAttempt, agent: string): string | null {
  const [, judged] = reviewed.map((text) => /(\d+ of \d+) criteria met$/.exec(text)).find(Boolean) ?? []
  if (judged !== undefined) return `${judged} (reviewed)`
  const { all, met } = criteriaOf(task, criteriaMet)
  return all === 0 ? null : `${met} of ${all} (${agent})`
}

/** The changed files that the task does not name. */
function outsideOf(
  { touches, file, produces }: Task,
  changes: readonly RawChange[],
  prefix: string,
): readonly string[] {
  if (touches.length === 0) return []
  const named = [...touches, ...(produces ?? []).flatMap(({ path }) => path ?? []), file]
  const own = changes.map(({ path }) => (path.startsWith(prefix) ? path.slice(prefix.length) : path))
  return own.filter((path) => overlapOf([path], named) === null)
}
