import { agentNamed, previewAgent } from '../../agents/registry.ts'
import { tierOf } from '../../backlog/select/tier.ts'
import { detectGates } from '../../config/detect-gates.ts'
import type { Place } from '../../config/project.ts'
import { openReadingGit } from '../../git/door.ts'
import type { Git } from '../../git/git.ts'
import { unlessGitIsMissing } from '../../git/open-repository.ts'
import { listRecords } from '../../git/record.ts'
import { ignoredPaths } from '../../git/repository.ts'
import { assemblePrompt, type PromptInput } from '../../prompt/assemble.ts'
import { gatherPrompt } from '../../prompt/gather.ts'
import type { PromptRequest } from '../../engine/ports.ts'
import type { SignalResource } from '../../agents/signal/signal.ts'
import { sectionBodies } from '../../backlog/edit-section.ts'
import type { Task } from '../../backlog/model.ts'
import type { World } from '../../base/world.ts'

/** The prompt that an agent would get for a task now. */
export async function previewPrompt(
  { env }: Pick<World, 'env'>,
  place: Place,
  { task, tasks }: { task: Task; tasks: readonly Task[] },
) {
  const git = openReadingGit({ cwd: place.root, env })
  const attempts = await unlessGitIsMissing(listRecords(git, task.id), [])
  const gates = place.config.gates ?? detectGates(place.root)
  const { tier } = tierOf(task, place.config.tiers)
  const agent = await previewAgent(task, { ...place, tier }, env)
  const provider = agent === null ? null : await agentNamed(agent).load(place.config.command)
  return promptOf(
    place,
    git,
  )({
    task,
    tasks,
    attempts,
    gates,
    failedBefore: [],
    continues: null,
    hasTools: provider?.takesMcpServers ?? false,
  })
}

/** The function that writes prompts from the files of a place, and what the agent gets with them. */
export function promptOf(place: Place, git: Git) {
  const { root, config } = place
  return async ({ task, tasks, attempts, gates, failedBefore, continues, hasTools }: PromptRequest) => {
    const failed = new Set(failedBefore.map(({ gate }) => gate.name))
    const { input, mcpServers, warnings } = await gatherPrompt({
      root,
      isIgnored: (paths) => unlessGitIsMissing(ignoredPaths(git, paths), new Set()),
      task,
      backlog: tasks,
      attempts: attempts.map(({ detail, ref, ...attempt }) => {
        return { ...attempt, output: detail, where: `git show ${ref}` }
      }),
      gates: gates.map((gate) => ({ ...gate, failedBefore: failed.has(gate.name) })),
      continues,
      hasTools,
      limits: config.prompt,
      onDemand: config.knowledge === 'resources',
      plans: config.plan.dir,
      mcpServers: config.mcpServers,
    })
    return { ...assemblePrompt(input), mcpServers, warnings, resources: resourcesOf(input) }
  }
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
