import { detectGates } from '../gates/detect.ts'
import { openGit } from '../git/door.ts'
import type { Git } from '../git/git.ts'
import { listAttempts } from '../git/attempts.ts'
import { attemptRecord, type AttemptRecord } from '../run/attempt-record.ts'
import type { Task } from '../task/model.ts'
import { promptView } from '../ui/prompt-view.ts'
import type { Context } from './command.ts'
import type { Project } from './project.ts'
import { unlessGitIsMissing, writePrompt, type TaskPrompt } from './task-prompt.ts'

/** Prints what an agent would get for a task: the prompt as it is, and what it is made of beside it. */
export async function showPrompt(context: Context, project: Project, task: Task): Promise<void> {
  const git = openGit({ cwd: project.root, env: context.io.env })
  const written = await writePrompt(project, git, {
    task,
    tasks: project.tasks,
    attempts: unlessGitIsMissing(attemptsAt(git, task), []),
    gates: project.config.gates ?? detectGates(project.root),
    failedBefore: new Set(),
  })
  if (context.json) return context.printJson(promptJson(task, written))
  context.printRaw(written.prompt.text)
  await context.note(promptView(written.prompt, written.warnings))
}

async function attemptsAt(git: Git, task: Task): Promise<readonly AttemptRecord[]> {
  const kept = await listAttempts(git, task.id)
  return kept.flatMap((attempt) => attemptRecord(attempt) ?? [])
}

function promptJson(task: Task, { prompt, mcpServers, warnings }: TaskPrompt): object {
  return {
    version: 1,
    id: task.id,
    estimate: prompt.estimate,
    bytes: Buffer.byteLength(prompt.text),
    parts: prompt.parts,
    mcpServers: Object.keys(mcpServers),
    warnings,
    text: prompt.text,
  }
}
