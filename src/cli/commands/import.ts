import { resolve } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { UserError } from '../../base/errors.ts'
import { pathWithin } from '../../base/paths.ts'
import { importTasks, type Imported, type ImportWish } from '../../authoring/import-tasks.ts'
import { openPlace } from '../../config/project.ts'
import { importMistakes, importView } from '../../screen/import-view.ts'
import type { ContextOf } from '../commands.ts'
import type { Context } from '../command.ts'

/** Makes task files from another tool's backlog; exits with 1 if that cannot be read. */
export async function run(context: ContextOf<'import'>): Promise<number> {
  const { options, args } = context
  return importFrom(context, args[0] ?? '', {
    as: options.as ?? null,
    sync: options.sync,
    independent: options.independent,
  })
}

/** Imports the backlog at a path that the person has typed, and shows the result. */
export async function importFrom(
  context: Context,
  typed: string,
  wish: Omit<ImportWish, 'path'>,
): Promise<number> {
  const place = await openPlace(context.where)
  const path = pathWithin(place.root, resolve(context.io.cwd, typed))
  if (path === null)
    throw new UserError(`${typed} is outside of the project`, `Name a file or folder in ${place.root}.`)
  const imported = await importTasks(context.io, place, { ...wish, path: path === '' ? '.' : path })
  if (context.json) context.printJson(importJson(imported))
  else {
    await context.note(importMistakes(imported))
    await context.print(importView(imported))
  }
  return imported.isRefused ? 1 : 0
}

function importJson({ format, path, mistakes, written, both, gone, dropped, files, kept }: Imported): object {
  const found = mistakes.map(({ file, line, column, severity, message }: Diagnostic) => {
    return { file, line, column, severity, message }
  })
  return {
    version: 1,
    format,
    path,
    added: written.filter(({ isNew }) => isNew).map(({ id, file, key }) => ({ id, file, origin: key })),
    changed: written.filter(({ isNew }) => !isNew).map(({ id, file, key }) => ({ id, file, origin: key })),
    both: both.map(({ task: { id, file, key }, parts }) => ({ id, file, origin: key, parts })),
    gone: gone.map(({ id, file, key }) => ({ id, file, origin: key })),
    dropped,
    files,
    kept,
    mistakes: found,
  }
}
