import { basename, resolve } from 'node:path'
import { writeFileAtomic } from '../../base/atomic-file.ts'
import { readReport } from '../../history/report.ts'
import { openPlace } from '../../config/project.ts'
import { readHistory } from '../../git/open-repository.ts'
import { reportPage } from '../../screen/page/page.ts'
import { line } from '../../screen/block.ts'
import type { ContextOf } from '../commands.ts'
import { notWritten } from '../../authoring/not-written.ts'

type Context = ContextOf<'report'>

/** Writes a page on what was done, when and at what cost, and what failed, from git alone. */
export async function run(context: Context): Promise<number> {
  const { io, options } = context
  const place = await openPlace(context.where)
  const since = options.since
  const { subject } = place.config.commit
  const data = await readHistory(io, place.root, (git) => readReport(git, since, { ...place, subject }))
  const page = reportPage(data, {
    project: basename(place.root),
    range: since === undefined ? '' : `Since ${since}`,
    now: io.now(),
  })
  const output = options.output ?? 'report.html'
  if (output === '-') {
    context.printRaw(page)
    return 0
  }
  try {
    writeFileAtomic(resolve(io.cwd, output), page)
  } catch (error) {
    throw notWritten(output, error)
  }
  const bytes = Buffer.byteLength(page)
  if (context.json) {
    const { completions, attempts } = data
    const figures = { completed: completions.length, attempts: attempts.length }
    context.printJson({ version: 1, file: output, bytes, ...figures })
  } else await context.print([line(output)])
  return 0
}
