import { resolve } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { pathWithin } from '../../base/paths.ts'
import { isGithub } from '../../authoring/github.ts'
import { importTasks, type Imported, type ImportWish } from '../../authoring/import-tasks.ts'
import { importMistakes, importView } from '../../screen/import-view.ts'
import type { ContextOf } from '../commands.ts'
import type { Context } from '../command.ts'

/** Makes task files from another tool's backlog; exits with 1 if that cannot be read. */
export async function run(context: ContextOf<'import'>): Promise<number> {
  const { as = null, sync, independent, label } = context.options
  return importFrom(context, context.args[0]!, { as, sync, independent, label, dryRun: false })
}

/** Imports the backlog at a path that the person has typed, and shows the result. */
export async function importFrom(
  context: Context,
  typed: string,
  wish: Omit<ImportWish, 'path'>,
): Promise<number> {
  const place = await context.place()
  const path = isGithub(typed) ? typed.toLowerCase() : pathWithin(place.root, resolve(context.io.cwd, typed))
  if (path === null)
    throw new UserError(`${typed} is outside of the project`, `Name a file or folder in ${place.root}.`)
  const imported = await importTasks(context.io, place, { ...wish, path: path === '' ? '.' : path })
  await context.answer(importJson(imported), () => {
    context.note(importMistakes(imported))
    return importView(imported)
  })
  return imported.isRefused ? 1 : 0
}

function importJson({
  format,
  path,
  mistakes,
  written,
  both,
  gone,
  dropped,
  dryRun,
  files,
  kept,
  said,
}: Imported): object {
  return {
    format,
    path,
    added: written.filter(({ isNew }) => isNew).map(taskJson),
    changed: written.filter(({ isNew }) => !isNew).map(taskJson),
    both: both.map(({ task, parts }) => ({ ...taskJson(task), parts })),
    gone: gone.map(taskJson),
    dropped,
    dryRun,
    files,
    kept,
    said,
    mistakes: mistakes.map(({ file, line, column, severity, message }) => {
      return { file, line, column, severity, message }
    }),
  }
}

function taskJson({ id, file, key }: Pick<Imported['written'][number], 'id' | 'file' | 'key'>) {
  return { id, file, origin: key }
}
