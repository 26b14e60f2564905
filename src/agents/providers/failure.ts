import type { Exit, StreamEnd } from '../port.ts'
import { shortened, parsedJson } from '../../base/text.ts'

type FailureEnd = StreamEnd['end']

/** What a provider knows of a failed request to its service. */
export interface ProviderFailure {
  /** The HTTP status if it is known; otherwise it is searched for in the message. */
  readonly status?: number | null
  readonly message: string
  /** When the limit ends, if the stream has it apart from the message. */
  readonly until?: Date | null
}

/** A provider's words for the reasons that a person reads. */
export interface FailureWords {
  readonly agent: string
  /** What to do to log in, as one instruction. */
  readonly login: string
  readonly now: () => Date
}

/** The end of a run whose request to the service finally failed. */
export function failureEnd(failure: ProviderFailure, words: FailureWords): FailureEnd {
  const text = oneLine(innerMessage(failure.message)) || 'no reason given'
  switch (kindOf(failure)) {
    case 'auth':
      return { kind: 'auth', reason: `${words.agent} is not logged in (${text}): ${words.login}` }
    case 'credit':
      return { kind: 'auth', reason: `The account of ${words.agent} cannot pay for more: ${text}` }
    case 'forbidden':
      return {
        kind: 'refused',
        reason: `The service, or a proxy before it, forbids this to ${words.agent}: ${text}`,
        hopeless: 'agent',
      }
    case 'rate-limited': {
      const until = failure.until ?? resetTime(failure.message, words.now())
      const unpaid = until === null && MAYBE_NO_MONEY.test(failure.message)
      return { kind: 'rate-limited', reason: text, until, ...(unpaid ? { unpaid } : {}) }
    }
    case 'no-network':
      return PAGE.test(failure.message)
        ? {
            kind: 'no-network',
            reason: `A web page answers ${words.agent} in place of its service: log in to the network, or look at the proxy (${text})`,
            isPage: true,
          }
        : { kind: 'no-network', reason: `${words.agent} cannot reach its service: ${text}` }
    case 'overloaded':
      return { kind: 'overloaded', reason: text }
    case 'refused':
      return { kind: 'refused', reason: text, hopeless: hopelessness(failure) }
    case 'unknown':
      return CUT_OFF.test(text) ? cutOff(text) : { kind: 'crashed', reason: `${words.agent} failed: ${text}` }
  }
}

/** The end of a run whose last answer is not complete, whatever its program reports. */
export function cutOff(how: string): Extract<FailureEnd, { kind: 'crashed' }> {
  return { kind: 'crashed', reason: `The answer of the model was cut off: ${how}` }
}

/** The end of a run without a final event: from its exit and the end of its stderr. */
export function silentEnd(exit: Exit, words: FailureWords): FailureEnd {
  const text = lastWords(exit.stderr)
  if (text !== '') {
    const end = failureEnd({ message: text }, words)
    // A 404 or "too long" may come from anything here: only the service's own message ends more than this attempt.
    if (end.kind === 'refused' && !NO_SUCH_MODEL.test(text)) return { ...end, hopeless: null }
    if (end.kind !== 'crashed') return end
  }
  const how =
    exit.signal !== null
      ? `was ended by ${exit.signal}`
      : exit.code === 0
        ? 'ended without a final message'
        : `exited with code ${exit.code ?? 'unknown'}`
  return {
    kind: 'crashed',
    reason: `${words.agent} ${how}${text === '' ? '' : `: ${oneLine(text)}`}`,
  }
}

/** The last error message on stderr, without stack frames. */
export function lastWords(stderr: string): string {
  const lines = stderr
    .slice(-8192)
    .replace(/\u001b\[[0-9;]*m/g, '')
    .split(/\r?\n/)
    .map(saidInLog)
  const telling = lines.filter((line) => line.trim() !== '' && !/^\s*at |^[\s}\])]*$/.test(line))
  const start = telling.findLastIndex((line) => /error|fail|fatal|invalid|denied|cannot/i.test(line))
  return telling
    .slice(start === -1 ? -3 : start)
    .slice(0, 3)
    .join(' ')
}

type FailureKind =
  'auth' | 'credit' | 'forbidden' | 'rate-limited' | 'no-network' | 'overloaded' | 'refused' | 'unknown'

function kindOf({ status = null, message }: ProviderFailure): FailureKind {
  if (NO_MONEY.test(message)) return 'credit'
  if (MAYBE_NO_MONEY.test(message)) return 'rate-limited'
  const known = status ?? statusIn(message)
  if (isCutOff(known, message)) return 'no-network'
  return kindOfStatus(known) ?? kindOfText(message) ?? (known === null ? 'unknown' : kindOfRefusal(known))
}

