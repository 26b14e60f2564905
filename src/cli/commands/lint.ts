import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { writeFileAtomic } from '../../base/atomic-file.ts'
import { UserError } from '../../base/errors.ts'
import { fix } from '../../lint/fix.ts'
import { lint } from '../../lint/lint.ts'
import { parseTask } from '../../task/parse.ts'
import { lintView } from '../../ui/lint-view.ts'
import type { Context } from '../command.ts'
import { lintContext } from '../lint-context.ts'
import { openProject, type Project } from '../project.ts'

/** Checks the backlog, or the part of it that is named; the answer is no where there are errors. */
export async function run(context: Context): Promise<number> {
  const before = await openProject(context)
  const only = namedFiles(context, before)
  const fixed = context.options.on('fix') ? await mend(before, only) : []
  const { tasks, ...place } = fixed.length > 0 ? await openProject(context) : before
  const diagnostics = lint(tasks, await lintContext(place)).filter(
    ({ file }) => only === null || only.has(file),
  )
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  const warnings = diagnostics.length - errors
  if (context.json) context.printJson({ version: 1, diagnostics, errors, warnings, fixed })
  else {
    const checked = tasks.filter(({ file }) => only === null || only.has(file)).length
    await context.print(lintView({ diagnostics, errors, warnings, checked, fixed }))
  }
  return errors > 0 ? 1 : 0
}

/** The files named on the command line, relative to the root; null for all. */
function namedFiles({ args, io }: Context, { root, tasks, dir }: Project): ReadonlySet<string> | null {
  if (args.length === 0) return null
  const known = new Set(tasks.map(({ file }) => file))
  return new Set(
    args.map((arg) => {
      const path = resolve(io.cwd, arg)
      const file = relative(root, path).replaceAll('\\', '/')
      if (known.has(file)) return file
      if (known.has(arg)) return arg
      if (!existsSync(path)) throw new UserError(`there is no file ${arg}`)
      throw new UserError(
        `${arg} is not a task file`,
        `Task files are ${dir}/T-NNN.md, also T-NNN-some-slug.md.`,
      )
    }),
  )
}

async function mend(project: Project, only: ReadonlySet<string> | null): Promise<readonly string[]> {
  const { root, tasks, vocabulary } = project
  const context = await lintContext(project)
  const fixed = await fix(tasks, context, (taskFile) => parseTask(taskFile, vocabulary))
  const mended = fixed.filter(({ file }) => only === null || only.has(file))
  for (const { file, text } of mended) writeFileAtomic(join(root, file), text)
  return mended.map(({ file }) => file)
}
