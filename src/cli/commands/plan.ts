import { UserError } from '../../base/errors.ts'
import { changesJson } from '../../authoring/plan/changes.ts'
import { openPlace } from '../../config/project.ts'
import { keyOf, overridden, type Options } from '../options/option.ts'
import { PLAN_OPTIONS } from '../options/run-options.ts'
import { runPlan, type PlanFront, type PlanRequest, type PlanResult } from '../setup/run-plan.ts'
import { changesView, planEndView, planEventBlocks } from '../../screen/plan-view.ts'
import type { ContextOf } from '../commands.ts'
import { planQuestions } from '../plan/questions.ts'
import { showLines, type LineShow } from '../run/show-run.ts'

type Context = ContextOf<'plan'>

/** Plans tasks from a wish or documents, in phases that each end in files and a commit. */
export async function run(context: Context): Promise<number> {
  const document = context.options.from
  return document === undefined ? planByAgent(context) : planFrom(context, document)
}

/** Makes tasks from a document, from its headings and boxes alone. */
async function planFrom(context: Context, document: string): Promise<number> {
  const { args, options } = context
  const given: Options = options
  const option = PLAN_OPTIONS.find((spec) => {
    const value = given[keyOf(spec)]
    return spec.name !== 'from' && value !== undefined && value !== false
  })
  const extra = option === undefined ? args[0] : `--${option.name}`
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
  const request = await requestOf(context)
  const place = overridden(await openPlace(context.where), PLAN_OPTIONS, context.options)
  const show = json ? null : await showLines(context)
  const prompts: object[] = []
  const dialogue = json ? null : io.dialogue()
  const questions = dialogue && planQuestions({ ...dialogue, signal: io.signal })
  const front: PlanFront = {
    emit: (happening) => show?.event({ at: io.now().toISOString(), ...happening }),
    event(event) {
      show?.reporter.print(planEventBlocks(event))
      if (event.type !== 'prompt' || !request.dryRun) return
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
    const result = await runPlan(io, place, { request, front })
    await show?.end()
    if (json) context.printJson({ ...resultJson(result), ...(request.dryRun ? { prompts } : {}) })
    else context.print(planEndView(result))
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

async function requestOf({ args, options, io }: Context): Promise<PlanRequest> {
  refuseContradictions(args, options)
  const { agent = 'command', command, continues } = options
  if (command !== undefined && agent !== 'command')
    throw new UserError(`--command is for the agent named command, not for ${agent}`, 'Take --agent command.')
  return {
    ...options,
    words: args,
    input: args.length === 1 && args[0] === '-' && !continues ? await textOf(io) : null,
    research: !options.noResearch,
    web: !options.noWeb,
    exports: options.export !== undefined,
  }
}

function refuseContradictions(args: readonly string[], { continues, aborts }: Context['options']): void {
  if (continues && aborts)
    throw new UserError('--continue and --abort contradict each other', 'Take one of them.')
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
