import { parsedJson } from '../../base/text.ts'

import * as v from 'valibot'
import { TIERS } from '../../backlog/model.ts'

/** The variables that name the signal folder and the attempt to its server. */
export const SIGNAL_VARIABLES = { folder: 'RALPH_SIGNALS', token: 'RALPH_SIGNAL_TOKEN' } as const

/** The files of that folder: the agent's signals and ralph's replies, a line each, and the resources. */
export const SIGNAL_FILES = {
  said: 'said.ndjson',
  replies: 'replies.ndjson',
  resources: 'resources.json',
} as const

const text = (most: number, about: string) =>
  v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(most), v.description(about))
const oneLine = (most: number) =>
  v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(most), v.check(isOneLine, 'one line'))
const line = (most: number, about: string) => v.pipe(oneLine(most), v.description(about))
const texts = (most: number, each: number, about: string) =>
  v.pipe(v.array(oneLine(each)), v.maxLength(most), v.description(about))

/** The input of each signal, by the name of its tool. */
export const SIGNALS = {
  done: v.strictObject({
    summary: text(60_000, 'What you changed, why, and what later tasks should know, in Markdown'),
    criteria_met: v.optional(texts(100, 1000, 'Acceptance criteria that are met, in their own words'), []),
    tests_changed: v.optional(
      texts(
        100,
        1000,
        'Tests that were there and that you changed: for each its name, and why it had to change',
      ),
      [],
    ),
  }),
  blocked: v.strictObject({
    reason: text(2000, 'What is missing, in one sentence'),
    question: v.optional(text(4000, 'What a person should answer')),
    options: v.optional(texts(10, 200, 'Answers to choose from'), []),
  }),
  progress: v.strictObject({ note: text(2000, 'One sentence') }),
  ask: v.strictObject({
    question: text(4000, 'Answerable without further context'),
    options: v.optional(texts(10, 200, 'Answers to choose from'), []),
    default: v.optional(
      line(200, 'What you would do without an answer: if nobody answers in time, you get this, and go on'),
    ),
  }),
  add_task: v.strictObject({
    title: line(200, 'In the imperative'),
    description: text(30_000, 'What to do and why'),
    criteria: v.optional(texts(50, 1000, 'What can be checked when it is done'), []),
    depends: v.optional(texts(50, 20, 'Ids of tasks to be done before it'), []),
    touches: v.optional(texts(100, 300, 'Files it will change'), []),
    produces: v.optional(texts(100, 300, 'Files it will make'), []),
    milestone: v.optional(line(200, 'As other tasks name it')),
    complexity: v.optional(v.picklist(TIERS)),
  }),
}

export type SignalName = keyof typeof SIGNALS
export const SIGNAL_NAMES = Object.keys(SIGNALS) as readonly SignalName[]

/** The input of a signal. */
export type SignalInput<Name extends SignalName> = v.InferOutput<(typeof SIGNALS)[Name]>

/** One call of a tool, as a line of the file. */
export type Signal = {
  readonly [Name in SignalName]: {
    readonly id: string
    readonly signal: Name
    readonly input: SignalInput<Name>
  }
}[SignalName]

/** The agent no longer waits for the reply to that call: its own limit was reached, or it was stopped. */
export interface Withdrawal {
  readonly id: string
  readonly signal: 'withdrawn'
}

/** ralph's reply to a call. */
export interface Reply {
  readonly id: string
  /** False for a refusal; then the text has the reason. */
  readonly ok: boolean
  readonly text: string
}

/** A resource that the server offers. */
export interface SignalResource {
  readonly uri: string
  readonly title: string
  /** Its text; null if it is a file of the workspace, which is read on request. */
  readonly text: string | null
  /** The path of that file; null if the text is here. */
  readonly file: string | null
}

const envelope = v.looseObject({
  id: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/)),
  token: v.string(),
  signal: v.picklist([...SIGNAL_NAMES, 'withdrawn']),
})

/** Parses a line of the file of the attempt with that token, or returns its problem. The line may be from anybody. */
export function readSignal(
  line: string,
  attempt: string,
): { readonly said: Signal | Withdrawal } | { readonly wrong: string; readonly id: string | null } {
  const head = v.safeParse(envelope, parsedJson(line))
  if (!head.success) return { wrong: 'it is no signal', id: null }
  const { id, token, signal } = head.output
  if (token !== attempt) return { wrong: 'it is of another attempt', id }
  if (signal === 'withdrawn') return { said: { id, signal } }
  const input = v.safeParse(SIGNALS[signal], head.output['input'])
  if (!input.success) return { wrong: input.issues.map(({ message }) => message).join('; '), id }
  // The parser has just checked that the input belongs to the name.
  return { said: { id, signal, input: input.output } as Signal }
}

/** Parses a reply; null if the line is none. */
export function readReply(line: string): Reply | null {
  const reply = v.safeParse(v.object({ id: v.string(), ok: v.boolean(), text: v.string() }), parsedJson(line))
  return reply.success ? reply.output : null
}

function isOneLine(text: string): boolean {
  return !/[\r\n\u2028\u2029]/.test(text)
}
