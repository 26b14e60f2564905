import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { EXPORT_NAMES } from '../../backlog/formats.ts'
import { readBacklog } from '../../backlog/read.ts'
import { exportedTexts, writeExport } from '../../authoring/export-tasks.ts'
import { openPlace } from '../../config/project.ts'
import { line } from '../../screen/block.ts'
import type { ContextOf } from '../commands.ts'

type Context = ContextOf<'export'>

/** Writes the backlog in another tool's format. */
export async function run(context: Context): Promise<number> {
  const { options, io, json, where } = context
  const { as, output } = options
  if (as === undefined)
    throw new UserError(`--as is missing: ${EXPORT_NAMES.join(', ')}`, 'ralph export --as json')
  if (as === 'db' && output === undefined)
    throw new UserError('db is three files', 'Name a folder for them: ralph export --as db -o .ralph/db')
  const place = await openPlace(where)
  // A plan has a state before it has tasks.
  const isEmpty = as === 'state' && !existsSync(join(place.root, place.folders.first))
  const { tasks } = isEmpty ? { tasks: [] } : await readBacklog(place)
  const texts = await exportedTexts({ ...place, tasks }, as, {
    now: io.now(),
    isPrinted: output === undefined,
  })
  const head = { format: as, tasks: tasks.length }
  if (output === undefined) {
    const text = [...texts.values()].join('')
    if (json) context.printJson({ version: 1, ...head, files: [], text })
    else context.printRaw(text)
    return 0
  }
  const files = writeExport(io.cwd, output, texts).map((path) => relative(io.cwd, path))
  return context.answer({ ...head, files, text: null }, () => files.map((file) => line(file)))
}
