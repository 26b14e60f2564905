import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { pathWithin } from '../../base/paths.ts'
import { UNREAD_RULE, unreadDiagnostics } from '../../config/unread.ts'
import type { LintedTask } from '../../backlog/lint/rule.ts'
import { fix } from '../../backlog/lint/fix.ts'
import { byPlace, startLint } from '../../backlog/lint/lint.ts'
import type { Task } from '../../backlog/model.ts'
import { LIBRARY_RULES, libraryFiles, lintLibrary } from '../../prompt/library.ts'
import { mapTasks, readFacts } from '../../backlog/read.ts'
import { counted } from '../../base/text.ts'
import { RULES } from '../../backlog/lint/rules.ts'
import { line } from '../../screen/block.ts'
import { githubAnnotations, jobSummary, lintSummary, lintView, sarifLog } from '../../screen/lint-view.ts'
import type { ContextOf } from '../commands.ts'
import { lintContext } from '../../authoring/lint-context.ts'
import { addToJobSummary, isInAction, prefixInRepository } from '../github.ts'
import { writeFileOf } from '../../base/atomic-file.ts'
import manifest from '../../../package.json' with { type: 'json' }
import type { Place } from '../../config/project.ts'
import type { Renumbered } from '../../authoring/renumber.ts'

type Context = ContextOf<'lint'>

/** Checks the backlog, or the files that are named; exits with 1 for errors, or too many warnings. */
export async function run(context: Context): Promise<number> {
  const { options } = context
  refuseContradictions(context)
  const place = await context.place()
  const found = options.stdin ? await checkInput(context, place) : await checkFiles(context, place)
  const errors = found.diagnostics.filter(({ severity }) => severity === 'error').length
  const warnings = found.diagnostics.length - errors
  await show(context, place, { ...found, errors, warnings })
  const most = options.maxWarnings ?? Infinity
  if (errors === 0 && warnings > most)
    context.note([line(`${counted(warnings, 'warning')}: more than --max-warnings ${most}`)])
  return errors > 0 || warnings > most ? 1 : 0
}

function refuseContradictions({ options, json, args }: Context): void {
  const { format, file, stdin } = options
  if (json && format !== undefined) throw new UserError('give one of --json and --format')
  if (stdin !== (file !== undefined))
    throw new UserError('--stdin and --file go together: ralph lint --stdin --file docs/tasks/T-004.md')
  if (stdin && (options.fix || args.length > 0))
    throw new UserError('--stdin cannot be used with --fix', 'Its --json has the fixes.')
}

type Found = Parameters<typeof lintView>[0]

/** Who publishes the package fills in its homepage. */
const RALPH: { readonly version: string; readonly homepage?: string } = manifest

async function show(context: Context, place: Place, found: Found): Promise<void> {
  const { io, json } = context
  const { diagnostics, errors, warnings, fixed, renumbered } = found
  const { format = isInAction(io) && io.stdout.columns === null ? 'github' : 'text' } = context.options
  if (json || format === 'text') {
    await context.answer({ diagnostics, errors, warnings, fixed, renumbered }, () => lintView(found))
    return
  }
  const prefix = prefixInRepository(place.root)
  if (format === 'sarif') {
    const rules = [...RULES, ...LIBRARY_RULES, UNREAD_RULE]
    context.printJson(sarifLog(diagnostics, { ...RALPH, rules, prefix }))
    return
  }
  context.printRaw(githubAnnotations(diagnostics, prefix))
  context.print([lintSummary(found)])
  addToJobSummary(io, jobSummary('Task files', lintView(found)))
}

async function checkFiles(context: Context, place: Place) {
  const { options, args } = context
  const { root } = place
  const renumbered = options.fix && args.length === 0 ? await renumberTwice(context, place) : []
  let known = await readLinted(place)
  const only = namedFiles(context, place, [...known, ...libraryFiles(root)])
  const around = await lintContext(place)
  const rewrite = async (textOf: (task: Task) => string | null): Promise<readonly string[]> => {
    const written = await eachTask(place, only, (task) => {
      const text = textOf(task)
      if (text !== null) writeFileOf(root, task.file, text)
      return text === null ? [] : [task.file]
    })
    return written.flat()
  }
  const fixed = options.fix ? await fix(known, { read: () => readLinted(place), rewrite }, around) : []
  if (fixed.length > 0) known = await readLinted(place)
  const ofTasks = await eachTask(place, only, startLint(known, around))
  const ofLibrary = await lintLibrary(root, around, (file) => only === null || only.has(file))
  const ofUnread = only === null ? unreadDiagnostics(place) : []
  const diagnostics = [...ofTasks.flat(), ...ofLibrary, ...ofUnread].sort(byPlace)
  return { checked: ofTasks.length, renumbered, fixed, diagnostics }
}

/** Gives a new number to tasks whose number is in use on the main branch, before the checks. */
async function renumberTwice({ io }: Context, place: Place): Promise<Renumbered> {
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
async function checkInput({ io, options }: Context, place: Place) {
  const nothing = { checked: 0, fixed: [], renumbered: [], diagnostics: [] }
  const file = pathWithin(place.root, resolve(io.cwd, options.file!)) ?? ''
  const text = Buffer.from(await io.readInput()).toString()
  if (!place.folders.includes(file)) {
    const unread = unreadDiagnostics({ ...place, unsaved: { file, text } })
    return { ...nothing, diagnostics: unread.filter((one) => one.file === file) }
  }
  const { parseTask } = await import('../../backlog/parse.ts')
  const task = await parseTask({ file, text }, place.vocabulary)
  const others = (await readLinted(place)).filter((one) => one.file !== file)
  const check = startLint([...others, task], await lintContext(place))
  return { ...nothing, checked: 1, diagnostics: check(task).toSorted(byPlace) }
}

/** The facts of other tasks that rules need, which are far smaller than their texts. */
async function readLinted(place: Place): Promise<readonly LintedTask[]> {
  return (await readFacts(place, { facts: ['milestone'] })).tasks
}

/** Reads each named file again, works on it and drops it: the texts of a large backlog would fill the memory. */
async function eachTask<T>(
  place: Place,
  only: ReadonlySet<string> | null,
  work: (task: Task) => T,
): Promise<readonly T[]> {
  const results = await mapTasks(place, (task) => (only === null || only.has(task.file) ? [work(task)] : []))
  return results.flat()
}

/** The files named on the command line, relative to the root; null for all. */
function namedFiles(
  { args, io }: Context,
  { root, folders }: Place,
  files: readonly { readonly file: string }[],
): ReadonlySet<string> | null {
  if (args.length === 0) return null
  const id = folders.ids.idOf(4, 3)
  const known = new Set(files.map(({ file }) => file))
  return new Set(
    args.map((arg) => {
      const path = resolve(io.cwd, arg)
      const file = pathWithin(root, path) ?? ''
      if (known.has(file)) return file
      if (known.has(arg)) return arg
      throw new UserError(
        existsSync(path) ? `${arg} is not a task file` : `there is no file ${arg}`,
        `Task files are ${folders.first}/${id}.md, also ${id}-some-slug.md.`,
      )
    }),
  )
}
