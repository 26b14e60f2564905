import { messageOf } from '../../base/errors.ts'
import { isObject, shortened } from '../../base/text.ts'
import * as v from 'valibot'
import { TIERS } from '../../backlog/model.ts'

/** The phases of a plan, in order. */
export const PHASES = ['research', 'decisions', 'requirements', 'tasks'] as const
export type Phase = (typeof PHASES)[number]

const text = v.pipe(v.string('a text'), v.regex(/\S/, 'a text that is not empty'))
const texts = v.array(text, 'a list of texts')
/** Optional values may also be null: some services require every key. */
const orNothing = <const Schema extends v.GenericSchema>(schema: Schema) => v.optional(v.nullable(schema))
const about = <const Schema extends v.GenericSchema>(description: string, schema: Schema) =>
  v.pipe(schema, v.description(description))

const object = <const Entries extends v.ObjectEntries>(entries: Entries) => v.object(entries, 'an object')
const listOf = <const Item extends v.GenericSchema>(what: string, item: Item) =>
  v.array(item, `a list of ${what}`)

const research = object({
  findings: listOf(
    'findings',
    object({
      topic: about('A few words.', text),
      finding: about('What it says, in Markdown.', text),
      source: about('A file with its line, or an address with the date on which it was read.', text),
    }),
  ),
  unknown: about('What could not be found out.', texts),
  small: about(
    'True where the wish is so small that it needs neither research nor decisions.',
    v.boolean('true or false'),
  ),
})

const decision = object({
  key: about('A short name of its own, such as `database`.', text),
  question: text,
  context: about('Why it has to be decided, in Markdown.', text),
  options: listOf(
    'options',
    object({ title: text, consequences: about('What follows from it, in Markdown.', text) }),
  ),
  recommended: about('Which option you recommend, counted from 0.', v.number('a whole number')),
  why: text,
})

const requirements = object({
  title: text,
  summary: text,
  sections: listOf(
    'sections',
    object({
      key: about('A short name of its own, such as `login`.', text),
      title: text,
      text: about('What is required, in Markdown.', text),
      criteria: about('What a test or a person can check, one sentence each.', texts),
    }),
  ),
})

const task = object({
  key: about('A short name of its own, such as `login-form`.', text),
  title: text,
  milestone: about('`N — Name`: `1 — Login`.', text),
  description: about('What to implement and why, in Markdown.', text),
  criteria: about('What a test or a person can check, one sentence each.', texts),
  touches: about('Files that it reads or changes, as they lie from the root.', texts),
  produces: about('Files that it makes, as they lie from the root.', texts),
  depends: about(
    'The keys of tasks that must be done before; ids such as T-004 for those that are there.',
    texts,
  ),
  requirements: about('The keys of the requirements that it fulfils.', texts),
  complexity: about(
    'How hard it is; detected where it is left out.',
    orNothing(v.picklist(TIERS, `one of ${TIERS.map((tier) => `"${tier}"`).join(', ')}`)),
  ),
  hints: about('Patterns to follow, helpers to reuse, pitfalls.', orNothing(texts)),
  discipline: about('A name of docs/disciplines.', orNothing(text)),
  feature: about('A name of docs/features.', orNothing(text)),
  tags: orNothing(texts),
})

/** The shape of each phase's answer. */
export const ANSWER_SCHEMAS = {
  research,
  decisions: object({ decisions: listOf('decisions', decision) }),
  requirements,
  tasks: object({ tasks: listOf('tasks', task) }),
} as const satisfies Record<Phase, v.GenericSchema>

/** An agent's answer in each phase. */
export type Answers = { readonly [phase in Phase]: v.InferOutput<(typeof ANSWER_SCHEMAS)[phase]> }
export type TaskAnswer = Answers['tasks']['tasks'][number]

/** A mistake in an answer: where it is, and what is expected. */
export interface Mistake {
  /** Written like code: `tasks[2].depends[0]`; empty for the whole answer. */
  readonly path: string
  readonly message: string
}

/** A mistake as one line. */
export function mistakeText({ path, message }: Mistake): string {
  return path === '' ? message : `${path}: ${message}`
}

/** Reads the answer of a phase from an agent's message, or returns its mistakes. */
export function readAnswer<P extends Phase>(
  phase: P,
  message: string,
): { readonly answer: Answers[P] } | { readonly mistakes: readonly Mistake[] } {
  const found = jsonIn(message)
  if ('mistake' in found) return { mistakes: [{ path: '', message: found.mistake }] }
  const result = v.safeParse<v.GenericSchema>(ANSWER_SCHEMAS[phase], found.value)
  // The schema of a phase guarantees its answer's type.
  if (result.success) return { answer: result.output as Answers[P] }
  return { mistakes: result.issues.map(mistakeOf) }
}

/** The last fenced JSON block, or the whole message if it is JSON. */
function jsonIn(message: string): { readonly value: unknown } | { readonly mistake: string } {
  const whole = message.trim()
  if (whole === '') return { mistake: 'there is no answer: end with one fenced json block' }
  const fenced = lastFence(whole)
  try {
    const value: unknown = JSON.parse(fenced ?? whole)
    return { value }
  } catch (error) {
    if (fenced === null) return { mistake: 'there is no JSON in the answer: end with one fenced json block' }
    return { mistake: `the json block cannot be read: ${messageOf(error)}` }
  }
}

/**
 * Inside a JSON text, a line that closes a fence can only occur as `\n`, never as a line. So the block is from the
 * last line that opens a JSON fence to the next that closes it.
 */
function lastFence(text: string): string | null {
  const lines = text.split(/\r\n|\r|\n/)
  const start = lines.findLastIndex((line) => /^ {0,3}(`{3,}|~{3,}) *json\b/i.test(line))
  if (start < 0) return null
  const marks = /(`{3,}|~{3,})/.exec(lines[start]!)![1]!
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => line.trim().startsWith(marks) && /^(`+|~+)$/.test(line.trim()))
  return rest.slice(0, end < 0 ? undefined : end).join('\n')
}

function mistakeOf({ path, input, message }: v.BaseIssue<unknown>): Mistake {
  const keys = (path ?? []).map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
  return {
    path: keys.join('').replace(/^\./, ''),
    message: input === undefined ? 'this is missing' : `expected ${message}, found ${shown(input)}`,
  }
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  return isObject(value) ? 'an object' : shortened(JSON.stringify(value), 60)
}
