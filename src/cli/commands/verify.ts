import { verifyTasks, type Verification, type VerifiedTask } from '../../history/verify.ts'
import { readFacts } from '../../task/read.ts'
import { verifyView } from '../../ui/verify-view.ts'
import type { Context } from '../command.ts'
import { addToJobSummary, isInAction } from '../github.ts'
import { openPlace, type Place } from '../../project/project.ts'
import { readHistory } from '../../project/repository.ts'

/** Checks that every DONE task's Commit names the commit that completed it; the answer is no where one does not. */
export async function run(context: Context): Promise<number> {
  const place = await openPlace(context.where)
  const before = await verify(context, place)
  const wrong = context.options.on('fix') ? before.tasks.filter(mayBeFixed) : []
  if (wrong.length > 0) await nameAnew(context, place, wrong)
  const { tasks, isCutOff } = wrong.length > 0 ? await verify(context, place) : before
  const ok = tasks.every(({ state }) => state === 'sealed' || state === 'matches')
  const fixed = wrong.map(({ id }) => id)
  if (context.json) context.printJson({ version: 1, tasks, ok, cutOff: isCutOff })
  else {
    const unfinished = ok ? null : await unfinishedTask(place)
    await context.print(verifyView({ tasks, fixed, isCutOff, unfinished }))
    if (isInAction(context.io)) await annotate(context, { tasks, isCutOff })
  }
  return ok ? 0 : 1
}

/** Says in a GitHub action which files are wrong, beside the run and in the summary of the job. */
async function annotate(context: Context, { tasks, isCutOff }: Verification): Promise<void> {
  const { verifyAnnotations, verifyMarkdown } = await import('../../ui/verify-formats.ts')
  context.printRaw(verifyAnnotations(tasks))
  addToJobSummary(context.io, verifyMarkdown({ tasks, isCutOff }))
}

/** The task that a run is in the middle of, or was when it died. */
async function unfinishedTask({ root }: Place): Promise<string | null> {
  const [{ readNote }, { runFolder }] = await Promise.all([
    import('../../run/note.ts'),
    import('../../run/folder.ts'),
  ])
  return readNote(runFolder(root).note)?.attempt?.task ?? null
}

async function verify({ io }: Context, place: Place): Promise<Verification> {
  const { root, vocabulary } = place
  return readHistory(io, root, (git) =>
    verifyTasks(git, {
      readTasks: async () => (await readFacts(place, { facts: ['commit'] })).tasks,
      vocabulary,
    }),
  )
}

function mayBeFixed({ state, found }: VerifiedTask): boolean {
  return (state === 'moved' || state === 'missing') && found !== null
}

async function nameAnew({ io }: Context, place: Place, wrong: readonly VerifiedTask[]): Promise<void> {
  // Only here is anything written: checking stays quick without what that needs.
  const { nameCommits } = await import('../../project/commit-task-files.ts')
  const names = new Map(wrong.flatMap(({ id, found }) => (found === null ? [] : [[id, found] as const])))
  await nameCommits(io, place, names)
}
