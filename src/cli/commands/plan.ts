import { UserError } from '../../base/errors.ts'
import { changesJson } from '../../authoring/plan/drafts.ts'
import type { Choice } from '../../authoring/plan/decisions.ts'
import type { PlanFront } from '../../authoring/plan/ports.ts'
import { overridden, type Options } from '../options/option.ts'
import { PLAN_OPTIONS } from '../options/run-options.ts'
import { runPlan, type PlanRequest, type PlanResult } from '../setup/run-plan.ts'
import { changesView, planEndView, planEventBlocks } from '../../screen/plan-view.ts'
import { printable } from '../../screen/printable.ts'
import type { ContextOf } from '../commands.ts'
import type { Dialogue } from '../io.ts'
import { showLines, type LineShow } from '../run/show-run.ts'

type Context = ContextOf<'plan'>

/** Plans tasks from a wish or documents, in phases that each end in files and a commit. */
export async function run(context: Context): Promise<number> {
  const { from } = context.options
  return from === undefined ? planByAgent(context) : planFrom(context, from)
}

/** Makes tasks from a document, from its headings and boxes alone. */
async function planFrom(context: Context, document: string): Promise<number> {
  const given: Options = context.options
  const option = PLAN_OPTIONS.find((spec) => {
    const value = given[spec.key]
    return spec.name !== 'from' && spec.name !== 'dry-run' && value !== undefined && value !== false
  })
  const extra = option === undefined ? context.args[0] : `--${option.name}`
  if (extra !== undefined)
    throw new UserError(
      `--from makes tasks of a document without an agent, and ${extra} is for an agent that plans`,
      `Leave out ${extra}; or have an agent plan: ralph plan ${document}`,
    )
  const { importFrom } = await import('./import.ts')
  return importFrom(context, document, {
    as: 'outline',
    sync: false,
    independent: false,
    dryRun: context.options.dryRun ?? false,
  })
}

async function planByAgent(context: Context): Promise<number> {
  const { io, json, options } = context
  const request = await requestOf(context)
  const place = overridden(await context.place(), PLAN_OPTIONS, options)
  const show = json ? null : await showLines(context)
  const prompts: object[] = []
  try {
    const result = await runPlan(io, place, { request, front: frontOf(context, show, prompts) })
    await show?.end()
    await context.answer({ ...resultJson(result), ...(options.dryRun && { prompts }) }, () =>
      planEndView(result),
    )
    return exitCode(result)
  } finally {
    await show?.end()
  }
}

/** Shows planning in these lines, and asks the person at a terminal; collects the prompts of a preview. */
function frontOf({ io, printRaw, options }: Context, show: LineShow | null, prompts: object[]): PlanFront {
  const dialogue = show && io.dialogue()
  const streams = dialogue && { ...dialogue, signal: io.signal }
  /** Pauses the display during `work`. */
  const alone = async <T>(work: () => T): Promise<Awaited<T>> => {
    const release = show?.reporter.hold()
    try {
      return await work()
    } finally {
      release?.()
    }
  }
  return {
    emit: (happening) => show?.event({ at: io.now().toISOString(), ...happening }),
    event(event) {
      show?.reporter.print(planEventBlocks(event))
      if (event.type !== 'prompt' || !options.dryRun) return
      prompts.push({ phase: event.phase, text: event.text })
      if (show) void alone(() => printRaw(`${event.text}\n`))
    },
    decide: streams && ((question) => alone(() => decide(streams, question))),
    confirm:
      streams &&
      (async (changes) => {
        show.reporter.print(changesView(changes))
        const { confirm, isCancel } = await import('@clack/prompts')
        const answer = await alone(() => confirm({ message: 'Change the backlog so?', ...streams }))
        return !isCancel(answer) && answer
      }),
  }
}

const OWN_WORDS = '\0own'
const LATER = '\0later'

/** Asks a person what planning cannot decide. */
async function decide(
  streams: Dialogue & { readonly signal: AbortSignal },
  { title, options, recommended, why, number, of }: Parameters<NonNullable<PlanFront['decide']>>[0],
): Promise<Choice | 'later'> {
  const { isCancel, note, select, text } = await import('@clack/prompts')
  const consequences = options.map((option) => printable(`${option.title}: ${option.consequences}`))
  note(consequences.join('\n'), `${number} of ${of}`, { output: streams.output })
  const chosen = await select<string>({
    message: printable(title),
    initialValue: recommended ?? '',
    options: [
      ...options.map((option) => ({
        value: option.title,
        label: printable(option.title),
        ...(option.title === recommended && { hint: printable(`recommended: ${why}`) }),
      })),
      { value: OWN_WORDS, label: 'Say it in your own words' },
      { value: LATER, label: 'Decide it later, in its file' },
    ],
    ...streams,
  })
  if (isCancel(chosen) || chosen === LATER) return 'later'
  if (chosen !== OWN_WORDS) return { chosen, remark: '', why: chosen === recommended ? why : '' }
  const validate = (answer: string | undefined) => (answer?.trim() ? undefined : 'It needs an answer.')
  const typed = await text({ message: 'Your decision', validate, ...streams })
  return isCancel(typed) ? 'later' : { chosen: typed, remark: '', why: '' }
}

async function requestOf({ args, options, io }: Context): Promise<PlanRequest> {
  const { agent = 'command', command, continues, aborts } = options
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
  if (result.kind === 'stopped') return result.why === 'interrupted' ? 130 : 1
  return result.kind === 'done' || result.kind === 'unchanged' || result.kind === 'aborted' ? 0 : 1
}
