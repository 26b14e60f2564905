import { UserError } from '../../base/errors.ts'
import { changesJson } from '../../authoring/plan/changes.ts'
import { openPlace } from '../../config/project.ts'
import type { PlanFront } from '../setup/plan-ports.ts'
import { runPlan, type PlanResult, type WholePlanWish } from '../setup/run-plan.ts'
import { SANDBOX_MODES } from '../../config/defaults.ts'
import { oneOf } from '../run/wish.ts'
import { changesView, planEndView, planEventBlocks } from '../../screen/plan-view.ts'
import type { Context } from '../command.ts'
import { planQuestions } from '../plan/questions.ts'
import { showLines, type LineShow } from '../run/show-run.ts'

/** Plans tasks from a wish or documents, in phases that each end in files and a commit. */
export async function run(context: Context): Promise<number> {
  const document = context.options.text('from')
  return document === undefined ? planByAgent(context) : planFrom(context, document)
}

/** Options that only matter if an agent plans. */
const WITH_AGENT = [
  'continue',
  'abort',
  'yes',
  'no-research',
  'no-web',
  'verify-tasks',
  'export',
  'dry-run',
  'branch',
  'no-commit',
  'agent',
  'model',
  'command',
  'sandbox',
]

/** Makes tasks from a document, from its headings and boxes alone. */
async function planFrom(context: Context, document: string): Promise<number> {
  const { args, options } = context
  const other = WITH_AGENT.find((name) => options.on(name) || options.text(name) !== undefined)
  const option = other ?? (options.number('budget') === undefined ? undefined : 'budget')
  const extra = option === undefined ? args[0] : `--${option}`
  if (extra !== undefined)
    throw new UserError(
      `--from makes tasks of a document without an agent, and ${extra} is for an agent that plans`,
      `Leave out ${extra}; or have an agent plan: ralph plan ${document}`,
    )
  const { importFrom } = await import('./import.ts')
  return importFrom(context, document, { as: 'outline', sync: false, independent: false })
}

async function planByAgent(context: Context): Promise<number> {
  const { io, json } = context
  const place = await openPlace(context.where)
  const wish = await wishOf(context)
  const show = json ? null : await showLines(context, { verbose: false })
  const prompts: object[] = []
  const dialogue = json ? null : io.dialogue()
  const questions = dialogue && planQuestions({ ...dialogue, signal: io.signal })
  const front: PlanFront = {
    emit: (happening) => show?.event({ at: io.now().toISOString(), ...happening }),
    event(event) {
      show?.reporter.print(planEventBlocks(event))
      if (event.type !== 'prompt' || !wish.dryRun) return
      prompts.push({ phase: event.phase, text: event.text })
      if (show) void alone(show, async () => context.printRaw(`${event.text}\n`))
    },
    decide: questions && ((question) => alone(show, () => questions.decide(question))),
    confirm:
      questions &&
      (async (changes) => {
        show?.reporter.print(changesView(changes))
        return alone(show, () => questions.agree('Change the backlog so?'))
      }),
  }
  try {
    const result = await runPlan(io, place, { wish, front })
    await show?.end()
    if (json) context.printJson({ ...resultJson(result), ...(wish.dryRun ? { prompts } : {}) })
    else await context.print(planEndView(result))
    return exitCode(result)
  } finally {
    await show?.end()
  }
}

/** Pauses the display during `work`. */
async function alone<T>(show: LineShow | null, work: () => Promise<T>): Promise<T> {
  const release = show?.reporter.hold()
  try {
    return await work()
  } finally {
    release?.()
  }
}

async function wishOf({ args, options, io }: Context): Promise<WholePlanWish> {
  const [continues, aborts] = [options.on('continue'), options.on('abort')]
  refuseContradictions(args, { continues, aborts })
  const agent = options.text('agent') ?? null
  if (options.text('command') !== undefined && agent !== null && agent !== 'command')
    throw new UserError(`--command is for the agent named command, not for ${agent}`, 'Take --agent command.')
  return {
    words: args,
    input: args.length === 1 && args[0] === '-' && !continues ? await textOf(io) : null,
    continues,
    aborts,
    yes: options.on('yes'),
    research: !options.on('no-research'),
    web: !options.on('no-web'),
    dryRun: options.on('dry-run'),
    commit: !options.on('no-commit'),
    verifyTasks: options.on('verify-tasks'),
    exports: options.text('export') !== undefined,
    branch: options.text('branch') ?? null,
    sandbox: oneOf(SANDBOX_MODES, options.text('sandbox')),
    agent,
    model: options.text('model') ?? null,
    command: options.text('command') ?? null,
    budget: options.number('budget') ?? null,
  }
}

function refuseContradictions(
  args: readonly string[],
  { continues, aborts }: { readonly continues: boolean; readonly aborts: boolean },
): void {
  if (continues && aborts)
    throw new UserError('--continue goes on with a plan, and --abort ends it', 'Take one of them.')
  if ((continues || aborts) && args.length > 1)
    throw new UserError(
      `--${continues ? 'continue' : 'abort'} takes the name of one plan`,
      'It is the name of its folder in docs/plans.',
    )
  if (args.length === 0 && !continues && !aborts)
    throw new UserError(
      'there is nothing to plan',
      'Give a wish in quotes, documents, or a text on standard input with -; or go on with a plan: --continue',
    )
}

async function textOf({ readInput }: Pick<Context['io'], 'readInput'>): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readInput())
  } catch {
    throw new UserError('what comes in on standard input is not a text in UTF-8')
  }
}

function resultJson(result: PlanResult): object {
  const { slug, status, tasks } = result.plan
  const changes = 'changes' in result ? result.changes : null
  return {
    version: 1,
    plan: slug,
    status,
    outcome: result.kind,
    tasks: tasks.map(({ id }) => id),
    decisions: result.kind === 'undecided' ? result.open : [],
    mistakes: result.kind === 'refused' ? result.mistakes : [],
    reason: result.kind === 'stopped' ? result.reason : null,
    changes: changes && changesJson(changes),
  }
}

function exitCode(result: PlanResult): number {
  switch (result.kind) {
    case 'done':
    case 'unchanged':
    case 'aborted':
      return 0
    case 'stopped':
      return result.why === 'interrupted' ? 130 : 1
    case 'undecided':
    case 'proposed':
    case 'refused':
      return 1
  }
}
