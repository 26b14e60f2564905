import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { writeFileAtomic } from '../../base/atomic-file.ts'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { UserError } from '../../base/errors.ts'
import type { LintContext, LintedTask } from '../../lint/rule.ts'
import { fix, type TaskFiles } from '../../lint/fix.ts'
import { byPlace, startLint } from '../../lint/lint.ts'
import { checkLibraryFile, libraryFiles } from '../../prompt/check-library.ts'
import { readBacklog, readFacts } from '../../task/read.ts'
import { lintView } from '../../ui/lint-view.ts'
import type { Context } from '../command.ts'
import { lintContext } from '../../project/lint-context.ts'
import { notWritten } from '../../project/not-written.ts'
import { openPlace, type Place } from '../../project/project.ts'

/** Checks the backlog, or the part of it that is named; the answer is no where there are errors. */
export async function run(context: Context): Promise<number> {
  const place = await openPlace(context.where)
  const known = await readLinted(place)
  const library = await libraryFiles(place.root)
  const only = namedFiles(context, place, [...known, ...library])
  const around = await lintContext(place)
  const fixed = context.options.on('fix') ? await fix(known, taskFiles(place, only), around) : []
  const { checked, diagnostics: ofTasks } = await check(
    place,
    fixed.length > 0 ? await readLinted(place) : known,
    { only, around },
  )
  const looked = library.filter(({ file }) => only === null || only.has(file))
  const ofLibrary = await Promise.all(looked.map((file) => checkLibraryFile(place.root, file, around)))
  const diagnostics = [...ofTasks, ...ofLibrary.flat()].sort(byPlace)
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  const warnings = diagnostics.length - errors
  if (context.json) context.printJson({ version: 1, diagnostics, errors, warnings, fixed })
  else await context.print(lintView({ diagnostics, errors, warnings, checked, fixed }))
  return errors > 0 ? 1 : 0
}

/** What the rules need to know of the other tasks, which is far less than their texts. */
async function readLinted(place: Place): Promise<readonly LintedTask[]> {
  return (await readFacts(place, { facts: ['milestone'] })).tasks
}

interface LintedFiles {
  /** How many files were looked at. */
  readonly checked: number
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads each file a second time, checks it and lets go of it: in a large backlog the texts would fill the memory. */
async function check(
  place: Place,
  known: readonly LintedTask[],
  { only, around }: { readonly only: ReadonlySet<string> | null; readonly around: LintContext },
): Promise<LintedFiles> {
  const check = startLint(known, around)
  const { tasks } = await readBacklog(place, (task) => {
    const { id, number, file } = task
    return { id, number, file, found: only === null || only.has(file) ? check(task) : null }
  })
  const looked = tasks.flatMap(({ found }) => (found === null ? [] : [found]))
  return { checked: looked.length, diagnostics: looked.flat() }
}

/** The files named on the command line, relative to the root; null for all. */
function namedFiles(
  { args, io }: Context,
  { root, dir }: Place,
  files: readonly { readonly file: string }[],
): ReadonlySet<string> | null {
  if (args.length === 0) return null
  const known = new Set(files.map(({ file }) => file))
  return new Set(
    args.map((arg) => {
      const path = resolve(io.cwd, arg)
      const file = relative(root, path).replaceAll('\\', '/')
      if (known.has(file)) return file
      if (known.has(arg)) return arg
      throw new UserError(
        existsSync(path) ? `${arg} is not a task file` : `there is no file ${arg}`,
        `Task files are ${dir}/T-NNN.md, also T-NNN-some-slug.md.`,
      )
    }),
  )
}

function write(root: string, file: string, text: string): void {
  try {
    writeFileAtomic(join(root, file), text)
  } catch (error) {
    throw notWritten(file, error)
  }
}

/** The files that may be mended, of which each is read, written and let go of before the next. */
function taskFiles(place: Place, only: ReadonlySet<string> | null): TaskFiles {
  return {
    read: () => readLinted(place),
    rewrite: async (textOf) => {
      const { tasks } = await readBacklog(place, (task) => {
        const { id, number, file } = task
        const text = only === null || only.has(file) ? textOf(task) : null
        if (text !== null) write(place.root, file, text)
        return { id, number, file, isWritten: text !== null }
      })
      return tasks.filter(({ isWritten }) => isWritten).map(({ file }) => file)
    },
  }
}
