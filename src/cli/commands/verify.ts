import { verifyTasks, type VerifiedTask } from '../../history/verify.ts'
import { readFacts, taskNames } from '../../backlog/read.ts'
import { UserError } from '../../base/errors.ts'
import { findTask } from '../../config/find-task.ts'
import { refuseToStart } from '../../base/world.ts'
import { line } from '../../screen/block.ts'
import { githubCommand, jobSummary } from '../../screen/lint-view.ts'
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
import type { Place } from '../../config/project.ts'
import { readHistory } from '../../git/open-repository.ts'

type Context = ContextOf<'verify'>

/** Checks that every DONE task's Commit names the commit that completed it; exits with 1 if one does not. */
export async function run(context: Context): Promise<number> {
  const { io, options, json } = context
  const place = await context.place()
  if (options.jobs !== undefined && !options.gates)
    throw new UserError('--jobs is about the gates that run', 'Add --gates, or leave it out.')
  const before = await verify(context, place)
  const wrong = before.tasks.flatMap(({ id, state, found }) =>
    options.fix && (state === 'moved' || state === 'missing') && found !== null ? [[id, found] as const] : [],
  )
  if (wrong.length > 0) {
    // Writing needs modules that would slow the check down, so they are loaded only here.
    const { nameCommits } = await import('../../authoring/commit-task-files.ts')
    await nameCommits(io, place, new Map(wrong))
  }
  const { tasks, isCutOff } = wrong.length > 0 ? await verify(context, place) : before
  const isInOrder = tasks.every(({ state }) => isRight(state))
  const fixed = wrong.map(([id]) => id)
  if (!json) {
    const unfinished = isInOrder ? null : await unfinishedTask(place)
    context.print(verifyView({ tasks, fixed, isCutOff, unfinished }))
  }
  const checked = options.gates ? await runGates(context, place, tasks) : null
  const ok = isInOrder && (checked?.every(({ problem }) => problem === null) ?? true)
  if (json) context.printJson({ version: 1, tasks: checked ?? tasks, ok, cutOff: isCutOff })
  else if (isInAction(io)) {
    const view = verifyView({ tasks, fixed: [], isCutOff, unfinished: null })
    await annotate(context, { tasks, checked: checked ?? [], view })
  }
  if (checked && io.signal.aborted) return 130
  return ok ? 0 : 1
}

/** Runs the gates of each commit again: `gates` are those that passed, `problem` is why it is not green. */
async function runGates(
  context: Context,
  place: Place,
  tasks: readonly VerifiedTask[],
): Promise<readonly CheckedTask[]> {
  const { io, options, where, json } = context
  refuseToStart(io, place.root)
  const { checkCommits } = await import('../setup/commit-slots.ts')
  // A squash may have completed several tasks.
  const commits = new Map(tasks.flatMap(({ found, id }) => (found === null ? [] : [[found, id]])))
  const jobs = options.jobs ?? place.config.jobs
  const checks = await checkCommits(io, { where, place, commits, jobs }, (check) => {
    if (!json) context.print(checkedBlocks(check, tasks))
  })
  const checked = tasks.map((task): CheckedTask => {
    const { passed: gates, problem } = checks.get(task.found ?? '') ?? NOT_CHECKED
    return { ...task, gates, problem }
  })
  if (!json) context.print(checkedSummary(checked))
  return checked
}

const NOT_CHECKED = { passed: null, problem: 'its gates were not run' }

/** Reports the wrong files in a GitHub action, as annotations and in the summary of the job. */
async function annotate(
  { io, printRaw }: Context,
  {
    tasks,
    checked,
    view,
  }: {
    tasks: readonly VerifiedTask[]
    checked: readonly CheckedTask[]
    view: ReturnType<typeof verifyView>
  },
): Promise<void> {
  const report = (severity: 'warning' | 'error', id: string, text: string): void =>
    printRaw(githubCommand(severity, { title: 'ralph verify' }, `${id}: ${text}`))
  for (const task of tasks.filter(isShown))
    report(isRight(task.state) ? 'warning' : 'error', task.id, verifyWords(task).join(' '))
  const red = checked.flatMap(({ id, found, problem }) =>
    problem === null ? [] : [{ id, text: `${found?.slice(0, 10) ?? ''} ${problem}` }],
  )
  for (const { id, text } of red) report('error', id, text)
  const gates = [...red.map(({ id, text }) => line(`${id}  ${text}`)), ...checkedSummary(checked)]
  addToJobSummary(io, jobSummary('Commits of tasks', [...view, ...gates]))
}

/** The task of a current run, or of one that died. */
async function unfinishedTask({ root }: Place): Promise<string | null> {
  const [{ readNote }, { runFolder }] = await Promise.all([
    import('../../engine/note.ts'),
    import('../../engine/folder.ts'),
  ])
  return readNote(runFolder(root).note)?.jobs[0]?.attempt.task ?? null
}

/** The DONE tasks, or the named ones, compared with history. */
async function verify({ io, args }: Context, place: Place) {
  const { root, vocabulary } = place
  const found = await readHistory(io, root, (git) =>
    verifyTasks(git, {
      readTasks: async () => (await readFacts(place, { facts: ['commit'] })).tasks,
      vocabulary,
    }),
  )
  if (args.length === 0) return found
  const names = taskNames(place)
  const named = new Set(args.map((typed) => findTask(names, typed).id))
  const tasks = found.tasks.filter(({ id }) => named.has(id))
  const stranger = [...named].find((id) => !tasks.some((task) => task.id === id))
  if (stranger === undefined) return { ...found, tasks }
  throw new UserError(
    `${stranger} is not DONE, so no commit has completed it`,
    'See: ralph list --status DONE',
  )
}
