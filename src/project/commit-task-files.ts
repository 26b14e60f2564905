import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { UserError } from '../base/errors.ts'
import { commit } from '../git/commit.ts'
import { readStatus } from '../git/status.ts'
import { makeRunFolder, runFolder, type RunFolder } from '../run/folder.ts'
import { takeLock } from '../run/lock.ts'
import { readNote } from '../run/note.ts'
import { refuseInside } from './inside.ts'
import { openWithCommit } from './repository.ts'
import type { World } from './world.ts'

/** New texts of task files, and the commit that is to hold them and nothing else. */
export interface TaskFileCommit {
  readonly root: string
  readonly texts: ReadonlyMap<string, string>
  readonly message: string
}

/** Writes task files and commits just them, while no run is at work; where git refuses, they are as they were. */
export async function commitTaskFiles(world: World, request: TaskFileCommit): Promise<void> {
  refuseInside(world, request.root)
  const opened = await openWithCommit(world, request.root)
  const folder = runFolder(request.root, opened.repository)
  makeRunFolder(folder)
  const lock = await takeLock(folder.lock, { pid: world.pid, now: world.now() })
  try {
    refuseUnfinished(folder)
    await write(opened, request)
  } finally {
    lock.release()
  }
}

/** A commit on top of what a dead run has left would be in the way of the run that puts that in order. */
function refuseUnfinished({ note }: RunFolder): void {
  const attempt = readNote(note)?.attempt
  if (!attempt) return
  throw new UserError(
    `a run died while it worked on ${attempt.task}, and that is not in order yet`,
    'ralph run does that first; then do this again.',
  )
}

async function write(
  { git, repository }: Awaited<ReturnType<typeof openWithCommit>>,
  { root, texts, message }: TaskFileCommit,
): Promise<void> {
  const files = [...texts.keys()]
  const paths = files.map((file) => relative(repository.root, join(root, file)).replaceAll('\\', '/'))
  const { entries } = await readStatus(git)
  const dirty = files.find((_, index) => entries.some(({ path }) => path === paths[index]))
  if (dirty !== undefined) {
    throw new UserError(
      `${dirty} is not committed`,
      'Commit it first, so that nothing of yours gets into this commit.',
    )
  }
  const before = files.map((file) => readFileSync(join(root, file)))
  let isCommitted = false
  try {
    for (const [file, text] of texts) writeFileSync(join(root, file), text)
    const result = await commit(git, { message, paths })
    isCommitted = result.kind === 'committed'
    if (result.kind !== 'committed')
      throw new UserError(`git did not take the commit:\n${result.output}`, 'Nothing was changed.')
  } finally {
    if (!isCommitted)
      for (const [index, file] of files.entries()) writeFileSync(join(root, file), before[index]!)
  }
}
