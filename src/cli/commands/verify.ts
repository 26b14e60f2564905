import { verifyTasks, type Verification, type VerifiedTask } from '../../history/verify.ts'
import { readFacts, taskNames } from '../../backlog/read.ts'
import { UserError } from '../../base/errors.ts'
import { findTask } from '../../config/find-task.ts'
import { refuseToStart } from '../../base/world.ts'
import { line } from '../../screen/block.ts'
import {
  checkedBlocks,
  checkedSummary,
  isRight,
  isShown,
  verifyView,
  verifyWords,
  type CheckedTask,
} from '../../screen/verify-view.ts'
import type { ContextOf } from '../commands.ts'
import { addToJobSummary, isInAction } from '../github.ts'
import { openPlace, type Place } from '../../config/project.ts'
import { readHistory } from '../../git/open-repository.ts'

type Context = ContextOf<'verify'>

/** Checks that every DONE task's Commit names the commit that completed it; exits with 1 if one does not. */
export async function run(context: Context): Promise<number> {
  const place = await openPlace(context.where)
  refuseContradictions(context)
  const before = await verify(context, place)
  const wrong = context.options.fix ? before.tasks.filter(mayBeFixed) : []
  if (wrong.length > 0) await nameAnew(context, place, wrong)
  const { tasks, isCutOff } = wrong.length > 0 ? await verify(context, place) : before
  const isInOrder = tasks.every(({ state }) => isRight(state))
  const fixed = wrong.map(({ id }) => id)
  if (!context.json) {
    const unfinished = isInOrder ? null : await unfinishedTask(place)
    context.print(verifyView({ tasks, fixed, isCutOff, unfinished }))
  }
  const checked = context.options.gates ? await runGates(context, place, tasks) : null
  const ok = isInOrder && (checked?.every(({ problem }) => problem === null) ?? true)
  if (context.json) context.printJson({ version: 1, tasks: checked ?? tasks, ok, cutOff: isCutOff })
  else if (isInAction(context.io)) await annotate(context, { tasks, isCutOff, checked: checked ?? [] })
  if (checked && context.io.signal.aborted) return 130
  return ok ? 0 : 1
}

function refuseContradictions({ options }: Context): void {
  if (options.jobs !== undefined && !options.gates)
    throw new UserError('--jobs is about the gates that run', 'Add --gates, or leave it out.')
}

/** Runs the gates of each commit again: `gates` are those that passed, `problem` is why it is not green. */
async function runGates(
  context: Context,
  place: Place,
  tasks: readonly VerifiedTask[],
): Promise<readonly CheckedTask[]> {
  const { io, options, where } = context
  refuseToStart(io, place.root)
  const { checkCommits } = await import('../setup/check-commits.ts')
  // A squash may have completed several tasks.
  const commits = new Map(tasks.flatMap(({ found, id }) => (found === null ? [] : [[found, id] as const])))
  const checks = await checkCommits(
    io,
    {
      where,
      place,
      commits: [...commits].map(([commit, id]) => ({ commit, id })),
      jobs: options.jobs ?? place.config.jobs,
    },
    async (check) => {
      if (!context.json) context.print(checkedBlocks(check, tasks))
    },
  )
  const byCommit = new Map(checks.map((check) => [check.commit, check]))
  const checked = tasks.map((task): CheckedTask => {
    const { passed, problem } = byCommit.get(task.found ?? '') ?? NOT_CHECKED
    return { ...task, gates: passed, problem }
  })
  if (!context.json) context.print(checkedSummary(checked))
  return checked
}

const NOT_CHECKED = { passed: null, problem: 'its gates were not run' }

/** Reports the wrong files in a GitHub action, as annotations and in the summary of the job. */
async function annotate(
  context: Context,
  { tasks, isCutOff, checked }: Verification & { readonly checked: readonly CheckedTask[] },
): Promise<void> {
  const { githubCommand, jobSummary } = await import('../../screen/lint-formats.ts')
  const report = (severity: 'warning' | 'error', id: string, text: string): void =>
    context.printRaw(githubCommand(severity, { title: 'ralph verify' }, `${id}: ${text}`))
  for (const task of tasks.filter(isShown)) {
    report(isRight(task.state) ? 'warning' : 'error', task.id, verifyWords(task).join(' '))
  }
  const red = checked.flatMap(({ id, found, problem }) =>
    problem === null ? [] : [{ id, text: `${found?.slice(0, 10) ?? ''} ${problem}` }],
  )
  for (const { id, text } of red) report('error', id, text)
  const view = verifyView({ tasks, fixed: [], isCutOff, unfinished: null })
  const gates = [...red.map(({ id, text }) => line(`${id}  ${text}`)), ...checkedSummary(checked)]
  addToJobSummary(context.io, jobSummary('Commits of tasks', [...view, ...gates]))
}

/** The task of a current run, or of one that died. */
async function unfinishedTask({ root }: Place): Promise<string | null> {
  const [{ readNote }, { runFolder }] = await Promise.all([
    import('../../engine/note.ts'),
    import('../../engine/folder.ts'),
  ])
  return readNote(runFolder(root).note)?.jobs[0]?.attempt.task ?? null
}

async function verify({ io, args }: Context, place: Place): Promise<Verification> {
  const { root, vocabulary } = place
  const { tasks, isCutOff } = await readHistory(io, root, (git) =>
    verifyTasks(git, {
      readTasks: async () => (await readFacts(place, { facts: ['commit'] })).tasks,
      vocabulary,
    }),
  )
  if (args.length === 0) return { tasks, isCutOff }
  const names = taskNames(place)
  const named = new Set(args.map((typed) => findTask(names, typed).id))
  const stranger = [...named].find((id) => !tasks.some((task) => task.id === id))
  if (stranger !== undefined)
    throw new UserError(
      `${stranger} is not DONE, so no commit has completed it`,
      'See: ralph list --status DONE',
    )
  return { tasks: tasks.filter(({ id }) => named.has(id)), isCutOff }
}

function mayBeFixed({ state, found }: VerifiedTask): boolean {
  return (state === 'moved' || state === 'missing') && found !== null
}

async function nameAnew({ io }: Context, place: Place, wrong: readonly VerifiedTask[]): Promise<void> {
  // Writing needs modules that would slow the check down, so they are loaded only here.
  const { nameCommits } = await import('../../authoring/commit-task-files.ts')
  const names = new Map(wrong.flatMap(({ id, found }) => (found === null ? [] : [[id, found] as const])))
  await nameCommits(io, place, names)
}
