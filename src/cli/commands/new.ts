import { join, relative } from 'node:path'
import { closest, nameAmong } from '../../base/spelling.ts'
import { UserError } from '../../base/errors.ts'
import { fewOf } from '../../base/text.ts'
import { DISCIPLINES, FEATURES, namesIn } from '../../prompt/library.ts'
import type { ContextOf } from '../commands.ts'
import { type Draft, draftOf, openCriteria } from '../../backlog/draft.ts'
import { DESCRIPTION_HINT } from '../../backlog/template.ts'
import { openReadingGit } from '../../git/door.ts'
import { findTask } from '../../config/find-task.ts'
import { partsOf } from '../../backlog/ids.ts'
import { highestNumber, milestoneLike, pathIn, writeNewTask } from '../../authoring/new-task.ts'
import { openProject, type Project } from '../../config/project.ts'
import { unlessGitIsMissing } from '../../git/open-repository.ts'
import { paragraph } from '../../screen/block.ts'
import { editorOf, openEditor } from './edit.ts'

type Context = ContextOf<'new'>

/** Writes the next free task file and prints its path. */
export async function run(context: Context): Promise<number> {
  const project = await openProject(context.where)
  const title = context.args[0]!.replace(/\s+/g, ' ').trim()
  if (title === '') throw new UserError('a task needs a title', 'ralph new "Add the login form"')
  const draft = draftIn(context, project, title)
  const editor = context.options.edit ? editorOf(context.io) : null
  const git = openReadingGit({ cwd: project.root, env: context.io.env })
  const highest = await unlessGitIsMissing(
    highestNumber(git, project, project.tasks),
    partsOf(project.tasks.at(-1)?.number ?? 0).first,
  )
  const { id, file } = writeNewTask(project, highest + 1, draft)
  noteMilestone(context, project)
  if (editor !== null) await openEditor(context.io, editor, join(project.root, file))
  if (context.json) context.printJson({ version: 1, id, file })
  else context.printRaw(`${relative(context.io.cwd, join(project.root, file))}\n`)
  return 0
}

/** A new milestone may be a misspelled one, or a number that nobody has given a name. */
function noteMilestone({ options, note }: Context, { tasks }: Project): void {
  const milestone = milestoneLike(options.milestone, tasks)
  const known = [...new Set(tasks.flatMap((task) => task.milestone ?? []))]
  const others = known.length === 0 ? '' : ` (so far: ${fewOf(known, 5)})`
  if (milestone !== null && !known.includes(milestone))
    note([paragraph([], `note: the milestone "${milestone}" is new${others}`)])
}

function draftIn({ options }: Context, { root, tasks }: Project, title: string): Draft {
  const { description, criteria, produces } = options
  const depends = options.depends.filter((id) => id.toLowerCase() !== 'none')
  return draftOf({
    title,
    milestone: milestoneLike(options.milestone, tasks),
    depends: depends.map((id) => findTask(tasks, id).id),
    touches: options.touches.map((path) => pathIn(path, '--touches')),
    complexity: options.complexity,
    discipline: nameOf('discipline', options.discipline, namesIn(root, DISCIPLINES)),
    feature: nameOf('feature', options.feature, namesIn(root, FEATURES)),
    provenance: 'human',
    // Without any of these the file has the usual sections to fill in.
    description: description ?? (criteria.length + produces.length > 0 ? DESCRIPTION_HINT : null),
    criteria: openCriteria(criteria),
    produces: produces.map((path) => pathIn(path, '--produces')),
  })
}

function nameOf(
  kind: 'discipline' | 'feature',
  name: string | undefined,
  known: readonly string[],
): string | null {
  if (name === undefined) return null
  const found = nameAmong(known, name)
  if (found !== undefined) return found
  const near = closest(name, known)
  throw new UserError(
    `there is no ${kind} '${name}'`,
    near ? `Did you mean ${near}?` : `Write docs/${kind}s/${name}.md first.`,
  )
}
