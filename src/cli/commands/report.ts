import { basename, resolve } from 'node:path'
import { notWritten, writeFileAtomic } from '../../base/atomic-file.ts'
import { readReport } from '../../history/report.ts'
import { readHistory } from '../../git/open-repository.ts'
import { reportPage } from '../../screen/page/page.ts'
import { line } from '../../screen/block.ts'
import type { ContextOf } from '../commands.ts'

/** Writes a page on what was done, when and at what cost, and what failed, from git alone. */
export async function run(context: ContextOf<'report'>): Promise<number> {
  const { io } = context
  const { since, output = 'report.html' } = context.options
  const place = await context.place()
  const { subject } = place.config.commit
  const data = await readHistory(io, place.root, (git) => readReport(git, since, { ...place, subject }))
  const page = reportPage(data, {
    project: basename(place.root),
    range: since === undefined ? '' : `Since ${since}`,
    now: io.now(),
  })
  if (output === '-') {
    context.printRaw(page)
    return 0
  }
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
