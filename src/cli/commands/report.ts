import { basename, join, relative, resolve } from 'node:path'
import { notWritten, writeFileAtomic } from '../../base/atomic-file.ts'
import { readReport } from '../../history/report.ts'
import { makeRunFolder, runFolder } from '../../engine/folder.ts'
import { openRepository, readHistory } from '../../git/open-repository.ts'
import { reportPage } from '../../screen/page/page.ts'
import { line } from '../../screen/block.ts'
import type { ContextOf } from '../commands.ts'

/** Writes a page on what was done, when and at what cost, and what failed, from git alone. */
export async function run(context: ContextOf<'report'>): Promise<number> {
  const { io } = context
  const { since } = context.options
  const place = await context.place()
  const { subject } = place.config.commit
  const data = await readHistory(io, place.root, (git) => readReport(git, since, { ...place, subject }))
  const page = reportPage(data, {
    project: basename(place.root),
    range: since === undefined ? '' : `Since ${since}`,
    now: io.now(),
  })
  if (context.options.output === '-') {
    context.printRaw(page)
    return 0
  }
  const output = context.options.output ?? (await usualPlace(context, place.root))
  try {
    writeFileAtomic(resolve(io.cwd, output), page)
  } catch (error) {
    throw notWritten(output, error)
  }
  const { completions, attempts } = data
  return context.answer(
    {
      file: output,
      bytes: Buffer.byteLength(page),
      completed: completions.length,
      attempts: attempts.length,
    },
    () => [line(output)],
  )
}

/** Beside what else is no work of the project's: git does not see it there. */
async function usualPlace({ io }: ContextOf<'report'>, root: string): Promise<string> {
  const { repository } = await openRepository(io, root)
  const folder = runFolder(root, repository)
  makeRunFolder(folder)
  return relative(io.cwd, join(folder.path, 'report.html'))
}
