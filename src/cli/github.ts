import { appendFileSync } from 'node:fs'
import type { Io } from './io.ts'
import { notWritten } from '../base/atomic-file.ts'
import { pathWithin } from '../base/paths.ts'
import type { LinkTo } from '../screen/diff-view.ts'
import { withinRepository } from '../config/root.ts'

/** Whether this process runs in a GitHub action. */
export function isInAction({ env }: Pick<Io, 'env'>): boolean {
  return env['GITHUB_ACTIONS'] === 'true'
}

/** Adds Markdown to the summary of the job; does nothing outside of a GitHub action. */
export function addToJobSummary({ env }: Pick<Io, 'env'>, markdown: string): void {
  const file = env['GITHUB_STEP_SUMMARY']
  if (!isInAction({ env }) || file === undefined || file === '') return
  try {
    appendFileSync(file, `${markdown}\n`)
  } catch (error) {
    throw notWritten(file, error)
  }
}

/** The path from the top of the repository to the project: empty, or with a slash at its end. */
export function prefixInRepository(root: string): string {
  const path = pathWithin(withinRepository(root).at(-1)!, root) ?? ''
  return path === '' ? '' : `${path}/`
}

/** The addresses of a commit's files on the forge, inside a job of GitHub or GitLab; undefined elsewhere. */
export function forgeLinks(
  { env }: Pick<Io, 'env'>,
  root: string,
  commit: string | null,
): LinkTo | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, CI_PROJECT_URL: gitlab } = env
  const top =
    isInAction({ env }) && server && repository ? `${server}/${repository}` : gitlab && `${gitlab}/-`
  if (!top || commit === null) return undefined
  const prefix = prefixInRepository(root)
  return (file, line) =>
    `${top}/blob/${commit}/${encodeURI(prefix + file)}${line === undefined ? '' : `?plain=1#L${line}`}`
}
