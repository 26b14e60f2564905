import { unreachable } from '../base/errors.ts'
import type { VerifiedTask, VerifyState } from '../run/verify.ts'
import { bad, BLANK, dim, good, line, type Block, type Line, type Piece } from './block.ts'
import { counted } from './run-text.ts'

/** Each task whose commit is not as its file says, and how many are. */
export function verifyView(tasks: readonly VerifiedTask[], fixed: readonly string[]): readonly Block[] {
  if (tasks.length === 0) return [line('No task is DONE.')]
  const wrong = tasks.filter(({ state }) => state === 'moved' || state === 'missing')
  const rows = wrong.map((task): readonly Line[] => [[signOf(task.state)], [task.id], ...wordsOf(task)])
  return [
    ...fixed.map((id) => line(good('fixed'), ` ${id}`)),
    ...(rows.length > 0 ? [{ kind: 'table', rows, wrap: 3, indent: '' } as const, BLANK] : []),
    line(summaryOf(tasks)),
    ...(wrong.some(({ state }) => state === 'moved')
      ? [line(dim('ralph verify --fix writes the fields of the moved ones anew.'))]
      : []),
  ]
}

function wordsOf({ commit, found, state }: VerifiedTask): readonly Line[] {
  const named = commit ?? 'no commit'
  return state === 'moved'
    ? [[named], [`is ${found?.slice(0, Math.max(7, named.length))} now`]]
    : [[named], ['no commit of this history completed it']]
}

function summaryOf(tasks: readonly VerifiedTask[]): string {
  const count = (wanted: VerifyState): number => tasks.filter(({ state }) => state === wanted).length
  const parts = (['sealed', 'matches', 'moved', 'missing'] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state === 'matches' ? 'match' : state}`)
  return `${counted(tasks.length, 'task')} done: ${parts.join(', ')}`
}

function signOf(state: VerifyState): Piece {
  switch (state) {
    case 'sealed':
    case 'matches':
      return good('✓')
    case 'moved':
      return dim('→')
    case 'missing':
      return bad('✗')
    default:
      return unreachable(state)
  }
}
