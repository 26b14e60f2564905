import type { Gate, McpServer } from '../../base/nouns.ts'
import type { Git } from '../../git/git.ts'
import { ignoredPaths } from '../../git/repository.ts'
import { assemblePrompt, type PromptInput } from '../../prompt/assemble.ts'
import { gatherPrompt } from '../../prompt/gather.ts'
import type { EarlierAttempt } from '../../prompt/history.ts'
import type { Prompt } from '../../prompt/template.ts'
import type { KeptAttempt } from '../../git/record.ts'
import type { WritePrompt } from '../../engine/ports.ts'
import type { SignalResource } from '../../agents/signal/signal.ts'
import { sectionBodies } from '../../backlog/edit-section.ts'
import type { Task } from '../../backlog/model.ts'
import type { Place } from '../../config/project.ts'
import { unlessGitIsMissing } from '../../git/open-repository.ts'

/** What the prompt of a task depends on, besides the files of the project. */
interface PromptWish {
  readonly task: Task
  readonly tasks: readonly Task[]
  readonly attempts: readonly KeptAttempt[]
  readonly gates: readonly Gate[]
  /** The names of the gates that failed before the run. */
  readonly failedBefore: ReadonlySet<string>
}

/** A prompt, and what the agent gets with it. */
export interface TaskPrompt {
  readonly prompt: Prompt
  readonly mcpServers: Readonly<Record<string, McpServer>>
  readonly warnings: readonly string[]
  /** What the agent can read on demand. */
  readonly resources: readonly SignalResource[]
}

/** The function that writes the prompts of a run. */
export function promptOf(place: Place, git: Git): WritePrompt {
  return async ({ failedBefore, ...request }) => {
    const names = new Set(failedBefore.map(({ gate }) => gate.name))
    const { prompt, warnings, resources } = await writePrompt(place, git, { ...request, failedBefore: names })
    return { text: prompt.text, estimate: prompt.estimate, warnings, resources }
  }
}

/** Writes the prompt of a task: the same for `ralph prompt`, which shows it, and for a run, which sends it. */
export async function writePrompt(place: Place, git: Git, wish: PromptWish): Promise<TaskPrompt> {
  const { root, config } = place
  const { input, mcpServers, warnings } = await gatherPrompt({
    root,
    isIgnored: (paths) => unlessGitIsMissing(ignoredPaths(git, paths), new Set()),
    task: wish.task,
    backlog: wish.tasks,
    attempts: wish.attempts.map(earlierAttempt),
    gates: wish.gates.map(({ name, command, required }) => ({
      name,
      command,
      required,
      failedBefore: wish.failedBefore.has(name),
    })),
    limits: config.prompt,
    onDemand: config.knowledge === 'resources',
    plans: config.plan.dir,
    mcpServers: config.mcpServers,
  })
  return { prompt: assemblePrompt(input), mcpServers, warnings, resources: resourcesOf(input) }
}

/** The task, the notes of the tasks that it depends on, the earlier attempts, and the documents that the prompt only lists. */
function resourcesOf(input: PromptInput): readonly SignalResource[] {
  const { task, prerequisites, attempts, knowledge, onDemand } = input
  const documents = knowledge.flatMap((one) => (onDemand && one.kind === 'shown' ? [one.path] : []))
  return [
    { uri: 'ralph://task', title: `${task.id}: ${task.title}`, text: task.source, file: null },
    ...prerequisites.flatMap((done) => {
      const notes = sectionBodies(done, 'Completion Notes').join('\n\n')
      const title = `Notes of ${done.id}: ${done.title}`
      return notes === '' ? [] : [{ uri: `ralph://notes/${done.id}`, title, text: notes, file: null }]
    }),
    ...attempts.map(({ number, outcome, reason, output, changed }) => ({
      uri: `ralph://attempts/${number}`,
      title: `Attempt ${number}: ${outcome}`,
      text: [reason, output, changed.length > 0 ? `Changed: ${changed.join(', ')}` : '']
        .filter(Boolean)
        .join('\n\n'),
      file: null,
    })),
    ...documents.map((file) => ({
      uri: `ralph://document/${encodeURI(file)}`,
      title: file,
      text: null,
      file,
    })),
  ]
}

function earlierAttempt({ number, outcome, reason, detail, changed, ref }: KeptAttempt): EarlierAttempt {
  return { number, outcome, reason, output: detail, changed, where: `git show ${ref}` }
}
