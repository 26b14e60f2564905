import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { UserError } from '../../base/errors.ts'
import type { LintContext, LintedTask } from '../../backlog/lint/rule.ts'
import { fix, type TaskFiles } from '../../backlog/lint/fix.ts'
import { byPlace, startLint } from '../../backlog/lint/lint.ts'
import { checkLibraryFile, LIBRARY_RULES, libraryFiles } from '../../prompt/library.ts'
import { readBacklog, readFacts } from '../../backlog/read.ts'
import { counted } from '../../base/text.ts'
import { RULES } from '../../backlog/lint/rules.ts'
import { line } from '../../screen/block.ts'
import { lintSummary, lintView } from '../../screen/lint-view.ts'
import type { ContextOf } from '../commands.ts'
import { lintContext } from '../../authoring/lint-context.ts'
import { addToJobSummary, isInAction, prefixInRepository } from '../github.ts'
import { writeFileOf } from '../../authoring/not-written.ts'
import manifest from '../../../package.json' with { type: 'json' }
import { openPlace, type Place } from '../../config/project.ts'
import type { Renumbered } from '../../authoring/renumber.ts'

type Context = ContextOf<'lint'>

type Format = 'text' | 'json' | 'github' | 'sarif'

/** Checks the backlog, or the files that are named; exits with 1 for errors, or too many warnings. */
export async function run(context: Context): Promise<number> {
  const format = formatOf(context)
  const place = await openPlace(context.where)
  const found = context.options.stdin ? await checkInput(context, place) : await checkFiles(context, place)
  const errors = found.diagnostics.filter(({ severity }) => severity === 'error').length
  const warnings = found.diagnostics.length - errors
  await show(context, place, format, { ...found, errors, warnings })
  const most = context.options.maxWarnings ?? Infinity
  if (errors === 0 && warnings > most) {
    await context.note([line(`${counted(warnings, 'warning')}: more than --max-warnings ${most}`)])
  }
  return errors > 0 || warnings > most ? 1 : 0
}

function formatOf({ options, json, args, io }: Context): Format {
  const format = options.format
  if (json && format !== undefined) throw new UserError('give one of --json and --format')
  const file = options.file
  if (options.stdin !== (file !== undefined)) {
    throw new UserError('--stdin and --file go together: ralph lint --stdin --file docs/tasks/T-004.md')
  }
  if (options.stdin && (options.fix || args.length > 0)) {
    throw new UserError('--stdin cannot be used with --fix', 'Its --json has the fixes.')
  }
  if (json) return 'json'
  if (format === 'github' || format === 'sarif' || format === 'text') return format
  return isInAction(io) && io.stdout.columns === null ? 'github' : 'text'
}

interface Found extends LintedFiles {
  /** The fixed files. */
  readonly fixed: readonly string[]
  /** The tasks with a new number. */
  readonly renumbered: readonly Renumbered[]
}

interface Counted extends Found {
  readonly errors: number
  readonly warnings: number
}

async function show(context: Context, place: Place, format: Format, found: Counted): Promise<void> {
  const { diagnostics, errors, warnings, fixed, renumbered } = found
  if (format === 'json') context.printJson({ version: 1, diagnostics, errors, warnings, fixed, renumbered })
  if (format === 'text') await context.print(lintView(found))
  if (format === 'json' || format === 'text') return
  const { githubAnnotations, jobSummary, sarifLog } = await import('../../screen/lint-formats.ts')
  const prefix = prefixInRepository(place.root)
  if (format === 'sarif') {
    const rules = [...RULES, ...LIBRARY_RULES]
    context.printJson(sarifLog(diagnostics, { version: manifest.version, rules, prefix }))
    return
  }
  context.printRaw(githubAnnotations(diagnostics, { prefix }))
  await context.print([lintSummary(found)])
  addToJobSummary(context.io, jobSummary('Task files', lintView(found)))
}

async function checkFiles(context: Context, place: Place): Promise<Found> {
  const renumbered =
    context.options.fix && context.args.length === 0 ? await renumberTwice(context, place) : []
  const known = await readLinted(place)
  const library = libraryFiles(place.root)
  const only = namedFiles(context, place, [...known, ...library])
  const around = await lintContext(place)
  const fixed = context.options.fix ? await fix(known, taskFiles(place, only), around) : []
  const { checked, diagnostics: ofTasks } = await check(
    place,
    fixed.length > 0 ? await readLinted(place) : known,
    { only, around },
  )
  const looked = library.filter(({ file }) => only === null || only.has(file))
  const ofLibrary = await Promise.all(looked.map((file) => checkLibraryFile(place.root, file, around)))
  return { checked, renumbered, fixed, diagnostics: [...ofTasks, ...ofLibrary.flat()].sort(byPlace) }
}

/** Gives a new number to tasks whose number is in use on the main branch, before the checks. */
async function renumberTwice({ io }: Context, place: Place): Promise<readonly Renumbered[]> {
  const [{ renumber }, { openReadingGit }, { openRepository, unlessGitIsMissing }] = await Promise.all([
    import('../../authoring/renumber.ts'),
    import('../../git/door.ts'),
    import('../../git/open-repository.ts'),
  ])
  if (!(await unlessGitIsMissing(openRepository(io, place.root), null))) return []
  const { tasks } = await readFacts(place, { facts: [] })
  return renumber(openReadingGit({ cwd: place.root, env: io.env }), place, tasks)
}

/** Checks the unsaved text of an editor, among the files on disk. A text that is no task file has no problems. */
async function checkInput({ io, options }: Context, place: Place): Promise<Found> {
  const { root, folders, vocabulary } = place
  const file = relative(root, resolve(io.cwd, options.file ?? '')).replaceAll('\\', '/')
  const text = Buffer.from(await io.readInput()).toString()
  if (!folders.includes(file)) return { checked: 0, fixed: [], renumbered: [], diagnostics: [] }
  const { parseTask } = await import('../../backlog/parse.ts')
  const task = await parseTask({ file, text }, vocabulary)
  const others = (await readLinted(place)).filter((one) => one.file !== file)
  const check = startLint([...others, task], await lintContext(place))
  return { checked: 1, fixed: [], renumbered: [], diagnostics: check(task).toSorted(byPlace) }
}

/** The facts of other tasks that rules need, which are far smaller than their texts. */
async function readLinted(place: Place): Promise<readonly LintedTask[]> {
  return (await readFacts(place, { facts: ['milestone'] })).tasks
}

interface LintedFiles {
  /** The number of checked files. */
  readonly checked: number
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads each file again, checks it and drops it: the texts of a large backlog would fill the memory. */
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
  { root, folders }: Place,
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
        `Task files are ${folders.first}/T-NNN.md, also T-NNN-some-slug.md.`,
      )
    }),
  )
}

/** The files that may be fixed: each is read, written and dropped before the next. */
function taskFiles(place: Place, only: ReadonlySet<string> | null): TaskFiles {
  return {
    read: () => readLinted(place),
    rewrite: async (textOf) => {
      const { tasks } = await readBacklog(place, (task) => {
        const { id, number, file } = task
        const text = only === null || only.has(file) ? textOf(task) : null
        if (text !== null) writeFileOf(place.root, file, text)
        return { id, number, file, isWritten: text !== null }
      })
      return tasks.filter(({ isWritten }) => isWritten).map(({ file }) => file)
    },
  }
}
