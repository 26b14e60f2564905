import { appendFileSync } from 'node:fs'
import type { Io } from './io.ts'
import { notWritten } from '../base/atomic-file.ts'
import { pathWithin } from '../base/paths.ts'
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
