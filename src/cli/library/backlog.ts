import { openReadingGit } from '../../git/door.ts'
import { listRecords } from '../../git/record.ts'
import type { Diagnostic } from '../../base/diagnostic.ts'
import { fix } from '../../backlog/lint/fix.ts'
import { lint } from '../../backlog/lint/lint.ts'
import type { LintContext } from '../../backlog/lint/rule.ts'
import { edited } from '../../backlog/markdown/splice.ts'
import { detectGates } from '../../config/detect-gates.ts'
import { findTask } from '../../config/find-task.ts'
import { lintContext } from '../../authoring/lint-context.ts'
import { openProject as open, type Project } from '../../config/project.ts'
import { unlessGitIsMissing } from '../../git/open-repository.ts'
import { writePrompt } from '../setup/task-prompt.ts'
import { setStatus } from '../../backlog/edit-field.ts'
import type { Status, Task } from '../../backlog/model.ts'
import { parseTask } from '../../backlog/parse.ts'
import { TASK_VOCABULARY, type TaskVocabulary } from '../../backlog/vocabulary.ts'
import { ownWorld } from './world.ts'

/** Opens the project of a folder: its configuration, its tasks, and decisions about them. */
export function openProject(
  cwd: string,
  { dir }: { /** Another task folder. */ readonly dir?: string } = {},
): Promise<Project> {
  return open({ cwd, dir })
}

/** Checks a whole project, like `ralph lint`: the problems, their places, and their fixes if there is one right fix. */
export async function lintProject(project: Project): Promise<readonly Diagnostic[]> {
  return lint(project.tasks, await lintContext(project))
}

/** The new texts of the tasks that lint can fix, by file; writes nothing. */
export async function fixTasks(
  tasks: readonly Task[],
  context: LintContext = {},
  vocabulary: TaskVocabulary = TASK_VOCABULARY,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  let known = tasks
  await fix(
    tasks,
    {
      read: async () => known,
      async rewrite(textOf) {
        const files: string[] = []
        known = await Promise.all(
          known.map(async (task) => {
            const text = textOf(task)
            if (text === null) return task
            files.push(task.file)
            texts.set(task.file, text)
            return parseTask({ file: task.file, text }, vocabulary)
          }),
        )
        return files
      },
    },
    context,
  )
  return texts
}

/** The text of a task's file with another status; all other bytes stay the same. */
export function withStatus(task: Task, status: Status, vocabulary: TaskVocabulary = TASK_VOCABULARY): string {
  return edited(task, setStatus(task, status, vocabulary))
}

/** The exact prompt that an agent would get for a task, with its estimated tokens. */
export async function promptFor(
  project: Project,
  id: string,
): Promise<{ readonly text: string; readonly estimate: number; readonly warnings: readonly string[] }> {
  const task = findTask(project.tasks, id)
  const git = openReadingGit({ cwd: project.root, env: ownWorld().env })
  const attempts = await unlessGitIsMissing(listRecords(git, task.id), [])
  const gates = project.config.gates ?? detectGates(project.root)
  const { tasks } = project
  const { prompt, warnings } = await writePrompt(project, git, {
    task,
    tasks,
    attempts,
    gates,
    failedBefore: new Set(),
  })
  return { text: prompt.text, estimate: prompt.estimate, warnings }
}
