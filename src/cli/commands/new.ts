import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { closest, nameAmong } from '../../base/spelling.ts'
import { UserError } from '../../base/errors.ts'
import { strayingOf } from '../../base/paths.ts'
import { DISCIPLINES, FEATURES, namesIn } from '../../prompt/library.ts'
import type { FieldName, Task } from '../../task/model.ts'
import { idOf } from '../../task/values.ts'
import type { Context } from '../command.ts'
import { findTask } from '../../project/find-task.ts'
import { isMilestone } from '../../task/milestone.ts'
import { taskWriter } from '../../task/draft.ts'
import { notWritten } from '../not-written.ts'
import { openProject, type Project } from '../../project/project.ts'

/** Writes the next free task file and prints its path. */
export async function run(context: Context): Promise<number> {
  const project = await openProject(context.where)
  const title = (context.args[0] ?? '').replace(/\s+/g, ' ').trim()
  if (title === '') throw new UserError('a task needs a title', 'ralph new "Add the login form"')
  const fields = await fieldsOf(context, project)
  const { id, file } = writeNext(project, await asHeading(title), fields)
  if (context.json) context.printJson({ version: 1, id, file })
  else context.printRaw(`${relative(context.io.cwd, join(project.root, file))}\n`)
  return 0
}

/** The title as Markdown that says just that: `Option<T>` would be HTML. Who gives code marks writes Markdown already. */
async function asHeading(title: string): Promise<string> {
  if (title.includes('`') || !/[\\*_<[&#]/.test(title)) return title
  const { plainMarkdown } = await import('../../task/notes.ts')
  return plainMarkdown(title).replace(/#$/, '\\#')
}

type Fields = readonly (readonly [FieldName, string])[]

async function fieldsOf({ options }: Context, { root, tasks }: Project): Promise<Fields> {
  const depends = options.list('depends').filter((id) => id.toLowerCase() !== 'none')
  return [
    ['Status', 'TODO'],
    ['Milestone', milestoneOf(options.text('milestone'), tasks)],
    ['Depends', depends.map((id) => findTask(tasks, id).id).join(', ') || 'none'],
    ['Touches', options.list('touches').map(asCode).join(', ')],
    ['Complexity', options.text('complexity') ?? ''],
    ['Discipline', nameOf('discipline', options.text('discipline'), await namesIn(root, DISCIPLINES))],
    ['Feature', nameOf('feature', options.text('feature'), await namesIn(root, FEATURES))],
    ['Provenance', 'human'],
  ]
}

/** A milestone that is there already is meant by its number or its name too. */
function milestoneOf(asked: string | undefined, tasks: readonly Task[]): string {
  if (asked === undefined) return ''
  const known = tasks.find((task) => task.milestone !== null && isMilestone(task.milestone, asked))
  return known?.milestone ?? asked.replace(/\s+/g, ' ').trim()
}

function nameOf(kind: 'discipline' | 'feature', name: string | undefined, known: readonly string[]): string {
  if (name === undefined) return ''
  const found = nameAmong(known, name)
  if (found !== undefined) return found
  const near = closest(name, known)
  throw new UserError(
    `there is no ${kind} '${name}'`,
    near ? `Did you mean ${near}?` : `Write docs/${kind}s/${name}.md first.`,
  )
}

function asCode(path: string): string {
  const wrong = strayingOf(path.replaceAll('`', ''))
  if (wrong)
    throw new UserError(`--touches: ${path} ${wrong}`, 'Name files as they lie from the root: src/login.ts')
  return path.includes('`') ? path : `\`${path}\``
}

// No file with more digits is read as a task.
const LONGEST_ID = 'T-'.length + 12

/** Claims a number by making its file: where another process was quicker the number after it is tried. */
function writeNext(project: Project, title: string, fields: Fields): { id: string; file: string } {
  const { root, dir, tasks, vocabulary } = project
  const highest = tasks.at(-1)
  const digits = highest ? highest.id.length - 'T-'.length : 3
  const textOf = taskWriter(tasks, vocabulary)
  for (let number = (highest?.number ?? 0) + 1; ; number++) {
    const id = idOf(number, digits)
    if (id.length > LONGEST_ID)
      throw new UserError(`${id} would be too long an id`, 'Give the highest task a smaller number.')
    const file = `${dir}/${id}.md`
    const text = textOf({ id, title, fields })
    try {
      writeFileSync(join(root, file), text, { flag: 'wx' })
      return { id, file }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST'))
        throw notWritten(file, error)
    }
  }
}
