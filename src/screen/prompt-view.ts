import type { SandboxState } from '../engine/events/event.ts'
import { fewOf } from '../base/text.ts'
import type { Gate } from '../base/nouns.ts'
import type { Task, Tier } from '../backlog/model.ts'
import type { Prompt } from '../prompt/template.ts'
import { strong, dim, line, paragraph, table, BLANK, type View } from './block.ts'
import { sandboxText } from './tell.ts'
import { label, limitsText, titleLine } from './task-lines.ts'

/** The first step of a run. */
export interface DryRun {
  readonly task: Task
  readonly tier: Tier
  readonly limits: { readonly turns: number; readonly seconds: number }
  readonly agent: string
  readonly model: string | null
  readonly gates: readonly Gate[]
  readonly sandbox: SandboxState
  readonly command: readonly string[]
  readonly promptOnStdin: boolean
  readonly prompt: string
  /** ralph's own workspaces, if the run uses them. */
  readonly workspaces: DryWorkspaces | null
  /** The address where workers would find its jobs, without a password; null if it has no workers. */
  readonly queue: string | null
  /** In tokens. */
  readonly estimate: number
}

/** The tasks that run at once, their workspaces, and what is copied into each. */
export interface DryWorkspaces {
  readonly folder: string
  readonly jobs: number
  readonly begin: readonly string[]
  readonly prepare: string | null
  readonly copy: readonly string[]
  readonly link: readonly string[]
}

/** Everything except the prompt itself, which comes before it, unchanged: the end is what a person sees. */
export function dryRunView(run: DryRun): View {
  const { task, tier, limits, agent, model, gates, promptOnStdin, estimate } = run
  return [
    BLANK,
    line(dim('─'.repeat(40))),
    titleLine(task),
    paragraph(label('limits'), `${tier} · up to ${limitsText(limits.turns, limits.seconds)}`),
    paragraph(label('agent'), model === null ? agent : `${agent} · ${model}`),
    paragraph(label('command'), `${run.command.map(quoted).join(' ')}${promptOnStdin ? ' < prompt' : ''}`),
    paragraph(label('gates'), gates.length > 0 ? gates.map(({ command }) => command).join(' · ') : 'none'),
    paragraph(label('sandbox'), sandboxText(run.sandbox).replace('sandbox ', '')),
    ...(run.queue === null ? [] : [paragraph(label('queue'), `${run.queue}: workers do the tasks`)]),
    ...workspaceLines(run.workspaces),
    paragraph(label('prompt'), `about ${estimate} tokens; nothing was run`),
  ]
}

function workspaceLines(workspaces: DryWorkspaces | null): View {
  if (!workspaces) return []
  const { folder, begin, prepare, copy, link } = workspaces
  const each = [
    ...(prepare === null ? [] : [prepare]),
    ...(copy.length > 0 ? [`copies of ${fewOf(copy)}`] : []),
    ...(link.length > 0 ? [`links to ${fewOf(link)}`] : []),
  ]
  return [
    paragraph(label('at once'), begin.join(', ')),
    paragraph(label('in'), `${folder}${each.length > 0 ? ` · each: ${each.join(', ')}` : ''}`),
  ]
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** The parts of a prompt, with their sizes and the sum; warnings come first. */
export function promptView({ text, parts, estimate }: Prompt, warnings: readonly string[]): View {
  const width = String(Math.max(estimate, Buffer.byteLength(text))).length
  const size = (count: number): string => String(count).padStart(width)
  const rows = parts.map(({ name, tokens, bytes }) => [name, size(tokens), dim(size(bytes))])
  const sum = [strong('about'), strong(size(estimate)), dim(size(Buffer.byteLength(text)))]
  return [
    ...warnings.map((warning) => paragraph(['warning: '], warning)),
    ...(warnings.length > 0 ? [BLANK] : []),
    ...table([[dim('part'), dim('tokens'.padStart(width)), dim('bytes'.padStart(width))], ...rows, sum], {
      indent: '',
    }),
  ]
}
