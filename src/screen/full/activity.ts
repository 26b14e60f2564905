import { withoutControls } from '../../base/controls.ts'
import { counted, fewOf, shortened } from '../../base/text.ts'
import { clockText, formatDuration, waitText } from '../../base/time.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import type { GateResult } from '../../base/nouns.ts'
import { detached } from '../../backlog/facts.ts'
import { accent, bad, BLANK, dim, good, line, paragraph, strong, type Block } from '../block.ts'
import {
  cagedText,
  deniedTexts,
  endText,
  gateText,
  interferenceText,
  isRefuted,
  spentText,
} from '../run-text.ts'

/** A longer message, or line, is data rather than text for a person. */
const LONGEST_MESSAGE = 64 * 1024
const LONGEST_LINE = 2000

/** The blocks that an event adds to the view of its task; most events about the run's state add none. */
export function activityOf(event: RunEvent): readonly Block[] {
  switch (event.type) {
    case 'attempt-started': {
      const { counted: number, most, agent, model, at } = event
      const who = [agent, ...(model === null ? [] : [model]), clockText(new Date(at))]
      const head = number > 0 ? `attempt ${number} of ${most}` : 'attempt'
      return [BLANK, line(strong(head), dim(`  ${who.join(' · ')}`))]
    }
    case 'agent-tool':
      return event.status === 'running' ? [toolBlock(event.summary)] : []
    case 'agent-retrying': {
      const until = event.until === null ? '' : ` ${waitText(new Date(event.until), new Date(event.at))}`
      return [paragraph([accent('◌'), ' '], `waits for its service${until}: ${event.reason}`)]
    }
    case 'agent-signal':
      return [paragraph([accent('·'), ' '], signalText(event))]
    case 'task-added':
      return [paragraph([accent('+'), ' '], `added ${event.added}: ${event.title}`)]
    case 'gate-finished':
      return [gateBlock(event.result)]
    case 'gates-again':
      return [paragraph(['  '], `the gates changed ${fewOf(event.paths)}, and run again on that`)]
    case 'interference':
      return [paragraph([strong('!'), ' '], interferenceText(event.interference))]
    case 'caged':
      return [paragraph([strong('!'), ' '], cagedText(event))]
    case 'question': {
      const options = event.options.length > 0 ? ` (${event.options.join(' / ')})` : ''
      return [paragraph([accent('?'), ' '], `${event.text}${options}`)]
    }
    case 'answered':
      return [paragraph([accent('→'), ' '], event.answer)]
    case 'waiting':
      return [
        paragraph(
          [accent('◌'), ' '],
          `waits ${waitText(new Date(event.until), new Date(event.at))}: ${event.reason}`,
        ),
      ]
    case 'attempt-finished':
      return endBlocks(event)
    case 'candidate-ready':
      return [line(dim('passed, and waits to land'))]
    case 'landing-finished':
      return event.result === 'held'
        ? [
            paragraph(
              [accent('◐'), ' '],
              `held: ${fewOf(event.paths)} is in the way: commit or stash it, and it lands`,
            ),
          ]
        : []
    case 'task-completed': {
      const { commit, files, added, removed, duration, cost } = event
      const spent = spentText(duration, { turns: null, costUsd: cost })
      const change = `${counted(files, 'file')} +${added} −${removed}`
      return [BLANK, line(good('✓'), ` ${commit.slice(0, 7)}   ${change}   ${spent}`)]
    }
    case 'task-blocked':
      return [BLANK, paragraph([bad('■'), ' '], `${event.asks ? 'asks' : 'blocked'}: ${event.reason}`)]
    case 'task-given-up':
      return [BLANK, paragraph([bad('■'), ' '], `left as it was: ${event.reason}`)]
    default:
      return []
  }
}

/** The lines of an agent's output, without control characters: of a line that rewrites itself, the last state. */
export function linesIn(text: string): readonly string[] {
  // A slice of a long text would keep all of it in memory.
  const part = text.length > LONGEST_MESSAGE ? detached(text.slice(0, LONGEST_MESSAGE)) : text
  const last = part.includes('\r') ? part.replaceAll(/[^\n]*\r(?=[^\n])/g, '') : part
  return withoutControls(last)
    .trimEnd()
    .split('\n')
    .map((one) => shortened(one.replaceAll('\t', '  '), LONGEST_LINE))
}

/** A text that keeps its own indent when it wraps, because it may be code. */
export function textBlock(text: string): Block {
  const indent = /^ */.exec(text)?.[0] ?? ''
  return { kind: 'prose', head: indent === '' ? [] : [indent], text: text.slice(indent.length) }
}

/** A running tool. */
export function toolBlock(summary: string): Block {
  return line(accent('▸'), ' ', shortened(oneLine(summary), LONGEST_LINE))
}

/** A failed tool. */
export function failedToolBlock(summary: string, status: string, seconds: number): Block {
  return line(
    strong('✗'),
    ' ',
    shortened(oneLine(summary), LONGEST_LINE),
    dim(`  ${status} ${formatDuration(seconds)}`),
  )
}

function oneLine(text: string): string {
  return withoutControls(text).replaceAll(/\s+/g, ' ').trim()
}

function gateBlock(result: GateResult): Block {
  return line(...gateText(result), ...(result.verdict === 'passed' ? [] : [dim(`   ${result.reason}`)]))
}

function signalText({ signal, text }: Extract<RunEvent, { type: 'agent-signal' }>): string {
  if (signal === 'progress') return text
  return signal === 'done' ? `says that it is done: ${text}` : `says that it is blocked: ${text}`
}

function endBlocks(event: Extract<RunEvent, { type: 'attempt-finished' }>): readonly Block[] {
  const { outcome, reason, seconds, usage, denied } = event
  return [
    {
      kind: 'spread',
      left: [outcome === 'done' ? good('✓') : strong('■'), ' ', endText(outcome, reason)],
      right: [dim(spentText(seconds, usage))],
    },
    ...(isRefuted(outcome) ? [paragraph(['  ', bad('✗'), ' '], reason)] : []),
    ...deniedTexts(denied).map((text) => paragraph(['  ', strong('!'), ' '], text)),
  ]
}