/** Whether the service itself has not answered: there was no connection, or something on the way has answered instead. */
function isCutOff(status: number | null, message: string): boolean {
  if (status === null) return NO_NETWORK.test(message) || PAGE.test(message)
  return status < 500 && PAGE.test(message)
}

/** What a status means, whatever the text; null for one that services use for many reasons. */
function kindOfStatus(status: number | null): FailureKind | null {
  if (status === 401) return 'auth'
  if (status === 402) return 'credit'
  if (status === 429) return 'rate-limited'
  return status !== null && (status >= 500 || status === 408) ? 'overloaded' : null
}

function kindOfText(message: string): FailureKind | null {
  return TEXTS.find(([, pattern]) => pattern.test(message))?.[0] ?? (isTooLong(message) ? 'refused' : null)
}

function kindOfRefusal(status: number): FailureKind {
  return status === 403 ? 'forbidden' : status >= 400 ? 'refused' : 'unknown'
}

/** Messages about ordinary limits mention billing too: only these are certainly about money. */
const NO_MONEY =
  /credit balance is too low|payment required|billing hard limit|to use codex with your .{0,40}plan, upgrade/i
/** These are, if they name no time, and waiting does not help. */
const MAYBE_NO_MONEY =
  /insufficient_quota|billing_not_active|check your (?:plan and )?billing|extra usage is required/i
/** Something on the way has answered with a page for people, such as the log-in page of a hotel's network. */
const PAGE =
  /<!doctype html|<html[\s>]|is an html page|intercepting the request|blocked by a gateway or proxy|incomplete json segment|nothing but empty answers/i
/** The system's error codes, and HTTP clients' words for them: there was no answer, so no status. */
const NO_NETWORK =
  /\b(?:ECONN(?:REFUSED|RESET|ABORTED)|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|E(?:NET|HOST)UNREACH|ENETDOWN|UND_ERR_(?:CONNECT_TIMEOUT|SOCKET))\b|fetch failed|socket hang up|error sending request|(?:unable to|failed to|cannot|could not) connect|connection (?:error|refused|reset|timed out|was closed)|network (?:error|is unreachable)|could not resolve host|dns error|stream (?:disconnected|closed) before/i
/** A filter refused the request or the model's answer. */
const FILTERED =
  /content.?filter|safeguards flagged|flagged as potentially violating|blocked (?:due to|by)\b.{0,60}?(?:safety|recitation|polic|filter)/is
const CUT_OFF = /max_output_tokens|output token maximum|was truncated because/i
/** The last is Google's wording. */
const NO_SUCH_MODEL =
  /\bmodels?\b.{0,120}?(?:not (?:be )?found|not exist|not supported|not available|not have access)|(?:unknown|invalid|unsupported|no such) model|model ?not ?found|requested entity was not found/is
/** The service refuses this account, or this place, for every request. */
const NOT_FOR_YOU = /organization must be verified|user location is not supported/i
const TOO_LONG =
  /(?:prompt|input|context|request|messages?)\b.{0,60}?(?:too (?:long|large)|exceed)|context.?(?:length|window).{0,20}exceed|maximum context length|ran out of room in the .{0,20}context/is

/** The meaning of texts that come without a telling status, the more certain first. */
const TEXTS: readonly (readonly [FailureKind, RegExp])[] = [
  ['refused', NOT_FOR_YOU],
  [
    'auth',
    /not logged in|log ?in (?:again|first|required)|run \/login|unauthori[sz]ed|(?<!^failed to )authenticat|invalid (?:x-)?api.?key|api.?key not valid|no api key|auth method|auth type|disabled organization/i,
  ],
  [
    'rate-limited',
    /usage limit|rate.?limit|session limit|weekly limit|too many requests|quota|resource.?exhausted/i,
  ],
  ['overloaded', /overloaded|at capacity|temporarily unavailable|high demand/i],
  ['refused', NO_SUCH_MODEL],
  ['refused', FILTERED],
]

/** A timeout is not "too long" in this sense: another attempt may be quicker. */
function isTooLong(message: string): boolean {
  return TOO_LONG.test(message) && !/deadline|time.?(?:out|limit)|timed out/i.test(message)
}

/** Whether the same would be refused again: at all tasks (unknown model) or this one (prompt too long, or filtered). */
function hopelessness({ status = null, message }: ProviderFailure): 'task' | 'agent' | null {
  const known = status ?? statusIn(message)
  if (known === 413 || isTooLong(message) || FILTERED.test(message)) return 'task'
  return known === 404 || NO_SUCH_MODEL.test(message) || NOT_FOR_YOU.test(message) ? 'agent' : null
}

function statusIn(message: string): number | null {
  const match =
    /^\W*([45]\d\d)\b/.exec(message) ??
    /\b(?:status|http|code|error)\b\W{0,4}(?:code\W{0,3})?([45]\d\d)\b/i.exec(message)
  return match ? Number(match[1]) : null
}

