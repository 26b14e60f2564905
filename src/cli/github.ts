import { appendFileSync, existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Io } from './io.ts'
import { notWritten } from '../base/atomic-file.ts'

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
  let top = root
  while (!existsSync(join(top, '.git'))) {
    if (dirname(top) === top) return ''
    top = dirname(top)
  }
  const path = relative(top, root).replaceAll('\\', '/')
  return path === '' ? '' : `${path}/`
}
