import { UserError } from '../base/errors.ts'
import type { Git } from '../git/git.ts'
import type { CompletionQuery } from './completions.ts'

/** A part of history. */
export interface Period {
  readonly query: Pick<CompletionQuery, 'revisions' | 'since'>
  /** The commit at its end. */
  readonly tip: string
  /** Seconds since 1970; null if it has no beginning or no end. */
  readonly from: number | null
  readonly to: number | null
}

/** The period since a tag or another commit, or a range `a..b`; otherwise since a date that git can read. */
export async function periodOf(git: Git, since: string | undefined): Promise<Period> {
  if (since === undefined) return { query: {}, tip: 'HEAD', from: null, to: null }
  const [, start = since, end = ''] = /^(.+?)\.\.(.*)$/.exec(since) ?? []
  const [from, to] = await Promise.all([
    commitTime(git, start),
    start === since ? null : commitTime(git, end || 'HEAD'),
  ])
  if (from && (to || start === since)) {
    const tip = to?.commit ?? 'HEAD'
    return { query: { revisions: [tip, `^${from.commit}`] }, tip, from: from.time, to: to?.time ?? null }
  }
  // git silently reads an invalid date as now.
  if (start === since && /\d|today|yesterday|noon|midnight|last|ago|never/i.test(since)) {
    const { stdout } = await git.run(['rev-parse', `--since=${since}`])
    const age = /--max-age=(\d+)/.exec(stdout.toString())?.[1]
    return { query: { since }, tip: 'HEAD', from: age === undefined ? null : Number(age), to: null }
  }
  throw new UserError(`--since takes a date, a tag or another commit, not '${since}'`)
}

async function commitTime(
  git: Git,
  name: string,
): Promise<{ readonly commit: string; readonly time: number } | null> {
  const args = [
    'log',
    '-1',
    '--format=%H %ct',
    '--no-show-signature',
    '--end-of-options',
    `${name}^{commit}`,
    '--',
  ]
  const { code, stdout } = await git.run(args, { okCodes: [0, 128] })
  const [commit = '', time = ''] = stdout.toString().trim().split(' ')
  return code === 0 && commit !== '' ? { commit, time: Number(time) } : null
}
