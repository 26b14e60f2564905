import { newMark, withMark } from '../process/mark.ts'
import { endMarked } from '../process/tree.ts'
import { sleep } from '../base/sleep.ts'
import { runGate } from '../gates/run.ts'
import { openGit } from '../git/door.ts'
import { GitError, type Git } from '../git/git.ts'
import { openSealer } from '../git/seal/sealer.ts'
import { openCheckout } from '../workspace/checkout.ts'
import { keptAttempts } from '../git/kept-attempts.ts'
import type { RunPorts } from '../run/ports.ts'
import { runFolder } from '../run/run-folder.ts'
import { openTaskFolder } from '../run/source.ts'
import type { Context } from '../cli/command.ts'
import type { Project } from './project.ts'
import { openRepository } from './repository.ts'
import { writePrompt } from './task-prompt.ts'
import { agentsFor, type AgentWishes } from './agents.ts'
import { questions } from '../cli/run/questions.ts'
import { taskEdits } from './task-edits.ts'

/** Everything that a run touches, as it really is, but what is told of the agents beforehand. */
export async function runPorts(
  context: Context,
  project: Project,
  { wishes, pause }: { readonly wishes: AgentWishes; readonly pause: () => void },
): Promise<Omit<RunPorts, 'warnings'>> {
  const { io } = context
  const { root, dir, vocabulary, config, tierOf } = project
  const { repository } = await openRepository(io, root)
  const mark = newMark()
  const git = openGit({ cwd: repository.root, env: withMark(io.env, mark) })
  const dialogue = context.json ? null : io.dialogue()
  const now = (): number => io.now().getTime()
  return {
    workspace: openCheckout(git, repository, root),
    repository,
    source: await openTaskFolder({ root, dir, vocabulary }),
    edits: taskEdits(vocabulary),
    folder: runFolder(root, repository.root),
    attempts: () => keptAttempts(git),
    tierOf,
    agentsFor: agentsFor(wishes),
    prompt: async ({ failedBefore, ...request }) => {
      const names = new Set(failedBefore.map(({ gate }) => gate.name))
      return (await writePrompt(project, git, { ...request, failedBefore: names })).prompt.text
    },
    runGate,
    sealer: config.commit.seal ? openSealer(git, config.commit.digits, { signal: io.signal, now }) : null,
    ...(dialogue ? questions({ ...dialogue, signal: io.signal }, pause) : { ask: null, askToCommit: null }),
    push: () => push(git),
    mark,
    endLeftovers: async (dead) => (await endMarked(dead)).map(({ command }) => command),
    now: io.now,
    sleep,
    checkpoint: () => undefined,
    env: io.env,
    signal: io.signal,
    killSignal: io.urgent,
    pid: io.pid,
  }
}

async function push(git: Git): ReturnType<RunPorts['push']> {
  try {
    await git.run(['push', '--porcelain'])
    const { stdout } = await git.run(['rev-parse', '--abbrev-ref', 'HEAD'])
    return { branch: stdout.toString().trim() }
  } catch (error) {
    if (error instanceof GitError) return { problem: withoutHints(error.stderr) || error.message }
    throw error
  }
}

/** What git adds to teach beginners is longer than what it has to say. */
function withoutHints(text: string): string {
  const lines = text.split('\n').filter((line) => !line.startsWith('hint:'))
  return lines.join('\n').trim()
}
