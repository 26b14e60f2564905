import type { ProcessEnd } from '../process/start.ts'
import { cutOff } from './providers/failure.ts'
import { readLastLine, readMarker, type Marker } from './marker.ts'
import type { Usage } from '../base/nouns.ts'
import { UNKNOWN_USAGE, usageOf } from '../base/usage.ts'
import type { AgentEnd, AgentOutcome, Provider, StreamEnd, StreamReader } from './port.ts'

/** What the stream has reported so far. */
export interface StreamState {
  /** The latest sum. */
  readonly usage: Usage
  readonly sessionId: string | null
  readonly model: string | null
}

/** All that is known when an agent has ended. */
interface Ending {
  readonly provider: Provider
  readonly prompt: string
  readonly reader: StreamReader
  readonly stderr: string
  readonly heard: StreamState
  /** Why ralph ended it; null if it ended by itself. */
  readonly forced: AgentEnd | null
  /** Whether its stream had ended with a result. */
  readonly resulted: boolean
  readonly process: ProcessEnd
  readonly seconds: number
}

/** How an agent ended, from its stream, its process and what ralph did to it. */
export function outcomeOf(ending: Ending): AgentOutcome {
  const stream = notAllowed(streamEndOf(ending), ending.process)
  const { message, marker } = readEnd(stream, ending.prompt)
  return {
    end: decide(ending.forced, stream, marker),
    finalMessage: message,
    // The usage at the end, and for what it lacks the usage from before.
    usage: usageOf((key) => stream.usage[key] ?? ending.heard.usage[key]),
    sessionId: ending.heard.sessionId,
    model: ending.heard.model,
    denied: stream.denied,
    seconds: ending.seconds,
  }
}

/** A request that the cage refuses is refused on every attempt: only the configuration can change that. */
function notAllowed(stream: StreamEnd, process: ProcessEnd): StreamEnd {
  const hosts = process.kind === 'exited' ? (process.refusedHosts ?? []) : []
  if (stream.end.kind !== 'no-network' || hosts.length === 0) return stream
  const reason = `${stream.end.reason}; the sandbox refused ${hosts.join(', ')}: if that is its service, name it in sandbox.network`
  return { ...stream, end: { kind: 'refused', reason, hopeless: 'run' } }
}

function streamEndOf(ending: Ending): StreamEnd {
  const { process, reader, provider, stderr } = ending
  if (process.kind === 'not-started') {
    const install = process.missing ? `; to install it: ${provider.install}` : ''
    return nothingHeard(process.reason + install)
  }
  // An agent that stays after its result, and is then ended by ralph, ended well.
  const isOurs = ending.resulted && process.ended !== null
  const exit = isOurs ? { code: 0, signal: null } : { code: process.code, signal: process.signal }
  try {
    return reader.end({ ...exit, stderr })
  } catch (error) {
    return nothingHeard(`a bug in the reader of ${provider.name}: ${String(error)}`)
  }
}

function nothingHeard(reason: string): StreamEnd {
  return { end: { kind: 'crashed', reason }, finalMessage: '', usage: UNKNOWN_USAGE, denied: [] }
}

/** The marker, and the message without one. */
function readEnd(stream: StreamEnd, prompt: string): { marker: Marker | null; message: string } {
  const { marker, message } = readMarker(stream.finalMessage, prompt)
  if (stream.markerTail === undefined) return { marker, message }
  return { marker: readLastLine(stream.markerTail, prompt).marker, message }
}

function decide(
  forced: AgentEnd | null,
  { end: stream, cutOff: cut }: StreamEnd,
  marker: Marker | null,
): AgentEnd {
  if (forced) return moreTelling(forced, stream)
  if (stream.kind !== 'finished') return stream
  return marker ?? (cut === undefined ? { kind: 'no-marker' } : cutOff(cut))
}

/** If an agent was ended while its service refused it, the service is the reason, not the time limit. */
function moreTelling(forced: AgentEnd, stream: StreamEnd['end']): AgentEnd {
  if (!['timeout', 'stalled', 'rate-limited'].includes(forced.kind)) return forced
  switch (stream.kind) {
    case 'rate-limited':
      return { ...stream, until: stream.until ?? (forced.kind === 'rate-limited' ? forced.until : null) }
    case 'auth':
    case 'overloaded':
    case 'no-network':
      return stream
    default:
      return forced
  }
}
