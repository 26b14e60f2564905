import type { Verification, VerifiedTask, VerifyState } from '../history/verify.ts'
import { dim, good, bad, line, paragraph, table, BLANK, type View, type Piece } from './block.ts'
import { counted, fewOf } from '../base/text.ts'

/** Each task whose commit is not as its file says, or was undone; the numbers, and what to do. */
export function verifyView({
  tasks,
  fixed,
  isCutOff,
  unfinished,
}: Verification & {
  /** The ids of the tasks whose field was corrected. */
  fixed: readonly string[]
  /** The task of an unfinished run: its commit may not exist yet. */
  unfinished: string | null
}): View {
  if (tasks.length === 0) return [line('No task is DONE.')]
  const wrong = tasks.filter(({ state }) => state === 'moved' || state === 'missing')
  const rows = tasks.filter(isShown).map((task) => [signOf(task), task.id, ...verifyWords(task)])
  return [
    ...fixed.map((id) => line(good('fixed'), ` ${id}`)),
    ...table(rows, { wrap: 3, indent: '' }),
    ...(rows.length > 0 ? [BLANK] : []),
    line(verifySummary(tasks)),
    ...(isCutOff ? [paragraph([], CUT_OFF, 'dim')] : []),
    ...nextStep(wrong, unfinished),
  ]
}

/** Whether a task needs a row. */
export function isShown({ state, reverted }: VerifiedTask): boolean {
  return !isRight(state) || reverted
}

function nextStep(wrong: readonly VerifiedTask[], unfinished: string | null): View {
  if (wrong.some(({ id }) => id === unfinished)) {
    const text = `A run has not finished with ${unfinished}; where it died, the next ralph run does.`
    return [paragraph([], text, 'dim')]
  }
  const canBeFixed = wrong.some(({ found }) => found !== null)
  return canBeFixed ? [line(dim('ralph verify --fix writes the fields anew.'))] : []
}

/** What to do if the clone lacks history. */
const CUT_OFF =
  'This clone holds only the end of history: git fetch --unshallow gets the rest, and in CI a checkout of all of it (fetch-depth: 0).'

/** The commit that the file names, and its problem. */
export function verifyWords({ commit, found, state, reverted }: VerifiedTask): readonly string[] {
  const named = commit ?? 'no commit'
  const is = found?.slice(0, Math.max(7, named.length))
  const since = reverted ? ', which was reverted since, though the file is DONE' : ''
  if (state === 'not-completing') {
    const other = found === null ? '' : `; ${is} does`
    return [named, `does not turn it DONE${other}${since}`]
  }
  if (state === 'moved') return [named, `is ${is} now${since}`]
  if (reverted && state !== 'missing') return [is ?? named, 'reverted since, though the file is DONE']
  if (found === null) return [named, 'no commit of this history completed it']
  return [named, `not in this history; ${is} turned the file DONE, but does not say so`]
}

/** The numbers of correct and wrong tasks. */
function verifySummary(tasks: readonly VerifiedTask[]): string {
  const count = (wanted: VerifyState): number => tasks.filter(({ state }) => state === wanted).length
  const parts = (Object.keys(SIGNS) as VerifyState[])
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state === 'matches' ? 'match' : state}`)
  return `${counted(tasks.length, 'task')} done: ${parts.join(', ')}`
}

const SIGNS: Readonly<Record<VerifyState, Piece>> = {
  sealed: good('✓'),
  matches: good('✓'),
  moved: dim('→'),
  missing: bad('✗'),
  'not-completing': bad('✗'),
}

function signOf({ state, reverted }: VerifiedTask): Piece {
  return reverted && isRight(state) ? dim('↺') : SIGNS[state]
}

/** Whether the file names the commit that completed its task. */
export function isRight(state: VerifyState): boolean {
  return state === 'sealed' || state === 'matches'
}

/** A DONE task whose gates were run again on its commit. */
export interface CheckedTask extends VerifiedTask {
  /** Why its commit is not green; null if it is. */
  readonly problem: string | null
}

/** The gates' results on a commit, with the tasks that it completed. */
export function checkedBlocks(
  { commit, passed, problem }: { commit: string; passed: readonly string[]; problem: string | null },
  tasks: readonly VerifiedTask[],
): View {
  const ids = tasks.flatMap(({ id, found }) => (found === commit ? [id] : []))
  const sign = problem === null ? good('✓') : bad('✗')
  return [paragraph([sign, ` ${fewOf(ids)}  ${commit.slice(0, 10)}  `], problem ?? fewOf(passed))]
}

/** The number of green commits. */
export function checkedSummary(checked: readonly CheckedTask[]): View {
  const red = checked.filter(({ problem }) => problem !== null).length
  if (checked.length === 0) return []
  return [BLANK, line(`gates: ${checked.length - red} green, ${red} not`)]
}