/** The service's message, if an agent shows the whole response. */
function innerMessage(message: string): string {
  const quoted = /"(?:message|detail)"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(message)?.[1]
  const inner = parsedJson(quoted ?? '')
  // A response may hold that of another service.
  return typeof inner === 'string' && inner !== '' ? innerMessage(inner) : message
}

/** A line of a log in `key=value` form: its message and its error; any other line as it is. */
function saidInLog(line: string): string {
  if (!/^(?:timestamp|time|level)=/.test(line)) return line
  const values = [...line.matchAll(/(?:^| )(?:message|msg|[\w.]*error)=(?:"((?:[^"\\]|\\.)*)"|(\S+))/g)]
  const said = values.map(([, quoted, plain]) => quoted?.replaceAll('\\"', '"') ?? plain ?? '')
  return said.length === 0 ? line : said.join(': ')
}

/** The longest line that a person reads. */
const LONGEST = 160

/** The text in one line, cut to the width of a screen. */
export function oneLine(value: string): string {
  // Cut first: a tool's input may be megabytes, and a summary needs only its start.
  const line = value
    .slice(0, LONGEST * 4)
    .replace(/\s+/g, ' ')
    .trim()
  return shortened(line, LONGEST)
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/**
 * The moment that a limit's message names, or null if it names none: `try again at 10:33 AM`,
 * `at Nov 20th, 2026 3:04 PM`, `on 2026-12-01 at 00:00 UTC`, `resets 3pm`, `in 2 days 3 hours`, `after 1h2m3s`,
 * `"retryDelay":"34s"`. A time of day is in the machine's time zone, as the agents write it.
 */
export function resetTime(message: string, now: Date): Date | null {
  return isoTime(message) ?? dayAndTime(message) ?? timeOfDay(message, now) ?? delay(message, now)
}

function isoTime(message: string): Date | null {
  const match =
    /\b(?:at|on|until|after)\s+(\d{4}-\d\d-\d\d)(?:(?:\s+at\s+|[ T])(\d\d:\d\d)(?::\d\d)?)?/i.exec(message)
  if (!match) return null
  const moment = new Date(`${match[1]}T${match[2] ?? '00:00'}Z`)
  return Number.isNaN(moment.getTime()) ? null : moment
}

function dayAndTime(message: string): Date | null {
  const match =
    /\b(?:at|on|resets)\s+([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4}),?\s+(?:at\s+)?(\d{1,2})(?::(\d{2}))?\s*(am|pm)?\b/i.exec(
      message,
    )
  if (!match) return null
  const [, month = '', day, year, hour, minute, half] = match
  const monthIndex = MONTHS.indexOf(month.toLowerCase())
  if (monthIndex === -1) return null
  const [h, m] = clock(Number(hour), Number(minute ?? 0), half)
  return new Date(Number(year), monthIndex, Number(day), h, m)
}

function timeOfDay(message: string, now: Date): Date | null {
  const match =
    /\b(?:again\s+at|resets?(?:\s+at)?|until)\s+(\d{1,2})(?::(\d{2})\s*(am|pm)?|\s*(am|pm))(?![\w:])/i.exec(
      message,
    )
  if (!match) return null
  const [, hour, minute, halfAfterMinutes, halfAlone] = match
  const [h, m] = clock(Number(hour), Number(minute ?? 0), halfAfterMinutes ?? halfAlone)
  if (h > 23 || m > 59) return null
  const moment = new Date(now)
  moment.setHours(h, m, 0, 0)
  // A limit ends in the future: a time that has passed means tomorrow.
  if (moment.getTime() < now.getTime() - 60_000) moment.setDate(moment.getDate() + 1)
  return moment
}

function clock(hour: number, minute: number, half: string | undefined): [number, number] {
  if (half === undefined) return [hour, minute]
  return [(hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0), minute]
}

function delay(message: string, now: Date): Date | null {
  const start = /\b(?:in|after|retry[- ]?delay|retry[- ]?after)["':=\s]+(?=\d)/i.exec(message)
  if (!start) return null
  const amounts = /[\s,]*(?:and\s+)?(\d+(?:\.\d+)?)\s*(ms|milli|[dhms])[a-z]*/iy
  amounts.lastIndex = start.index + start[0].length
  let seconds: number | null = null
  for (let match = amounts.exec(message); match; match = amounts.exec(message)) {
    seconds = (seconds ?? 0) + Number(match[1]) * unitSeconds(match[2]!)
  }
  return seconds === null ? null : new Date(now.getTime() + seconds * 1000)
}

function unitSeconds(unit: string): number {
  return { d: 86_400, h: 3600, m: 60, s: 1 }[unit.toLowerCase()] ?? 0.001
}
